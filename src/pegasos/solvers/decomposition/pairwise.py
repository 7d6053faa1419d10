"""SMO over all rows: working sets of two, rows of the kernel matrix fetched as they are needed.

Every SHRINK_EVERY steps rows that are stuck at a bound are left out (`smo.shrink`); when the others
are done, the residuals of those left out are brought up to date and all are looked at again.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.decomposition.box import box_of
from pegasos.solvers.decomposition.smo import (
    Ascent,
    Box,
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    shrink,
)
from pegasos.solvers.decomposition.working_set import Models

SHRINK_EVERY = 1000  # steps, as in libsvm
STEPS_PER_ROW, LEAST_STEPS = 1000, 1_000_000  # of one round, at most


@dataclass
class PairSolve:
    """SMO on model k; `settled` are the coefficients that its responses F are of."""

    k: int
    box: Box
    ascent: Ascent
    settled: FloatArray
    active: Any
    allowed: int  # steps
    since: int = SHRINK_EVERY  # steps to the next look at which rows are stuck


def new_pair_solve(problem: Problem, models: Models, k: int) -> PairSolve:
    """Begin to bring model k to its accuracy."""
    n, box = len(problem.costs.Y), box_of(problem, k)
    ascent = new_ascent(models.B[:, k].copy(), problem.costs.Y[:, k] - models.F[:, k], box)
    ascent.r[:] -= box.ridge * ascent.beta
    allowed = STEPS_PER_ROW * n + LEAST_STEPS
    return PairSolve(k, box, ascent, ascent.beta.copy(), np.arange(n), allowed)


def go_on_pairwise(
    problem: Problem, state: Any, solve: PairSolve, shrinks: bool, most: int = LEAST_STEPS
) -> bool:
    """Take steps up to one that needs a row of the kernel matrix; tell whether there are more."""
    gram, models, n = problem.rows, state.models, len(problem.costs.Y)
    k, box, ascent, active = solve.k, solve.box, solve.ascent, solve.active
    ascend, rows_of_step = (ascend_pairs, 2) if problem.is_free else (ascend_singles, 1)
    K = Matrix(gram.store, gram.slot_of, gram.last_use, gram.clock, gram.diagonal)
    limit = min(solve.since, most)
    steps, _, least, missing = ascend(K, ascent, box, active, models.accuracy[k], limit)
    gram.kept.clock += int(steps)
    gram.hits += rows_of_step * int(steps)
    state.pair_rows += rows_of_step * int(steps)
    models.B[:, k] = ascent.beta  # whoever ends the run now has them
    solve.since, solve.allowed = solve.since - int(steps), solve.allowed - int(steps)
    state.least_curvature = min(state.least_curvature, float(least))
    is_over = False
    if missing >= 0:
        gram.hold(np.array([missing]))
        gram.hits -= 1
    elif solve.since == 0:
        solve.since = SHRINK_EVERY
        if shrinks:
            kept = np.empty_like(active)
            solve.active = kept[: shrink(ascent, active, problem.is_free, kept)]
    elif int(steps) == most:
        pass  # not the end: no more were allowed
    elif len(active) < n:
        catch_up(problem, models, k, ascent, box, solve.settled)
        solve.active = np.arange(n)
    else:
        is_over = True
    if is_over or solve.allowed <= 0:
        catch_up(problem, models, k, ascent, box, solve.settled)
        return False
    return True


def catch_up(
    problem: Problem, models: Any, k: int, ascent: Ascent, box: Box, settled: FloatArray
) -> None:
    """Bring the responses and residuals of all rows up to date with the coefficients."""
    gram = problem.rows
    moves: FloatArray = ascent.beta - settled
    for some in gram.batches(np.flatnonzero(moves)):
        gram.add_held(some, moves[some, None], models.F[:, k : k + 1])
    settled[:] = ascent.beta
    ascent.r[:] = problem.costs.Y[:, k] - models.F[:, k] - box.ridge * ascent.beta
