"""Dual decomposition: maximise the dual over a working set of rows at a time.

Maximises   D(beta) / lam = sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' K beta    (see `box`)

    repeat  choose a working set W of q rows
            maximise over beta_W, the others fixed: `smo`
            update the responses F = K beta of all rows, with the rows of K whose beta changed

q = 2 with the second row chosen by the gain of its exact step is SMO [FCL05]. A large q is the
SVM-Light family [Joa98]: far fewer rounds, and kernel values that come from matrix products. The
first working set is a random sample; from then on it holds the rows with the largest violations,
those closest to one included, so it grows and shrinks with the support vectors; where values are
quick to compute, the sample is small (`working_set.starts_small`). Rows of K stay in the store: a
support vector's row is computed once. Only where a coefficient went to a bound, where most stay,
and rows are cheap to compute, the row is kept from its second move on; and where to compute a value
costs less than to keep it, no row is kept at all, if working sets are not small, so that few moves
are a row's second, and there is no other model to need it. `smo` is given the q x q block of K, or
all of K where the working set is all rows and K fits the store, and works on a part of it at a time
where that pays (`parts`).

Shrinking: rows at a bound that want to stay there are left out of the working set, and with q = 2
out of the search for a pair, until the others are done.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005.
[Joa98]  Joachims. Making large-scale support vector machine learning practical. 1998.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.options import Options
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_count, check_flag
from pegasos.solvers.kernel.box import box_of, caps, feasible
from pegasos.solvers.kernel.pairwise import improve_pairwise
from pegasos.solvers.kernel.parts import Parts
from pegasos.solvers.kernel.row_by_row import Owned, ascend_by_rows
from pegasos.solvers.kernel.smo import (
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    whole,
)
from pegasos.solvers.kernel.working_set import (
    LEAST_ROWS,
    Models,
    assess,
    finer,
    first_set,
    least_size,
    limits_of_size,
    new_wishes,
    next_size,
    pilot_size,
    rare_rows,
    working_set,
)
from pegasos.solvers.protocol import Advance, DualPoint

FIRST_ACCURACY = 0.1  # violation, in units of the margin, that the first inner solve leaves
FIRST_OF_ALL = 0.002  # and if it holds all rows: there is no larger working set to go on with
AHEAD = 0.1  # of the worst model's gap: models below wait for the others
STEPS_PER_ROW, LEAST_STEPS = 100, 100_000  # of one inner solve, at most
VALUES_PER_CALL = 100_000_000  # kernel values that one call of `smo` reads, at most


@dataclass
class DecompositionState:
    """A run: the models, the generator of its rounds, and the least curvature met.

    `has_moved` tells which rows' coefficients did, of any model.
    """

    models: Models
    random: Any
    has_moved: Any
    rounds: Iterator[Advance] | None = None
    least_curvature: float = field(default=float("inf"))

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, K): where a warm start goes on from."""
        return self.models.B

    def __getstate__(self) -> dict[str, Any]:
        """Leave the generator out: a copy starts its rounds anew from the same models."""
        return {**vars(self), "rounds": None}


@dataclass
class Decomposition(Options):
    """Dual decomposition with a working set; with two rows, SMO.

    Parameters
    ----------
    working_set : int or "auto", default="auto"
        Rows that are optimised together. "auto" starts from a random sample of a quarter of the
        rows (2,000 to 6,000; fewer where kernel values are quick to compute) and follows the
        violations, within the memory budget. 2 is SMO.
    shrinking : bool, default=True
        Leave rows that are stuck at a bound out of the search for a pair. Only SMO searches all
        rows; larger working sets leave such rows out anyway.
    """

    working_set: int | Literal["auto"] = "auto"
    shrinking: bool = True
    name: ClassVar[str] = "decomposition"
    is_dual: ClassVar[bool] = True
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        if not (isinstance(self.working_set, str) and self.working_set == "auto"):
            check_count(self, "working_set", ' to the number of rows, or "auto"')
        check_flag(self, "shrinking")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> DecompositionState:
        n, K = problem.costs.Y.shape
        B, F = np.zeros((n, K)), np.zeros((n, K))
        if previous is not None:
            B[:] = feasible(problem, previous.coefficients(problem))
            problem.rows.add_scores(B, F)
        models = Models(B, F, np.zeros(K), np.full(K, FIRST_ACCURACY), np.full(K, np.inf))
        return DecompositionState(models, np.random.default_rng(seed), np.zeros(n, dtype=np.bool_))

    def advance(self, problem: Problem, state: DecompositionState) -> Advance:
        if state.rounds is None:
            state.rounds = rounds(problem, state, self.working_set, self.shrinking)
        return next(state.rounds)

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: DecompositionState) -> DualPoint:
        point = dual_numbers(problem, state.models.B)
        if self.working_set == 2:  # SMO's responses lag behind its coefficients
            return point
        return point._replace(scores=state.models.F)


