"""Where wide data begin: at a larger lam, from which a path of a few leads to the one asked for.

A tenth of the rows is no beginning where rows are few per column: it is fitted almost without
error, by weights that all rows have to take back. At a large lam no weights are that large, and
few steps lead near to the optimum. As they need not be exact, some rows stand for all that answer
in the Hessian of these steps; gradients and line searches are of all rows. A model of one output
goes on to the last lam once it knows some multipliers, while smoothing is wide: where it is narrow,
columns that few rows have make short steps.

lam means more the larger the rows and the targets are: what counts is kappa = R^2 / (lam S unit), R
the typical length of a row seen from the mean.
"""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import FloatArray, shape
from pegasos.problem.joint_losses import is_joint
from pegasos.problem.losses import Logistic, SquaredHinge
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import CONSTANT, Columns
from pegasos.solvers.newton.joint_hessian import answering

WIDE = 256  # columns from which Hessians are what takes long,
MANY = 50  # with so many rows per column; fewer can often be separated, at any lam in another way
KAPPA = 10.0  # at the first lam
FALL, LAST_FALL = 100.0, 1000.0  # factors between one lam and the next, and before the last
ROWS = 6  # per column that stand for all that answer


def first_lam(problem: Problem, columns: Columns, unit: float) -> float:
    """Return the lam to begin with: the problem's own if its Hessians are quick or few."""
    n, d = shape(problem.rows)
    is_smooth = isinstance(problem.costs.loss, SquaredHinge | Logistic)
    if d < WIDE or n < MANY * d or is_smooth or is_joint(problem.costs.loss):
        return problem.lam
    return problem.lam * max(1.0, kappa_of(problem, columns, unit) / KAPPA)


def kappa_of(problem: Problem, columns: Columns, unit: float) -> float:
    """Return R^2 / (lam S unit): what the losses can mean beside the penalty."""
    square = float(np.sum(columns.scale[columns.reach > CONSTANT] ** 2))
    return square / (problem.lam * problem.S * unit)


def next_lam(lam: float, last: float) -> float:
    """Return the lam that follows on the way to the last."""
    return last if lam <= LAST_FALL * last else lam / FALL


def some_of(h: FloatArray, columns: Columns) -> FloatArray:
    """Return curvatures of some rows, drawn at random, so that they add up to those of all.

    Of a joint loss h is (n, K), and a model has K weights per column.
    """
    chosen = np.flatnonzero(h) if h.ndim == 1 else answering(h)[0]
    most = ROWS * len(columns.m) * (1 if h.ndim == 1 else h.shape[1])
    if len(chosen) <= most:
        return h
    drawn = np.random.default_rng(len(chosen)).choice(chosen, most, replace=False)
    some = np.zeros_like(h)
    some[drawn] = h[drawn] * (len(chosen) / most)
    return some
