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
         vector machines. JMLR 6, 2005. Algorithm 1: see `smo`.
[Joa98]  Joachims. Making large-scale support vector machine learning practical. 1998. The general
         decomposition algorithm; shrinking. Differs: the working set is thousands of rows, solved
         by SMO; a run ends by its duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.order import Draws
from pegasos.data.rows import FloatArray
from pegasos.options import Options
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_count, check_flag
from pegasos.solvers.decomposition.box import caps, feasible
from pegasos.solvers.decomposition.inner_solve import (
    InnerSolve,
    ascend,
    new_solve,
    plan_responses,
    respond,
)
from pegasos.solvers.decomposition.pairwise import (
    LEAST_STEPS,
    PairSolve,
    go_on_pairwise,
    new_pair_solve,
)
from pegasos.solvers.decomposition.working_set import (
    Models,
    Wishes,
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
from pegasos.solvers.protocol import Advance, DualPoint, Solver

FIRST_ACCURACY = 0.1  # violation, in units of the margin, that the first inner solve leaves
FIRST_OF_ALL = 0.002  # and if it holds all rows: there is no larger working set to go on with
AHEAD = 0.1  # of the worst model's gap: models below wait for the others


@dataclass
class DecompositionState:
    """A run: the models, where its round stands, and the least curvature met.

    `has_moved` tells which rows' coefficients did, of any model. `wishes` are those of model
    `known`, if that is not -1, with the `violation` that `assess` returned.
    """

    models: Models
    has_moved: Any
    first_set: Any  # the working set of the first round
    wishes: Wishes
    k: int = 0  # the model whose turn it is
    solve: InnerSolve | PairSolve | None = None  # its solve, once a working set is chosen
    size: int = 0  # of the last working set
    is_first: bool = True
    known: int = -1
    violation: float = float("inf")
    least_curvature: float = float("inf")
    pair_rows: int = 0  # rows of the kernel matrix that steps of SMO used

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, models): where a warm start goes on from."""
        return self.models.B


@dataclass
class Decomposition(Options, Solver):
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
        n, count = problem.costs.Y.shape
        B, F = np.zeros((n, count)), np.zeros((n, count))
        if previous is not None:
            B[:] = feasible(problem, previous.coefficients(problem))
            problem.rows.add_scores(B, F)
        accuracy, gap = np.full(count, FIRST_ACCURACY), np.full(count, np.inf)
        models = Models(B, F, np.zeros(count), accuracy, gap)
        least, largest = self.sizes(problem)
        W = first_set(n, min(pilot_size(problem, least), largest), rare_rows(problem), Draws(seed))
        is_first = not B.any()
        if is_first and len(W) == n and self.working_set == "auto":
            models.accuracy[:] = FIRST_OF_ALL
        has_moved = np.zeros(n, dtype=np.bool_)
        return DecompositionState(models, has_moved, W, new_wishes(n), is_first=is_first)

    def sizes(self, problem: Problem) -> tuple[int, int]:
        """Return the least and the largest size of a working set."""
        gram, q = problem.rows, self.working_set
        largest = gram.n if gram.n <= gram.capacity else gram.block_rows
        least = least_size(gram.n, rare_rows(problem))
        return least, largest if q == "auto" else min(int(q), largest)

    def advance(self, problem: Problem, state: DecompositionState) -> Advance:
        return self.advance_by(problem, state, LEAST_STEPS)

    def advance_by(self, problem: Problem, state: DecompositionState, most: int) -> Advance:
        """Go on with the round, by a portion of an inner solve; SMO by at most so many steps."""
        gram, models = problem.rows, state.models
        while state.k < len(models.gap):
            k, solve = state.k, state.solve
            if solve is None and models.gap[k] < AHEAD * models.gap.max():
                state.k += 1  # well ahead of the others
            elif solve is None:
                state.solve = self.choose(problem, state)      # [Joa98] select q variables
            elif isinstance(solve, PairSolve):                 # [FCL05] q = 2: SMO
                allowed = solve.allowed
                is_over = not go_on_pairwise(problem, state, solve, self.shrinking, most)
                if is_over:
                    state.solve, state.k = None, k + 1
                return Advance(0, False, steps=allowed - solve.allowed)
            elif solve.to_fetch:
                gram.hold(solve.to_fetch.pop(0))
                return Advance(0, False)
            elif solve.allowed > 0:                            # [Joa98] solve the sub-problem
                least = ascend(problem, solve, models.accuracy[k])
                state.least_curvature = min(least, state.least_curvature)
                if solve.allowed == 0:
                    plan_responses(problem, models, solve, state.has_moved)
                return Advance(0, False)
            elif solve.to_add:                                 # update the gradient, by F = K beta
                respond(problem, models, solve)
                return Advance(0, False)
            else:
                state.solve, state.k = None, k + 1
        step = end_of_round(problem, state)
        return step._replace(steps=0) if self.working_set == 2 else step

    def choose(self, problem: Problem, state: DecompositionState) -> InnerSolve | PairSolve:
        """Choose the rows that model k works on, and how exactly."""
        gram, models, k, W = problem.rows, state.models, state.k, state.first_set
        if not state.is_first:
            if state.known != k:
                state.violation = assess(problem, models, k, state.wishes)
            models.accuracy[k] = finer(problem, models, k, state.wishes, state.violation)
            least, largest = self.sizes(problem)
            few, most = limits_of_size(problem, (least, largest), models.B[:, k], state.size)
            is_auto = self.working_set == "auto"
            size = next_size(state.wishes, few, most) if is_auto else largest
            W = working_set(state.wishes, size)
        state.known = -1  # the wishes change with every move
        if self.working_set == 2:
            return new_pair_solve(problem, models, k)
        if len(W) > gram.block_rows:  # all of K fits the store
            W = np.arange(gram.n)
        state.size = len(W)
        return new_solve(problem, models, k, W)

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: DecompositionState) -> DualPoint:
        point = dual_numbers(problem, state.models.B)
        if self.working_set == 2:  # SMO's responses lag behind its coefficients
            return point
        return point._replace(scores=state.models.F)

    def kernel_rows(self, state: DecompositionState) -> int | None:
        """Return the rows that steps of SMO used; larger working sets use them in blocks."""
        return state.pair_rows if self.working_set == 2 else None


def dual_numbers(problem: Problem, B: FloatArray) -> DualPoint:
    """Return the dual numbers a_i = beta_i lam S / s_i of expansion coefficients."""
    weights = problem.costs.weights
    if not weights.mask:
        return DualPoint(B, problem.lam * problem.S / float(weights.values[0]))
    C = caps(problem).reshape(len(B), -1)
    return DualPoint(np.divide(B, C, out=np.zeros_like(B), where=C > 0.0), 1.0)


def end_of_round(problem: Problem, state: DecompositionState) -> Advance:
    """See what the round has achieved."""
    models, count = state.models, len(state.models.gap)
    for k in range(count):                                     # [Joa98] is optimality violated?
        state.violation = assess(problem, models, k, state.wishes)
    state.known, state.is_first, state.k = count - 1, False, 0
    return Advance(problem.rows.n, True, float(models.gap.max()))
