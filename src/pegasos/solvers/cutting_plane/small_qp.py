"""The quadratic programme over a few cuts, solved exactly by an active set.

Maximises   e'alpha - 1/2 alpha' H alpha     over the simplex  alpha >= 0, sum alpha = 1

A cut whose slope is largest joins the support; the maximum over the support's plane is a system of
linear equations. Where it leaves the simplex, the way to it is followed as far as the simplex goes,
and the cut that stopped it drops out. Every step gains, so no support comes twice.

Cuts near the optimum are nearly parallel and H is nearly singular. The equations are those of a
proximal step, rho/2 ||x - alpha||^2 added, whose fixed points are exactly the maxima; along a
direction without curvature its steps are long, and end at the boundary, where the maximum lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray

RHO = 1e-12  # of the largest H_ii
EXACT = 1e-14  # of the largest |e_i| + H_ii: below, a gain is rounding
TURNS_PER_CUT = 20  # at most: far more than are needed, should rounding lead in a circle


def maximize(H: FloatArray, e: FloatArray, alpha: FloatArray, enough: float) -> float:
    """Improve `alpha`, a point of the simplex, in place; return the programme's value there.

    Stops when no other point can be better by more than `enough`, or than rounding.
    """
    enough = max(enough, EXACT * float(np.max(np.abs(e) + np.diagonal(H))))
    rho = RHO * (float(np.diagonal(H).max()) or 1.0)
    for _ in range(TURNS_PER_CUT * len(alpha)):
        slope = e - H @ alpha
        j = int(slope.argmax())
        if slope[j] - alpha @ slope <= enough:
            break
        support = alpha > 0.0
        support[j] = True
        if not climb(H, e, alpha, support, rho):
            break
    alpha /= alpha.sum()
    return value(H, e, alpha)


def climb(H: FloatArray, e: FloatArray, alpha: FloatArray, support: Any, rho: float) -> bool:
    """Go to the maximum over cuts of `support`, in place; say whether that gained anything."""
    before = value(H, e, alpha)
    while True:
        chosen = np.flatnonzero(support)
        now = alpha[chosen]
        best = stationary(H[np.ix_(chosen, chosen)], e[chosen], now, rho)
        leaves = best < 0.0
        if not leaves.any():
            alpha[chosen] = best
            return value(H, e, alpha) > before
        reach = now[leaves] / (now[leaves] - best[leaves])
        alpha[chosen] = np.maximum(0.0, now + reach.min() * (best - now))
        alpha[chosen[leaves][reach.argmin()]] = 0.0
        support = support & (alpha > 0.0)
        if support.sum() < 2:
            return value(H, e, alpha) > before


def stationary(H: FloatArray, e: FloatArray, alpha: FloatArray, rho: float) -> FloatArray:
    """Return the maximum over the plane sum x = 1, less rho/2 ||x - alpha||^2."""
    m = len(e)
    equations = np.ones((m + 1, m + 1))
    equations[:m, :m] = H + rho * np.eye(m)
    equations[m, m] = 0.0
    return np.asarray(np.linalg.solve(equations, np.append(e + rho * alpha, 1.0))[:m])


def value(H: FloatArray, e: FloatArray, alpha: FloatArray) -> float:
    """Return e'alpha - 1/2 alpha' H alpha."""
    return float(e @ alpha - 0.5 * alpha @ (H @ alpha))
