"""Sequential minimal optimisation (SMO) on a kernel matrix in memory.

Maximises   sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' K beta,    low <= beta <= high,

with sum_i beta_i = 0 when the bias is free. Hinge (epsilon = 0, beta_i between 0 and C_i y_i),
squared hinge (no upper bound, C_i more on the diagonal) and epsilon-insensitive loss are all of
this form; beta_i is the coefficient of row i in the expansion of w.

With r = y - K beta, raising beta_i pays `r_i + up_i` per unit and lowering it costs `r_i + down_i`;
the two differ only at beta_i = 0 (by 2 epsilon), and are -inf, +inf at a bound. A pair (i, j) with
r_i + up_i > r_j + down_j can be improved: raise i, lower j. Without the constraint one coordinate
moves at a time.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005. Sec. 2.3, WSS 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, inlined

FLAT = 1e-12  # curvature, against the diagonal, that counts as none


class Box(NamedTuple):
    """The feasible set of m coefficients, the width of the kink at 0, and what is added to K."""

    low: FloatArray
    high: FloatArray
    epsilon: float
    ridge: FloatArray  # of shape (m,), on the diagonal


class Ascent(NamedTuple):
    """Coefficients, residuals and prices of m rows, all modified in place."""

    beta: FloatArray
    r: FloatArray
    up: FloatArray
    down: FloatArray


def new_ascent(beta: FloatArray, r: FloatArray, box: Box) -> Ascent:
    """Return the state of an ascent from given coefficients and residuals."""
    ascent = Ascent(beta, r, np.empty_like(r), np.empty_like(r))
    set_prices(ascent, box)
    return ascent


@inlined
def set_price(ascent, box, i):  # type: ignore[no-untyped-def]
    """Update what it pays to move beta_i."""
    beta = ascent.beta[i]
    ascent.up[i] = -np.inf if beta >= box.high[i] else (
        -box.epsilon if beta >= 0.0 else box.epsilon
    )
    ascent.down[i] = np.inf if beta <= box.low[i] else (
        -box.epsilon if beta > 0.0 else box.epsilon
    )


@compiled
def set_prices(ascent, box):  # type: ignore[no-untyped-def]
    """Update what it pays to move any coefficient."""
    for i in range(len(ascent.beta)):
        set_price(ascent, box, i)


@inlined
def room_above(beta, high):  # type: ignore[no-untyped-def]
    """Return how far a coefficient may rise before its price changes."""
    return high - beta if beta >= 0.0 else min(-beta, high - beta)


@inlined
def room_below(beta, low):  # type: ignore[no-untyped-def]
    """Return how far a coefficient may fall before its price changes."""
    return beta - low if beta <= 0.0 else min(beta, beta - low)


@compiled
def ascend_pairs(K, diagonal, ascent, box, tol, steps):  # type: ignore[no-untyped-def]
    """Improve pairs until none promises more than `tol`, or for so many steps.

    Returns the steps taken, the largest violation left, and the least curvature met.
    """
    beta, r, up, down = ascent
    m, least = len(beta), np.inf
    i = best_to_raise(r, up)
    for t in range(steps):
        top = r[i] + up[i]
        row, Kii = K[i], diagonal[i] + box.ridge[i]
        j, most, bottom = -1, 0.0, np.inf  # [FCL05] WSS 2: j by the gain of the pair's exact step
        for k in range(m):
            price = r[k] + down[k]
            bottom = min(bottom, price)
            b = top - price
            if b > 0.0:
                a = Kii + diagonal[k] + box.ridge[k] - 2.0 * row[k]
                gain = b * b / max(a, FLAT * Kii)
                if gain > most:
                    j, most = k, gain
        if top - bottom <= tol or j < 0:
            return t, max(0.0, top - bottom), least
        curvature = Kii + diagonal[j] + box.ridge[j] - 2.0 * row[j]
        least = min(least, curvature / (Kii + abs(diagonal[j])))
        step = (top - r[j] - down[j]) / max(curvature, FLAT * Kii)
        step = min(step, room_above(beta[i], box.high[i]), room_below(beta[j], box.low[j]))
        move(beta, box, i, step)
        move(beta, box, j, -step)
        r[i] -= box.ridge[i] * step
        r[j] += box.ridge[j] * step
        set_price(ascent, box, i)
        set_price(ascent, box, j)
        i = follow(K[i], K[j], step, r, up)
    return steps, violation_of_pairs(ascent), least


@inlined
def follow(row_i, row_j, step, r, up):  # type: ignore[no-untyped-def]
    """Bring the residuals up to date with a pair's step; return the next one to raise."""
    best, top = 0, -np.inf
    for k in range(len(r)):
        r[k] -= step * (np.float64(row_i[k]) - np.float64(row_j[k]))
        price = r[k] + up[k]
        if price > top:
            best, top = k, price
    return best


