"""What theory promises: bounds on the regret, computed from the gradients that were seen.

    Mirror, eta_t falling      [Zin03] Thm 1     D^2/(2 eta_T) + 1/2 sum_t eta_t ||g_t||^2
    Mirror, eta_t = 1/(lam t)  [SSSC11] Lemma 1  1/2 sum_t eta_t ||g_t||^2
    Lazy                       [Xia10]           R/eta_T + 1/2 sum_t eta_t ||g_t||_*^2
    AdaGrad                    [DHS11] Thm 5     D_inf^2/(2 eta) sum_j h_Tj + eta sum_j ||g_1:T,j||

D and D_inf are diameters of the set, R the range of psi on it, and ||.||_* is divided by the strong
convexity of psi: 1/r^2 for the entropy, p - 1 for the p-norm. Infinite on all of R^d.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.online.mirror_maps import Entropy, Euclidean, PNorm
from pegasos.online.rules import AdaGrad, Lazy
from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, Simplex
from pegasos.online.tally import LEAST_LAM, SQUARES, STEPS, State


def has_origin(within: Any) -> bool:
    """Whether 0 is in the set."""
    if isinstance(within, Box):
        return within.low <= 0.0 <= within.high
    return not isinstance(within, Simplex)


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
    squares *= _weakness(rule)
    if isinstance(rule, Lazy):
        return _range(rule.mirror_map, rule.within, len(state.w)) / eta + 0.5 * squares
    if not isinstance(rule.mirror_map, Euclidean):
        if rule.step.power == 0.0:  # eager and lazy are one for Entropy; D = R for a fixed step
            return _range(rule.mirror_map, rule.within, len(state.w)) / eta + 0.5 * squares
        return math.inf
    is_strong = rule.step.scale * float(state.sums[LEAST_LAM]) >= 1.0 - 1e-12
    if rule.step.power == 1.0 and is_strong:
        return 0.5 * squares
    return _diameter(rule.within, len(state.w)) ** 2 / (2.0 * eta) + 0.5 * squares


def _weakness(rule: Any) -> float:
    """Return 1 over the strong convexity of psi: r^2 for the entropy in the l1 norm."""
    if isinstance(rule.mirror_map, Entropy):
        return float(rule.within.radius) ** 2
    return 1.0 / (rule.mirror_map.p - 1.0) if isinstance(rule.mirror_map, PNorm) else 1.0


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
        return math.log(2 * d if isinstance(within, L1Ball) else d)
    if isinstance(within, Box):
        far = max(abs(within.low), abs(within.high))
        near = 0.0 if has_origin(within) else min(abs(within.low), abs(within.high))
        return 0.5 * d * (far**2 - near**2)
    least = 0.0
    if isinstance(within, Simplex):
        p = mirror_map.p if isinstance(mirror_map, PNorm) else 2.0
        least = d ** (2.0 / p - 2.0)
    return 0.5 * within.radius**2 * (1.0 - least)
