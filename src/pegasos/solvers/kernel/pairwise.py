"""SMO over all rows: working sets of two, rows of the kernel matrix fetched as they are needed.

Every SHRINK_EVERY steps rows that are stuck at a bound are left out (`smo.shrink`); when the others
are done, the residuals of those left out are brought up to date and all are looked at again.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.kernel.box import box_of
from pegasos.solvers.kernel.smo import (
    Ascent,
    Box,
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    shrink,
)
from pegasos.solvers.protocol import Advance

SHRINK_EVERY = 1000  # steps, as in libsvm
STEPS_PER_ROW, LEAST_STEPS = 1000, 1_000_000  # of one round, at most


def improve_pairwise(problem: Problem, state: Any, k: int, shrinks: bool) -> Iterator[Advance]:
    """Bring model k to its accuracy."""
    gram, models, n = problem.rows, state.models, len(problem.costs.Y)
    box, y = box_of(problem, k), problem.costs.Y[:, k]
    ascent = new_ascent(models.B[:, k].copy(), y - models.F[:, k], box)
    ascent.r[:] -= box.ridge * ascent.beta
    settled = ascent.beta.copy()  # what the responses F are of
    ascend, rows_of_step = (ascend_pairs, 2) if problem.is_free else (ascend_singles, 1)
    everything = np.arange(n)
    active, since = everything, SHRINK_EVERY
    allowed = STEPS_PER_ROW * n + LEAST_STEPS
    while True:
        K = Matrix(gram.store, gram.slot_of, gram.last_use, gram.clock, gram.diagonal)
        steps, violation, least, missing = ascend(
            K, ascent, box, active, models.accuracy[k], since
        )  # fmt: skip
        gram.clock += int(steps)
        gram.hits += rows_of_step * int(steps)
        models.B[:, k] = ascent.beta  # whoever ends the run now has them
        since, allowed = since - int(steps), allowed - int(steps)
        if missing >= 0:
            gram.hold(np.array([missing]))
            gram.hits -= 1
        elif since == 0:
            since = SHRINK_EVERY
            if shrinks:
                kept = np.empty_like(active)
                active = kept[: shrink(ascent, active, problem.is_free, kept)]
        elif len(active) < n:
            catch_up(problem, models, k, ascent, box, settled)
            active = everything
        else:
            break
        if allowed <= 0:
            break
        state.least_curvature = min(state.least_curvature, least)
        yield Advance(0, False)
    catch_up(problem, models, k, ascent, box, settled)


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
