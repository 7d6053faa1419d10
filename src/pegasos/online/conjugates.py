"""The other side of a convex set: bounds on what any of its points could gain.

    support(set, V, lam, doubt)  >=  max_{u in the set} <V, u> - lam/2 ||u||^2

whatever V within `doubt` (in the l2 norm) of the V given. It is the last term of every lower bound
here. Where the maximum has no closed form the bound comes from its Lagrangian, which holds for any
multiplier mu, so that an inexact projection cannot make it wrong; rounding is added on top.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, nearest
from pegasos.online.tally import EPS, length


def support(within: Any, V: FloatArray, lam: float, doubt: float = 0.0) -> float:
    """Return an upper bound on max_{u in the set} <V, u> - lam/2 ||u||^2; infinite if it is."""
    d, norm = len(V), length(V)
    most = norm * (1.0 + (d + 16.0) * EPS) + doubt  # of ||V||
    if isinstance(within, Everywhere):
        if lam > 0.0:
            return most * most / (2.0 * lam) * (1.0 + 8.0 * EPS)
        return math.inf if most > 0.0 else 0.0
    if isinstance(within, L2Ball):
        r = within.radius
        if lam > 0.0 and most <= lam * r:
            return most * most / (2.0 * lam) * (1.0 + 8.0 * EPS)
        return r * (most - 0.5 * lam * r) * (1.0 + 8.0 * EPS)
    if isinstance(within, Box):
        return _in_box(within, V, lam) + math.sqrt(d) * max(map(abs, within)) * doubt
    return _under_level(within, V, lam) + within.radius * doubt


def _in_box(within: Box, V: FloatArray, lam: float) -> float:
    if lam > 0.0:
        u = np.clip(V / lam, within.low, within.high)
    else:
        u = np.where(V > 0.0, within.high, within.low)
    terms = V * u - 0.5 * lam * u * u  # flat at its maximum: an error of u counts squared
    sizes = np.abs(V * u) + 0.5 * lam * u * u
    return math.fsum(terms) + 16.0 * EPS * math.fsum(sizes)


def _under_level(within: Any, V: FloatArray, lam: float) -> float:
    """Return min over a good mu of  mu r + sum_j (|V_j| - mu)_+^2 / (2 lam), V_j on the simplex."""
    has_both_signs = isinstance(within, L1Ball)
    heights, r = (np.abs(V) if has_both_signs else V), within.radius
    j = int(np.argmax(heights))
    mu = float(heights[j])
    if lam == 0.0:
        return mu * r + 4.0 * EPS * abs(mu) * r
    mu -= lam * float(np.abs(nearest(within, V / lam)[j]))
    mu = max(0.0, mu) if has_both_signs else mu
    above = np.maximum(0.0, heights - mu)
    squares = math.fsum(above * above) / (2.0 * lam)
    rest = math.fsum(above * np.abs(heights)) / lam
    return mu * r + squares + 16.0 * EPS * (abs(mu) * r + squares + rest)
