"""Regret: what was paid more than by the best fixed point, as an interval that holds it.

    regret_T = sum_t f_t(w_t) - min_{u in the set} sum_t f_t(u)

The minimum is known between two bounds: from the tangents that a learner keeps (`tally`) for any
stream, and from a duality gap (`hindsight`) where the rows are at hand. Beside the interval stands
what theory promises, computed from the gradients that were seen:

    Mirror, eta_t falling      [Zin03] Thm 1     D^2/(2 eta_T) + 1/2 sum_t eta_t ||g_t||^2
    Mirror, eta_t = 1/(lam t)  [SSSC11] Lemma 1  1/2 sum_t eta_t ||g_t||^2
    Lazy                       [Xia10] Thm 1     R/eta_T + 1/2 sum_t eta_t ||g_t||_*^2
    AdaGrad                    [DHS11] Thm 5     D_inf^2/(2 eta) sum_j h_Tj + eta sum_j ||g_1:T,j||

D and D_inf are diameters of the set, R the range of psi on it; infinite on all of R^d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.online.conjugates import support
from pegasos.online.mirror_maps import Entropy, Euclidean, PNorm
from pegasos.online.rules import AdaGrad, Lazy
from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, Simplex
from pegasos.online.tally import (
    AT_ZERO,
    COST,
    EPS,
    LAM,
    LEAST_LAM,
    PULL,
    SQUARES,
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


def has_origin(within: Any) -> bool:
    """Whether 0 is in the set."""
    if isinstance(within, Box):
        return within.low <= 0.0 <= within.high
    return not isinstance(within, Simplex)


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


def promised(rule: Any, state: State) -> float:
    """Return the theoretical bound on the regret so far, with the gradients that were seen."""
    T, squares = float(state.sums[STEPS]), float(state.sums[SQUARES])
    if T == 0.0:
        return 0.0
    if isinstance(rule, AdaGrad):
        norms = np.sqrt(state.memory)
        width = _widest(rule.within)
        return float(width**2 * (norms + rule.delta).sum() / (2.0 * rule.eta)) + rule.eta * float(
            norms.sum()
        )
    eta = rule.step.scale / T**rule.step.power
    if isinstance(rule, Lazy):
        factor = rule.within.radius if isinstance(rule.mirror_map, Entropy) else 1.0
        return _range(rule.mirror_map, rule.within, len(state.w)) / eta + 0.5 * factor * squares
    if not isinstance(rule.mirror_map, Euclidean):
        if rule.step.power == 0.0:  # eager and lazy are one for Entropy; D = R for a fixed step
            factor = rule.within.radius if isinstance(rule.mirror_map, Entropy) else 1.0
            return _range(rule.mirror_map, rule.within, len(state.w)) / eta + 0.5 * factor * squares
        return math.inf
    is_strong = rule.step.scale * float(state.sums[LEAST_LAM]) >= 1.0 - 1e-12
    if rule.step.power == 1.0 and is_strong:
        return 0.5 * squares
    return _diameter(rule.within, len(state.w)) ** 2 / (2.0 * eta) + 0.5 * squares


def _diameter(within: Any, d: int) -> float:
    """Return the largest Euclidean distance of two points of the set."""
    if isinstance(within, Everywhere):
        return math.inf
    if isinstance(within, L1Ball | L2Ball):
        return 2.0 * within.radius
    if isinstance(within, Simplex):
        return math.sqrt(2.0) * within.radius
    return math.sqrt(d) * (within.high - within.low)


def _widest(within: Any) -> float:
    """Return the largest difference of one coordinate of two points of the set."""
    if isinstance(within, Everywhere):
        return math.inf
    if isinstance(within, Box):
        return within.high - within.low
    return within.radius if isinstance(within, Simplex) else 2.0 * within.radius


def _range(mirror_map: Any, within: Any, d: int) -> float:
    """Return max psi - min psi over the set."""
    if isinstance(within, Everywhere):
        return math.inf
    if isinstance(mirror_map, Entropy):
        return within.radius * math.log(2 * d if isinstance(within, L1Ball) else d)
    if isinstance(within, Box):
        far = max(abs(within.low), abs(within.high))
        near = 0.0 if has_origin(within) else min(abs(within.low), abs(within.high))
        return 0.5 * d * (far**2 - near**2)
    least = 0.0
    if isinstance(within, Simplex):
        p = mirror_map.p if isinstance(mirror_map, PNorm) else 2.0
        least = d ** (2.0 / p - 2.0)
    return 0.5 * within.radius**2 * (1.0 - least)
