"""Classes that a joint model separates: past some C, all larger ones have the same weights.

From w = 0 at a large C such a run takes hundreds of short steps. If its first ones look as if rows
could be separated, it goes on at a larger lam. Where no dual number is at its bound there, the
solution is that of every smaller lam, too: with f a for a and f lam for lam, w(a) stays, the
optimum is f times as large, and a width q / f smooths f a as q did a. So the larger lam is solved
well, and the rest of the way is one multiplication.
"""

from __future__ import annotations

import numpy as np

from pegasos.problem.joint_losses import JointHinge
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.model import DAMPING, Model
from pegasos.solvers.newton.path import kappa_of

KAPPA = 1000.0  # at the larger lam
LARGER = 3.0  # times the lam asked for: less is not worth a beginning
WIDE = 4.0  # width to begin with
BOUND = 0.9  # a dual number below is not at its bound, which is 1
NEAR = 1e-3  # relative gap of the larger lam from which to go on


def separating_lam(problem: Problem, columns: Columns, model: Model) -> float:
    """Return the lam at which to look for separating weights; the problem's own if none."""
    is_promising = model.widenings > 0 and model.narrowings == 0
    if not is_promising or not isinstance(problem.costs.loss, JointHinge):
        return problem.lam
    factor = kappa_of(problem, columns, model.unit) / KAPPA
    return problem.lam * factor if factor >= LARGER else problem.lam


def begin_again(problem: Problem, model: Model) -> None:
    """Begin with the first width, from the weights at hand."""
    model.q, model.damping, model.steps = WIDE * model.unit, DAMPING, 0
    model.answer(problem)


def is_separated(model: Model) -> bool:
    """Whether no dual number of a joint hinge is at its bound."""
    return float(np.abs(model.A).max()) < BOUND


def shrink(problem: Problem, model: Model, factor: float) -> None:
    """Let the dual numbers follow lam, which becomes `factor` times what it was."""
    model.B *= factor
    model.q /= factor
    model.answer(problem)
