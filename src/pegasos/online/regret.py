"""Regret: what was paid more than by the best fixed point, as an interval that holds it.

    regret_T = sum_t f_t(w_t) - min_{u in the set} sum_t f_t(u)

The minimum is known between two bounds: from the tangents that a learner keeps (`tally`) for any
stream, and from a duality gap (`hindsight`) where the rows are at hand. Beside the interval stands
what theory promises (`bounds`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pegasos.online.bounds import has_origin, promised
from pegasos.online.conjugates import support
from pegasos.online.tally import (
    AT_ZERO,
    COST,
    EPS,
    LAM,
    PULL,
    STEPS,
    TANGENT,
    TANGENT_SIZE,
    State,
    cost_doubt,
)


@dataclass(frozen=True)
class Regret:
    """Regret after so many steps.

    Attributes
    ----------
    steps : int
        T, the number of costs seen.
    cost : float
        sum_t f_t(w_t), to within `doubt`, what rounding may have done.
    best_lower, best_upper : float
        The cost of the best fixed point lies between them.
    lower, upper : float
        The regret lies between them.
    bound : float
        What theory promises it not to exceed; infinite where nothing is promised.
    """

    steps: int
    cost: float
    doubt: float
    best_lower: float
    best_upper: float
    bound: float

    @property
    def lower(self) -> float:
        """Return the least the regret can be."""
        return self.cost - self.doubt - self.best_upper

    @property
    def upper(self) -> float:
        """Return the most the regret can be."""
        return self.cost + self.doubt - self.best_lower

    def __add__(self, other: Regret) -> Regret:
        """Return the regret of two learners side by side, each with its own costs."""
        mine = (self.cost, self.doubt, self.best_lower, self.best_upper, self.bound)
        theirs = (other.cost, other.doubt, other.best_lower, other.best_upper, other.bound)
        return Regret(
            max(self.steps, other.steps), *(a + b for a, b in zip(mine, theirs, strict=True))
        )

    def __str__(self) -> str:
        """Say it in a sentence."""
        return (
            f"regret between {self.lower:.6g} and {self.upper:.6g} after {self.steps} steps "
            f"(cost {self.cost:.6g}; theory: at most {self.bound:.6g})"
        )


def tangent_bound(within: Any, state: State) -> float:
    """Return a lower bound on the cost of every fixed point of the set, from the tangents."""
    sums = state.sums
    rounding = 2.0 * (float(sums[STEPS]) + 16.0) * EPS
    value = float(sums[TANGENT]) - rounding * float(sums[TANGENT_SIZE])
    lam = float(sums[LAM]) * (1.0 - rounding)
    most = support(within, -state.pull, lam, rounding * float(sums[PULL]))
    return value - most - 4.0 * EPS * (abs(value) + abs(most))


def streamed_regret(rule: Any, state: State) -> Regret:
    """Return what a learner knows of its regret without the costs it has seen."""
    sums = state.sums
    upper = float(sums[AT_ZERO]) * (1.0 + 2.0 * (float(sums[STEPS]) + 16.0) * EPS)
    least = 0.0 if math.isfinite(upper) else -math.inf  # rows only: their losses are not negative
    return Regret(
        steps=int(sums[STEPS]),
        cost=float(sums[COST]),
        doubt=cost_doubt(state),
        best_lower=max(least, tangent_bound(rule.within, state)),
        best_upper=upper if has_origin(rule.within) else math.inf,
        bound=promised(rule, state),
    )
