"""Sequential minimal optimisation (SMO) on a kernel matrix in memory.

Maximises   sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' K beta,    low <= beta <= high,

with sum_i beta_i = 0 when the bias is free. Hinge (epsilon = 0, beta_i between 0 and C_i y_i),
squared hinge (a far bound, 1 / (2 C_i) more on the diagonal) and epsilon-insensitive loss are all
of this form; beta_i is the coefficient of row i in the expansion of w.

With r = y - K beta, raising beta_i pays `r_i + up_i` per unit and lowering it costs `r_i + down_i`;
the two differ only at beta_i = 0 (by 2 epsilon), and are -inf, +inf at a bound. A pair (i, j) with
r_i + up_i > r_j + down_j can be improved: raise i, lower j. Without the constraint one coordinate
moves at a time.

Only rows listed in `active` are looked at and kept up to date; when these are all, the loops run
over whole rows of K, many values at a time (`partner_search`). Where a row of K is needed that is
not there, an ascent returns and says which.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005. Algorithm 1; WSS 3, that is WSS 2 with a floor
         under the curvature. Differs: a row of the epsilon-insensitive loss has one coefficient
         with a kink at 0, not two.
[Pla98]  Platt. Fast training of support vector machines using sequential minimal optimization.
         1998. The exact step on two coefficients, clipped to the box.

With [FCL05]'s alpha_i = y_i beta_i, r_i is -y_i times the gradient; `top` is its m(alpha), `bottom`
its M(alpha). What `tol` proves: docs/mathematics.md, section 12.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, inlined
from pegasos.solvers.decomposition.partner_search import (
    NONE,
    best_partner,
    best_partner_among,
    curvature_of,
    follow,
    follow_among,
)


class Box(NamedTuple):
    """The feasible set of m coefficients, the width of the kink at 0, and what is added to K."""

    low: FloatArray
    high: FloatArray
    epsilon: float
    ridge: FloatArray  # of shape (m,), on the diagonal


class Matrix(NamedTuple):
    """Rows of a kernel matrix: K(x_i, x_k) is values[slot_of[i], k].

    A row is absent where slot_of[i] < 0. `last_use` of a slot is set to the step count, from
    `clock` on, so that rows can make room.
    """

    values: Any
    slot_of: Any
    last_use: Any
    clock: int
    diagonal: FloatArray


class Ascent(NamedTuple):
    """Coefficients, residuals and prices of m rows, all modified in place."""

    beta: FloatArray
    r: FloatArray
    up: FloatArray
    down: FloatArray


def whole(K: Any, diagonal: FloatArray) -> Matrix:
    """Return a matrix that is there in full."""
    m = len(K)
    places = np.arange(m, dtype=np.int32)
    return Matrix(K, places, np.zeros(m, dtype=np.int64), 0, diagonal)


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
def ascend_pairs(K, ascent, box, active, tol, steps):  # type: ignore[no-untyped-def]
    """Improve pairs until none promises more than `tol`, for so many steps, or till a row lacks.

    Returns the steps taken, the violation left, the least curvature met and the row that is not
    there, or -1.
    """
    beta, r, up, down = ascent
    diagonal, least, is_all = K.diagonal + box.ridge, np.inf, len(active) == len(r)
    if len(active) == 0:
        return 0, 0.0, least, -1
    gains = np.empty(len(r) if is_all else 0)
    i = dearest(r, up, active)                                 # [FCL05] WSS: i = argmax over I_up
    for t in range(steps):                                     # Algorithm 1
        if K.slot_of[i] < 0:
            return t, np.inf, least, i
        row, top = K.values[K.slot_of[i]], r[i] + up[i]
        K.last_use[K.slot_of[i]] = K.clock + t
        if is_all:                                             # WSS 3: j = argmin -b_ij^2 / a_ij
            j, bottom = best_partner(row, diagonal[i], diagonal, r, down, top, gains)
        else:
            j, bottom = best_partner_among(active, row, diagonal[i], diagonal, r, down, top)
        if top - bottom <= tol or j < 0:                       # stop: m(alpha) - M(alpha) <= eps
            return t, max(0.0, top - bottom), least, -1
        if K.slot_of[j] < 0:
            return t, np.inf, least, j
        K.last_use[K.slot_of[j]] = K.clock + t
        Kii, Kjj = diagonal[i], diagonal[j]
        least = min(least, (Kii + Kjj - 2.0 * row[j]) / max(abs(Kii) + abs(Kjj), NONE))
        room = min(room_above(beta[i], box.high[i]), room_below(beta[j], box.low[j]))
        curvature = curvature_of(Kii, Kjj, row[j])             # a_ij
        step = (top - r[j] - down[j]) / curvature              # [Pla98] the unconstrained step
        step = min(step, room)                                 # [Pla98] clipped to the box
        move(ascent, box, i, step)
        move(ascent, box, j, -step)
        if is_all:                                             # the gradient, and the next i
            i = follow(row, K.values[K.slot_of[j]], step, r, up)
        else:
            i = follow_among(active, row, K.values[K.slot_of[j]], step, r, up)
    return steps, np.inf, least, -1


@inlined
def dearest(r, up, active):  # type: ignore[no-untyped-def]
    """Return the coefficient that pays most to raise."""
    best = active[0]
    for k in active:
        if r[k] + up[k] > r[best] + up[best]:
            best = k
    return best


@inlined
def move(ascent, box, i, step):  # type: ignore[no-untyped-def]
    """Move beta_i, exactly onto a bound or 0 where the step ends there but for rounding."""
    before = ascent.beta[i]
    target = before + step
    size = 1e-14 * (abs(before) + abs(step))
    if abs(target) <= size and before != 0.0:
        target = 0.0
    if abs(target - box.high[i]) <= size or target > box.high[i]:
        target = box.high[i]
    if abs(target - box.low[i]) <= size or target < box.low[i]:
        target = box.low[i]
    ascent.beta[i] = target
    ascent.r[i] -= box.ridge[i] * step
    set_price(ascent, box, i)


@compiled
def ascend_singles(K, ascent, box, active, tol, steps):  # type: ignore[no-untyped-def]
    """Improve one coefficient at a time, the one whose exact step gains most; no constraint.

    Returns the same as `ascend_pairs`.
    """
    r, least = ascent.r, np.inf
    if len(active) == 0:
        return 0, 0.0, least, -1
    for t in range(steps):
        i, worst = best_single(ascent, K.diagonal, box, active)
        if worst <= tol:
            return t, worst, least, -1
        if K.slot_of[i] < 0:
            return t, np.inf, least, i
        row = K.values[K.slot_of[i]]
        K.last_use[K.slot_of[i]] = K.clock + t
        curvature = K.diagonal[i] + box.ridge[i]
        least = min(least, curvature)
        pays, costs = r[i] + ascent.up[i], r[i] + ascent.down[i]
        if pays >= -costs:
            step = min(pays / max(curvature, NONE), room_above(ascent.beta[i], box.high[i]))
        else:
            step = max(costs / max(curvature, NONE), -room_below(ascent.beta[i], box.low[i]))
        move(ascent, box, i, step)
        if len(active) == len(r):
            for k in range(len(r)):
                r[k] -= step * row[k]
        else:
            for k in active:
                r[k] -= step * row[k]
    return steps, np.inf, least, -1


@inlined
def best_single(ascent, diagonal, box, active):  # type: ignore[no-untyped-def]
    """Return the coefficient whose exact step gains most, and the largest violation of any."""
    best, most, worst = active[0], -1.0, 0.0
    for k in active:
        v = max(ascent.r[k] + ascent.up[k], -(ascent.r[k] + ascent.down[k]))
        if v > 0.0:
            worst = max(worst, v)
            gain = v * v / max(diagonal[k] + box.ridge[k], NONE)
            if gain > most:
                best, most = k, gain
    return best, worst


@compiled
def shrink(ascent, active, is_free, out):  # type: ignore[no-untyped-def]
    """Write the rows of `active` that may still move into `out`; return their number.

    A row at a bound is left out if it would not pay even against the best partner there is.
    """
    top, bottom = 0.0, 0.0
    if is_free:
        top, bottom = -np.inf, np.inf
        for k in active:
            top = max(top, ascent.r[k] + ascent.up[k])
            bottom = min(bottom, ascent.r[k] + ascent.down[k])
    count = 0
    for k in active:
        pays, costs = ascent.r[k] + ascent.up[k], ascent.r[k] + ascent.down[k]
        is_stuck = (costs == np.inf and pays < bottom) or (pays == -np.inf and costs > top)
        if not is_stuck:
            out[count] = k
            count += 1
    return count