def dual_numbers(problem: Problem, B: FloatArray) -> DualPoint:
    """Return the dual numbers a_i = beta_i lam S / s_i of expansion coefficients."""
    weights = problem.costs.weights
    if not weights.mask:
        return DualPoint(B, problem.lam * problem.S / float(weights.values[0]))
    C = caps(problem)[:, None]
    return DualPoint(np.divide(B, C, out=np.zeros_like(B), where=C > 0.0), 1.0)


def rounds(
    problem: Problem, state: DecompositionState, q: Any, shrinks: bool
) -> Iterator[Advance]:
    """Go on for ever; every yield is a moment to look up, and tells whether a round has ended."""
    gram, models = problem.rows, state.models
    n, K = models.B.shape
    largest = n if n <= gram.capacity else gram.block_rows
    largest = largest if q == "auto" else min(int(q), largest)
    rare = rare_rows(problem)
    least = least_size(n, rare)
    W = first_set(n, min(pilot_size(problem, least), largest), rare, state.random)
    is_first, wishes, known, violation = not models.B.any(), new_wishes(n), -1, np.inf
    if is_first and len(W) == n and q == "auto":
        models.accuracy[:] = FIRST_OF_ALL
    while True:
        for k in range(K):
            if models.gap[k] < AHEAD * models.gap.max():
                continue  # well ahead of the others
            if not is_first:
                violation = violation if known == k else assess(problem, models, k, wishes)
                models.accuracy[k] = finer(problem, models, k, wishes, violation)
                few, most = limits_of_size(problem, (least, largest), models.B[:, k], len(W))
                size = largest if q != "auto" else next_size(wishes, few, most)
                W = working_set(wishes, size)
            known = -1  # the wishes change with every move
            if len(W) > gram.block_rows:  # all of K fits the store
                W = np.arange(n)
            if q == 2:
                yield from improve_pairwise(problem, state, k, shrinks)
            else:
                yield from improve(problem, state, k, W)
        for k in range(K):
            violation, known = assess(problem, models, k, wishes), k
        is_first = False
        yield Advance(n, True, float(models.gap.max()))


def improve(problem: Problem, state: DecompositionState, k: int, W: Any) -> Iterator[Advance]:
    """Maximise over the coefficients of rows W of model k; bring all responses up to date."""
    gram, models = problem.rows, state.models
    if len(W) == gram.n <= gram.capacity:
        for some in gram.batches(W) if gram.parts is None else []:
            gram.hold(some)
            yield Advance(0, False)
        K = Matrix(gram.store, gram.slot_of, gram.last_use, gram.clock, gram.diagonal)
    else:
        W = gram.kept_first(W)
        K = whole(gram.square_block(W, gram.spare(len(W))), gram.diagonal[W])
    before, box, active = models.B[W, k], box_of(problem, k, W), np.arange(len(W))
    ascent = new_ascent(before.copy(), problem.costs.Y[W, k] - models.F[W, k], box)
    ascent.r[:] -= box.ridge * before
    ascend = ascend_pairs if problem.is_free else ascend_singles
    most, allowed = max(1, VALUES_PER_CALL // len(W)), STEPS_PER_ROW * len(W) + LEAST_STEPS
    parts = Parts(ascend, K, ascent, box)
    while allowed > 0:
        length = min(most, allowed)
        if gram.parts is not None and K.values is gram.store:
            steps, least, gram.used = ascend_by_rows(
                K, gram.parts, Owned(gram.owner, gram.used), ascent, box, models.accuracy[k],
                length, problem.is_free,
            )
        elif parts.pays:
            steps, least = parts.go_on(models.accuracy[k], length)
            length = steps
        else:
            length = min(length, parts.pause)
            steps, _, least, _ = ascend(K, ascent, box, active, models.accuracy[k], length)
            parts.try_again()
        state.least_curvature = min(least, state.least_curvature)
        gram.clock += int(steps)
        allowed = allowed - steps if steps == length else 0
        yield Advance(0, False)
    del K, parts  # make room
    has_moved = ascent.beta != before
    rests = (ascent.beta <= box.low) | (ascent.beta >= box.high)
    passes = has_moved & rests & ~state.has_moved[W] & (gram.slot_of[W] < 0) & gram.is_cheap
    if gram.is_fleeting and len(W) >= LEAST_ROWS and models.B.shape[1] == 1:
        passes = has_moved & (gram.slot_of[W] < 0)
    state.has_moved[W] |= has_moved
    target = models.B[:, k].copy()
    target[W] = ascent.beta
    for rows, add in (
        (W[has_moved & ~passes], gram.add_held),
        (W[passes], gram.add_passing),
    ):  # fmt: skip
        for some in gram.batches(rows):
            add(some, (target[some] - models.B[some, k])[:, None], models.F[:, k : k + 1])
            models.B[some, k] = target[some]
            yield Advance(0, False)
