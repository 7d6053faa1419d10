"""Dual decomposition: maximise the dual over a working set of rows at a time.

Maximises   D(beta) / lam = sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' K beta    (see `box`)

    repeat  choose a working set W of q rows
            maximise over beta_W, the others fixed: `smo`
            update the responses F = K beta of all rows, with the rows of K whose beta changed

q = 2 with the second row chosen by the gain of its exact step is SMO [FCL05]. A large q is the
SVM-Light family [Joa98]: far fewer rounds, and kernel values that come from matrix products. The
first working set is a random sample; from then on it holds the rows with the largest violations,
those closest to one included, so it grows and shrinks with the support vectors. Rows of K stay in
the store: a support vector's row is computed once. `smo` is given the q x q block of K; but if that
would be a good part of all of K, it reads the rows in the store and asks for those it lacks, which
are brought in together with the next most likely to move.

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
from pegasos.parallel import ranges
from pegasos.problem.gram import Gram
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_count, check_flag
from pegasos.solvers.kernel.box import box_of, caps, feasible
from pegasos.solvers.kernel.pairwise import improve_pairwise
from pegasos.solvers.kernel.smo import (
    Ascent,
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    whole,
)
from pegasos.solvers.kernel.working_set import (
    Models,
    assess,
    finer,
    largest_of,
    new_wishes,
    next_size,
    working_set,
)
from pegasos.solvers.protocol import Advance, DualPoint

FIRST_ROWS = 4000  # in the first working set; all rows, if there are no more
FIRST_ACCURACY = 0.1  # violation, in units of the margin, that the first inner solve leaves
AHEAD = 0.1  # of the worst model's gap: models below wait for the others
STEPS_PER_ROW, LEAST_STEPS = 100, 100_000  # of one inner solve, at most
VALUES_PER_CALL = 100_000_000  # kernel values that one call of `smo` reads, at most
ROWS_AHEAD = 256  # brought in together with one that is needed
MANY = 0.25  # of all rows: if so many are new to a working set, most of them stay in it
KERNEL_VALUES = 16_000_000  # computed at a time, so that Ctrl-C is obeyed


@dataclass
class DecompositionState:
    """A run: the models, the generator of its rounds, and the least curvature met."""

    models: Models
    random: Any
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
        Rows that are optimised together. "auto" starts from a random sample of 4,000 and follows
        the violations, within the memory budget; all rows at once if there are no more. 2 is SMO.
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
        return DecompositionState(models, np.random.default_rng(seed))

    def advance(self, problem: Problem, state: DecompositionState) -> Advance:
        if state.rounds is None:
            state.rounds = rounds(problem, state, self.working_set, self.shrinking)
        return next(state.rounds)

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: DecompositionState) -> DualPoint:
        return dual_numbers(problem, state.models.B)


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
    largest = n if n <= min(FIRST_ROWS, gram.capacity) else gram.block_rows
    largest = largest if q == "auto" else min(int(q), largest)
    W = np.sort(state.random.choice(n, min(n, FIRST_ROWS, largest), replace=False))
    is_first, wishes = not models.B.any(), new_wishes(n)
    while True:
        for k in range(K):
            if models.gap[k] < AHEAD * models.gap.max():
                continue  # well ahead of the others
            if not is_first:
                assess(problem, models, k, wishes)
                models.accuracy[k] = finer(models.accuracy[k], wishes)
                W = working_set(wishes, largest if q != "auto" else next_size(wishes, largest))
            if q == 2:
                yield from improve_pairwise(problem, state, k, shrinks)
            else:
                yield from improve(problem, state, k, W)
        for k in range(K):
            assess(problem, models, k, wishes)
        is_first = False
        yield Advance(n, True, float(models.gap.max()))


def improve(problem: Problem, state: DecompositionState, k: int, W: Any) -> Iterator[Advance]:
    """Maximise over the coefficients of rows W of model k; bring all responses up to date."""
    gram, models = problem.rows, state.models
    new = np.count_nonzero(gram.slot_of[W] < 0)
    is_whole = len(W) == gram.n or (gram.used > 0 and new >= MANY * gram.n)
    reads_store = is_whole and gram.capacity - gram.used >= new
    block = None if reads_store else gram.square_block(W)
    before, box, active = models.B[W, k], box_of(problem, k, W), np.arange(len(W))
    ascent = new_ascent(before.copy(), problem.costs.Y[W, k] - models.F[W, k], box)
    ascent.r[:] -= box.ridge * before
    ascend = ascend_pairs if problem.is_free else ascend_singles
    length, allowed = max(1, VALUES_PER_CALL // len(W)), STEPS_PER_ROW * len(W) + LEAST_STEPS
    while True:
        K = matrix_of(gram, W) if block is None else whole(block, gram.diagonal[W])
        steps, _, least, missing = ascend(K, ascent, box, active, models.accuracy[k], length)
        state.least_curvature = min(least, state.least_curvature)
        gram.clock, allowed = gram.clock + int(steps), allowed - steps
        if missing >= 0:
            gram.hold(W[likely_rows(gram, W, ascent, missing)])
        elif steps < length or allowed <= 0:
            break
        yield Advance(0, False)
    moves = ascent.beta - before
    moved = np.flatnonzero(moves)
    for first, stop in ranges(len(moved), max(1, min(gram.capacity, KERNEL_VALUES // gram.n))):
        some = moved[first:stop]
        slots = gram.hold(W[some])
        gram.add_kept(slots, moves[some, None], models.F[:, k : k + 1])
        models.B[W[some], k] = ascent.beta[some]
        yield Advance(0, False)


def matrix_of(gram: Gram, W: Any) -> Matrix:
    """Return the rows of the store as the kernel matrix of rows W."""
    slots, columns = gram.slot_of[W], W.astype(np.int32)
    return Matrix(gram.store, slots, gram.last_use, gram.clock, gram.diagonal[W], columns)


def likely_rows(gram: Gram, W: Any, ascent: Ascent, missing: int) -> Any:
    """Return the missing row and those, absent too, that are the next most likely to move."""
    most = int(max(1, min(ROWS_AHEAD, KERNEL_VALUES // gram.n)))
    absent = np.flatnonzero(gram.slot_of[W] < 0)
    top, bottom = (ascent.r + ascent.up).max(), (ascent.r + ascent.down).min()
    centre = 0.5 * (top + bottom) if np.isfinite(top + bottom) else 0.0  # none can fall, or rise
    wish = np.maximum(ascent.r + ascent.up - centre, centre - ascent.r - ascent.down)[absent]
    return np.union1d(absent[largest_of(wish, most)], [missing])
