"""Step sizes: how far a learner moves at its t-th step.

    constant(eta)           eta                   a horizon known in advance, or costs that drift
    inverse_root(c)         c / sqrt(t)           convex costs: regret O(sqrt T)
    strongly_convex(lam)    1 / (lam t)           costs with lam/2 ||w||^2 in them: O(log T)

All are one type to compiled code, c / t^power. AdaGrad's step, one per coordinate, is a rule of its
own (`rules.AdaGrad`).
"""

from __future__ import annotations

from typing import NamedTuple

from pegasos.dispatch import distinct, inlined
from pegasos.problem.scaling import positive


@distinct
class StepSize(NamedTuple):
    """eta_t = scale / t^power."""

    scale: float
    power: float


def constant(eta: float) -> StepSize:
    """Return the step size eta at every step.

    Examples
    --------
    >>> from pegasos.online import constant
    >>> constant(0.1)
    StepSize(scale=0.1, power=0.0)
    """
    positive(eta, "eta", "It is the length of a step per unit of gradient.")
    return StepSize(float(eta), 0.0)


def inverse_root(c: float = 1.0) -> StepSize:
    """Return the step size c / sqrt(t); best near c = diameter / largest gradient norm.

    Examples
    --------
    >>> from pegasos.online import inverse_root
    >>> inverse_root(2.0)
    StepSize(scale=2.0, power=0.5)
    """
    positive(c, "c", "It is the length of the first step per unit of gradient.")
    return StepSize(float(c), 0.5)


def strongly_convex(lam: float) -> StepSize:
    """Return the step size 1 / (lam t), for costs that contain lam/2 ||w||^2.

    Examples
    --------
    >>> from pegasos.online import strongly_convex
    >>> strongly_convex(0.5)
    StepSize(scale=2.0, power=1.0)
    """
    positive(lam, "lam", "It is the strong convexity of the costs.")
    return StepSize(1.0 / float(lam), 1.0)


@inlined
def size(step, t):  # type: ignore[no-untyped-def]
    """Return eta_t, t = 1, 2, ..."""
    if step.power == 0.5:
        return step.scale / t**0.5
    return step.scale / t if step.power == 1.0 else step.scale
