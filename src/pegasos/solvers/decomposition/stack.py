"""Decomposition of many small problems at once: SMO on each, one after the other, in one loop.

Every working set holds all rows of its problem, and all of its kernel matrix is there
(`kernel_matrix.stack`): what is left of the general algorithm is the inner solve.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005. Algorithm 1: see `smo`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.objective import Problem
from pegasos.solvers.decomposition.box import box_of
from pegasos.solvers.decomposition.decomposition import dual_numbers
from pegasos.solvers.decomposition.smo import (
    Ascent,
    Box,
    Matrix,
    ascend_pairs,
    ascend_singles,
    set_prices,
)
from pegasos.solvers.protocol import DualPoint

STEPS_PER_ROW = 100  # of one ascent, at most


class Ascents(NamedTuple):
    """The box and the state of every problem, (K, n); `beta` and `r` as in `smo.Ascent`."""

    box: Box
    ascent: Ascent
    diagonal: FloatArray


def new_ascents(problem: Problem) -> Ascents:
    """Return ascents from 0."""
    box = box_of(problem, slice(None))  # type: ignore[arg-type]
    low, high, ridge = (np.ascontiguousarray(of.T) for of in (box.low, box.high, box.ridge))
    r = problem.costs.Y.T.copy()
    ascent = Ascent(np.zeros_like(r), r, np.empty_like(r), np.empty_like(r))
    diagonal = np.ascontiguousarray(problem.rows.diagonal.T)
    return Ascents(Box(low, high, box.epsilon, ridge), ascent, diagonal)


def ascend(problem: Problem, ascents: Ascents, which: Any, accuracy: float) -> None:
    """Ascend on some of the problems, until no pair promises more than `accuracy`."""
    most = STEPS_PER_ROW * problem.rows.shape[0]
    ascend_each(problem.rows.values, ascents, which, accuracy, most, problem.is_free)


def dual_point(problem: Problem, ascents: Ascents) -> DualPoint:
    """Return the dual numbers of all problems."""
    return dual_numbers(problem, np.ascontiguousarray(ascents.ascent.beta.T))


@compiled
def ascend_each(values, ascents, which, accuracy, most, is_free):  # type: ignore[no-untyped-def]
    """Ascend on the problems `which`, by at most so many steps each."""
    box, of, diagonal = ascents
    n = values.shape[1]
    active, places = np.arange(n), np.arange(n, dtype=np.int32)
    last_use = np.zeros(n, dtype=np.int64)
    for k in which:
        K = Matrix(values[k], places, last_use, 0, diagonal[k])
        own = Box(box.low[k], box.high[k], box.epsilon, box.ridge[k])
        ascent = Ascent(of.beta[k], of.r[k], of.up[k], of.down[k])
        set_prices(ascent, own)
        if is_free:
            ascend_pairs(K, ascent, own, active, accuracy, most)
        else:
            ascend_singles(K, ascent, own, active, accuracy, most)
