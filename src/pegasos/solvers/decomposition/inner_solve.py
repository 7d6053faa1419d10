"""One inner solve of a decomposition: over the working set W of a model, a portion at a time.

Its phases, and the field that says that there is more to do:

    to_fetch  bring rows of K into the store, if W is all rows and all of K fits
    allowed   maximise over beta_W, the others fixed: `smo`, on `parts` of W where that pays
    to_add    update the responses F = K beta of all rows, with the rows of K whose beta changed
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.objective import Problem
from pegasos.solvers.decomposition import parts
from pegasos.solvers.decomposition.box import box_of
from pegasos.solvers.decomposition.row_by_row import Owned, ascend_by_rows
from pegasos.solvers.decomposition.smo import (
    Ascent,
    Box,
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    whole,
)
from pegasos.solvers.decomposition.working_set import LEAST_ROWS, Models

STEPS_PER_ROW, LEAST_STEPS = 100, 100_000  # of one inner solve, at most
VALUES_PER_CALL = 100_000_000  # kernel values that one call of `smo` reads, at most


@dataclass
class InnerSolve:
    """Model k over the rows W.

    `to_fetch` and `to_add` are batches of rows that are still to be brought into the store, and to
    be added to the responses: kept or in passing. `block` is K[W, W], which is not saved: the same
    rows in the store, and the same W, give the same bits again.
    """

    k: int
    W: Any
    to_fetch: list[Any]
    before: FloatArray
    box: Box
    ascent: Ascent
    allowed: int  # steps
    part: Any  # the last one of `parts`,
    pays: bool  # and whether there is to be another,
    pause: int = parts.ROWS  # or, first, so many steps on all rows
    has_block: bool = False
    to_add: list[tuple[Any, bool]] = field(default_factory=list)
    target: FloatArray = field(default_factory=lambda: np.zeros(0))  # (n,): beta to be responded to
    block: Matrix | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kernel values out."""
        return {**vars(self), "block": None}

    def is_of_all(self, gram: Gram) -> bool:
        """Whether it works on all of K, in the store."""
        return len(self.W) == gram.n <= gram.capacity

    def matrix(self, gram: Gram) -> Matrix:
        """Return K[W, W]."""
        if self.is_of_all(gram):
            return Matrix(gram.store, gram.slot_of, gram.last_use, gram.clock, gram.diagonal)
        if self.block is None:
            counted = gram.evaluations
            values = gram.square_block(self.W, gram.spare(len(self.W)))
            self.block = whole(values, gram.diagonal[self.W])
            if self.has_block:  # it was counted before the run was saved
                gram.evaluations = counted
            self.has_block = True
        return self.block


def new_solve(problem: Problem, models: Models, k: int, W: Any) -> InnerSolve:
    """Begin to maximise over the coefficients of rows W of model k."""
    gram: Gram = problem.rows
    batches: list[Any] = []
    if len(W) == gram.n <= gram.capacity:
        batches = gram.batches(W) if gram.parts is None else []
    else:
        W = gram.kept_first(W)
    before, box = models.B[W, k], box_of(problem, k, W)
    ascent = new_ascent(before.copy(), problem.costs.Y[W, k] - models.F[W, k], box)
    ascent.r[:] -= box.ridge * before
    return InnerSolve(
        k, W, [some.copy() for some in batches], before, box, ascent,
        STEPS_PER_ROW * len(W) + LEAST_STEPS, W[:0].copy(), parts.has_parts(len(W)),
    )  # fmt: skip


def ascend(problem: Problem, solve: InnerSolve, accuracy: float) -> float:
    """Take steps for a fraction of a second; return the least curvature met."""
    gram, ascent, box = problem.rows, solve.ascent, solve.box
    K, ascend = solve.matrix(gram), ascend_pairs if problem.is_free else ascend_singles
    length = min(max(1, VALUES_PER_CALL // len(solve.W)), solve.allowed)
    if gram.parts is not None and K.values is gram.store:
        steps, least, gram.kept.used = ascend_by_rows(
            K, gram.parts, Owned(gram.kept.owner, gram.kept.used), ascent, box, accuracy, length,
            problem.is_free,
        )  # fmt: skip
    elif solve.pays:
        some = parts.Parts(ascend, K, ascent, box)
        some.last, some.pause = solve.part, solve.pause
        steps, least = some.go_on(accuracy, length)
        length, solve.part, solve.pays, solve.pause = steps, some.last, some.pays, some.pause
    else:
        active = np.arange(len(solve.W))
        if parts.has_parts(len(solve.W)):
            length, solve.pays = min(length, solve.pause), True  # and then another part
        steps, _, least, _ = ascend(K, ascent, box, active, accuracy, length)
    gram.kept.clock += int(steps)
    solve.allowed = solve.allowed - int(steps) if steps == length else 0
    return float(least)


def plan_responses(problem: Problem, models: Models, solve: InnerSolve, has_moved: Any) -> None:
    """Decide which rows of K the responses need, and which of them are to be kept."""
    gram, W, beta = problem.rows, solve.W, solve.ascent.beta
    solve.block = None  # make room
    moves = beta != solve.before
    rests = (beta <= solve.box.low) | (beta >= solve.box.high)
    passes = moves & rests & ~has_moved[W] & (gram.slot_of[W] < 0) & gram.is_cheap
    if gram.is_fleeting and len(W) >= LEAST_ROWS and models.B.shape[1] == 1:
        passes = moves & (gram.slot_of[W] < 0)
    has_moved[W] |= moves
    solve.target = models.B[:, solve.k].copy()
    solve.target[W] = beta
    for rows, in_passing in ((W[moves & ~passes], False), (W[passes], True)):
        solve.to_add += [(some.copy(), in_passing) for some in gram.batches(rows)]


def respond(problem: Problem, models: Models, solve: InnerSolve) -> None:
    """Bring the responses up to date with the next batch of rows."""
    (some, in_passing), k = solve.to_add.pop(0), solve.k
    add = problem.rows.add_passing if in_passing else problem.rows.add_held
    add(some, (solve.target[some] - models.B[some, k])[:, None], models.F[:, k : k + 1])
    models.B[some, k] = solve.target[some]