@inlined
def best_to_raise(r, up):  # type: ignore[no-untyped-def]
    """Return the coefficient that pays most to raise."""
    best = 0
    for k in range(len(r)):
        if r[k] + up[k] > r[best] + up[best]:
            best = k
    return best


@inlined
def move(beta, box, i, step):  # type: ignore[no-untyped-def]
    """Move beta_i, exactly onto a bound or 0 where the step ends there but for rounding."""
    target = beta[i] + step
    size = 1e-14 * (abs(beta[i]) + abs(step))
    if abs(target) <= size and beta[i] != 0.0:
        target = 0.0
    if abs(target - box.high[i]) <= size or target > box.high[i]:
        target = box.high[i]
    if abs(target - box.low[i]) <= size or target < box.low[i]:
        target = box.low[i]
    beta[i] = target


@compiled
def violation_of_pairs(ascent):  # type: ignore[no-untyped-def]
    """Return how much the best pair promises per unit of its step."""
    top, bottom = -np.inf, np.inf
    for k in range(len(ascent.r)):
        top = max(top, ascent.r[k] + ascent.up[k])
        bottom = min(bottom, ascent.r[k] + ascent.down[k])
    return max(0.0, top - bottom)


@compiled
def ascend_singles(K, diagonal, ascent, box, tol, steps):  # type: ignore[no-untyped-def]
    """Improve one coefficient at a time, the one whose exact step gains most; no constraint.

    Returns the steps taken, the largest violation left, and the least curvature met.
    """
    beta, r, up, down = ascent
    m, least = len(beta), np.inf
    i = best_single(ascent, diagonal, box)
    for t in range(steps):
        price = max(r[i] + up[i], -(r[i] + down[i]))
        if price <= tol:
            worst = violation_of_singles(ascent)
            if worst <= tol:
                return t, worst, least
            i = worst_single(ascent)
            price = max(r[i] + up[i], -(r[i] + down[i]))
        rises = r[i] + up[i] > 0.0
        curvature = diagonal[i] + box.ridge[i]
        least = min(least, curvature)
        step = price / max(curvature, FLAT)
        if rises:
            step = min(step, room_above(beta[i], box.high[i]))
        else:
            step = -min(step, room_below(beta[i], box.low[i]))
        move(beta, box, i, step)
        r[i] -= box.ridge[i] * step
        set_price(ascent, box, i)
        row, best, most = K[i], 0, -1.0
        for k in range(m):
            r[k] -= step * row[k]
            v = max(r[k] + up[k], -(r[k] + down[k]))
            gain = v * v / max(diagonal[k] + box.ridge[k], FLAT) if v > 0.0 else 0.0
            if gain > most:
                best, most = k, gain
        i = best
    return steps, violation_of_singles(ascent), least


@inlined
def best_single(ascent, diagonal, box):  # type: ignore[no-untyped-def]
    """Return the coefficient whose exact step gains most."""
    best, most = 0, -1.0
    for k in range(len(ascent.r)):
        v = max(ascent.r[k] + ascent.up[k], -(ascent.r[k] + ascent.down[k]))
        gain = v * v / max(diagonal[k] + box.ridge[k], FLAT) if v > 0.0 else 0.0
        if gain > most:
            best, most = k, gain
    return best


@inlined
def worst_single(ascent):  # type: ignore[no-untyped-def]
    """Return the coefficient that promises most per unit of its step."""
    best, most = 0, -np.inf
    for k in range(len(ascent.r)):
        v = max(ascent.r[k] + ascent.up[k], -(ascent.r[k] + ascent.down[k]))
        if v > most:
            best, most = k, v
    return best


@compiled
def violation_of_singles(ascent):  # type: ignore[no-untyped-def]
    """Return how much the best single step promises per unit."""
    k = worst_single(ascent)
    return max(0.0, ascent.r[k] + ascent.up[k], -(ascent.r[k] + ascent.down[k]))
