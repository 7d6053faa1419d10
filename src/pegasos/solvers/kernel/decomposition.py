"""Dual decomposition: maximise the dual over a working set of rows at a time.

Maximises   D(beta) / lam = sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' K beta    (see `box`)

    repeat  choose a working set W of q rows
            maximise over beta_W, the others fixed: `smo` on the q x q block of K in memory
            update the responses F = K beta of all rows, with the rows of K whose beta changed

q = 2 with the second row chosen by the gain of its exact step is SMO [FCL05]. A large q is the
SVM-Light family [Joa98]: far fewer rounds, and kernel values that come from matrix products. The
first working set is a random sample; from then on it holds the rows with the largest violations,
those closest to one included, so it grows and shrinks with the support vectors. Rows of K stay in
the store: a support vector's row is computed once.

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
from pegasos.dispatch import compiled
from pegasos.options import Options
from pegasos.parallel import ranges
from pegasos.problem.bias import best_bias
from pegasos.problem.losses import gain, gap_term, lower, upper
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.checks import check_count, check_flag
from pegasos.solvers.kernel.box import box_of, caps, prices
from pegasos.solvers.kernel.pairwise import improve_pairwise
from pegasos.solvers.kernel.smo import ascend_pairs, ascend_singles, new_ascent, whole
from pegasos.solvers.protocol import Advance, DualPoint

FIRST_ROWS = 4000  # in the first working set; all rows, if there are no more
LEAST_ROWS = 1000  # in any later one
FIRST_ACCURACY = 0.1  # violation, in units of the margin, that the first inner solve leaves
FINER = 0.3  # factor of the accuracy once the violations outside are of its size
FINEST = 1e-14
STEPS_PER_ROW, LEAST_STEPS = 100, 100_000  # of one inner solve, at most
VALUES_PER_CALL = 100_000_000  # kernel values that one call of `smo` reads, at most
KERNEL_VALUES = 16_000_000  # computed at a time, so that Ctrl-C is obeyed


@dataclass
class Models:
    """What is known of K models: coefficients, responses, biases, and accuracy asked of the next.

    B, F : ndarray of shape (n, K); b, accuracy, gap : ndarray of shape (K,).
    """

    B: FloatArray
    F: FloatArray
    b: FloatArray
    accuracy: FloatArray
    gap: FloatArray


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
            B[:] = previous.coefficients(problem)
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
    violations, rises = np.empty(n), np.empty(n, dtype=np.bool_)
    sizes = np.full(K, min(n, FIRST_ROWS, largest))
    is_warm = bool(models.B.any())
    sample = np.sort(state.random.choice(n, sizes[0], replace=False))
    for turn in range(10**9):
        for k in range(K):
            if turn == 0 and not is_warm:
                W = sample
            else:
                sizes[k] = assess(problem, models, k, (violations, rises), largest, q)
                W = working_set(violations, rises, sizes[k])
            if q == 2:
                for least in improve_pairwise(problem, models, k, shrinks):
                    state.least_curvature = min(state.least_curvature, least)
                    yield Advance(0, False)
            else:
                yield from improve(problem, state, k, W)
        worst = 0.0
        for k in range(K):
            assess(problem, models, k, (violations, rises), largest, q)
            worst = max(worst, models.gap[k])
        yield Advance(n, True, worst)


def improve(problem: Problem, state: DecompositionState, k: int, W: Any) -> Iterator[Advance]:
    """Maximise over the coefficients of rows W of model k; bring all responses up to date."""
    gram, models = problem.rows, state.models
    if len(W) == gram.n <= gram.capacity:
        for first, stop in ranges(gram.n, max(1, KERNEL_VALUES // gram.n)):
            gram.hold(np.arange(first, stop))
            yield Advance(0, False)
        block = gram.all_rows()
    else:
        block = gram.square_block(W)
    yield Advance(0, False)
    before, box = models.B[W, k], box_of(problem, k, W)
    ascent = new_ascent(before.copy(), problem.costs.Y[W, k] - models.F[W, k], box)
    ascent.r[:] -= box.ridge * before
    ascend = ascend_pairs if problem.is_free else ascend_singles
    K, rows = whole(block, gram.diagonal[W]), np.arange(len(W))
    length = max(1, VALUES_PER_CALL // len(W))
    steps, allowed, least = length, STEPS_PER_ROW * len(W) + LEAST_STEPS, state.least_curvature
    while steps == length and allowed > 0:
        steps, _, met, _ = ascend(K, ascent, box, rows, models.accuracy[k], length)
        least, allowed = min(least, met), allowed - steps
        yield Advance(0, False)
    state.least_curvature = least
    moves = ascent.beta - before
    moved = np.flatnonzero(moves)
    for first, stop in ranges(len(moved), max(1, min(gram.capacity, KERNEL_VALUES // gram.n))):
        some = moved[first:stop]
        slots = gram.hold(W[some])
        gram.add_kept(slots, moves[some, None], models.F[:, k : k + 1])
        models.B[W[some], k] = ascent.beta[some]
        yield Advance(0, False)


def assess(
    problem: Problem, models: Models, k: int, out: tuple[Any, Any], largest: int, q: Any
) -> int:
    """Write how much each row violates optimality, and which way; return the next size of W.

    Sets the bias, the relative gap as the responses tell it and the accuracy of the next solve.
    """
    violations, _ = out
    accuracy, n = models.accuracy[k], len(violations)
    if problem.is_free:
        models.b[k] = best_bias(problem, models.F, k, float(models.b[k]), 1e-16)
    counts = np.zeros(2, dtype=np.int64)
    gap, dual = write_violations(
        problem.costs, models.B[:, k], models.F[:, k], k, models.b[k], prices(problem), out, counts,
    )
    dual -= 0.5 * problem.lam * problem.S * float(models.B[:, k] @ models.F[:, k])
    models.gap[k] = gap / dual if dual > 0.0 else np.inf
    free, violating = int(counts[0]), int(np.count_nonzero(violations > accuracy))
    if violations.max() < 3.0 * accuracy or violating < 0.2 * free:
        models.accuracy[k] = max(FINEST, FINER * accuracy)
    if q != "auto":
        return min(n, largest)
    return int(min(n, largest, max(LEAST_ROWS, 1.2 * free + counts[1])))


def working_set(violations: FloatArray, rises: Any, size: int) -> Any:
    """Return the rows with the largest violations, in order of the rows.

    A quarter at least want to rise and a quarter to fall, as far as there are so many: under the
    constraint sum_i beta_i = 0 neither kind can move without the other.
    """
    n, least = len(violations), max(1, size // 4)
    if size >= n:
        return np.arange(n)
    parts = [largest_of(violations, size)]
    for kind in (rises, ~rises):
        if np.count_nonzero(kind[parts[0]]) < least:
            some = np.flatnonzero(kind)
            parts.append(some[largest_of(violations[some], min(least, len(some)))])
    return np.unique(np.concatenate(parts))


def largest_of(values: FloatArray, count: int) -> Any:
    """Return the places of the largest values."""
    n = len(values)
    if count >= n:
        return np.arange(n)
    least = np.partition(values, n - count)[n - count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])


@compiled
def write_violations(costs, B, F, k, b, prices, out, counts):  # type: ignore[no-untyped-def]
    """Write how much moving beta_i pays per unit, and whether up; return the gap and gain sums.

    Counts the rows strictly between bounds, and those that violate.
    """
    loss, (epsilon, ridge, inverse) = costs.loss, prices
    violations, rises = out
    gap, dual, free, violating = 0.0, 0.0, 0, 0
    for i in range(len(violations)):
        violations[i], rises[i] = -np.inf, False
        s = weight(costs.weights, i)
        if s > 0.0:
            y, C, z = costs.Y[i, k], s * inverse, F[i] + b
            a = B[i] / C
            r = y - z - ridge * a
            is_low, is_high = B[i] <= C * lower(loss, y), B[i] >= C * upper(loss, y)
            up = -np.inf if is_high else r - (epsilon if a >= 0.0 else -epsilon)
            down = np.inf if is_low else r - (epsilon if a > 0.0 else -epsilon)
            violations[i], rises[i] = max(up, -down), up >= -down
            free += not (is_low or is_high or (epsilon > 0.0 and a == 0.0))
            violating += violations[i] > 0.0
            gap += s * gap_term(loss, z, a, y)
            dual += s * gain(loss, a, y)
    counts[0], counts[1] = free, violating
    return gap, dual
