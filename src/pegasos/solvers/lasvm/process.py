"""PROCESS and REPROCESS: the two steps of LASVM, on the rows of an expansion.

Maximises   sum_i y_i beta_i - 1/2 beta' K beta,    beta_i between 0 and C_i y_i    (see `smo`)

over the coefficients of a set S of rows, the only ones for which a residual r = y - K beta is kept.

    PROCESS(k)    if raising or lowering beta_k pays, take the exact step; k is then a member of S
    REPROCESS     take the exact step of the members that violate most; members with beta = 0 that
                  do not violate leave S

With a free bias a step raises one coefficient and lowers another. Without, it moves one: a missing
partner, -1, stands for the number 0, whose residual is 0 and whose row of K is 0.

Arrays have a place for each row that is looked at, in S or not: who is not in S has the prices
-inf and +inf, so nobody picks it, but its residual is kept up to date too.

While no pair of members violates, their residuals leave an interval for the bias, from `top`, the
most that a rise pays, to `bottom`, the least that a fall costs. Rows that bound it are members too.

Differs from [BEWB05]: a row that neither violates nor bounds the bias is not taken into S, instead
of leaving it at the next REPROCESS, much as in the authors' own program; S is empty at first; and
REPROCESS picks the second of its pair by the gain of the exact step [FCL05]: far fewer steps.

[BEWB05]  Bordes, Ertekin, Weston, Bottou. Fast kernel classifiers with online and active learning.
          JMLR 6, 2005. Sec. 3.
[FCL05]   Fan, Chen, Lin. Working set selection using second order information for training support
          vector machines. JMLR 6, 2005. WSS 3.

[BEWB05]'s alpha_s is beta_s, its g_s is r_s, its bounds A_s and B_s are those of the box. What tau
proves: docs/mathematics.md, section 12.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import by_tag, compiled, inlined
from pegasos.solvers.decomposition.partner_search import FLAT
from pegasos.solvers.decomposition.smo import move, room_above, room_below, set_price

TIE = 1e-12  # residuals are equal after an exact step but for rounding, which must not decide
TINY = 1e-300  # curvature of rows that are all zero


class Square(NamedTuple):
    """K of all pairs of places: values[i, j]."""

    values: Any


class Held(NamedTuple):
    """K by whole rows in the store of a Gram matrix, of which some are there; `rows` by place."""

    store: Any
    slot_of: Any
    rows: Any


@by_tag
def lacks(K: Any, i: int) -> bool:  # type: ignore[empty-body]
    """Whether row i of K is needed, i >= 0, and not there."""


@by_tag
def at(K: Any, i: int, j: int) -> float:  # type: ignore[empty-body]
    """Return K[i, j]."""


@lacks.register(Square)
def _(K, i):  # type: ignore[no-untyped-def]
    return False


@at.register(Square)
def _(K, i, j):  # type: ignore[no-untyped-def]
    return np.float64(K.values[i, j])


@lacks.register(Held)
def _(K, i):  # type: ignore[no-untyped-def]
    return i >= 0 and K.slot_of[K.rows[i]] < 0


@at.register(Held)
def _(K, i, j):  # type: ignore[no-untyped-def]
    return np.float64(K.store[K.slot_of[K.rows[i]], K.rows[j]])


@compiled
def process(K, diagonal, ascent, box, is_free, tau, visits, progress):  # type: ignore[no-untyped-def]
    """PROCESS each place of `visits` and REPROCESS once after each, from where `progress` says.

    Returns (-1, -1) when all is done, or the rows of K that must be there to go on. `progress` is
    the number of visits done, and whether the PROCESS of the next one is; modified in place.
    """
    while progress[0] < len(visits):
        if progress[1] == 0:                                   # [BEWB05] PROCESS
            i, j = violating_with(ascent, box, visits[progress[0]], is_free, tau)
            if lacks(K, i) or lacks(K, j):
                return i, j
            if i >= 0 or j >= 0:
                take_step(K, diagonal, ascent, box, i, j)      # line 5
            progress[1] = 1
        steps, i, j = reprocess(K, diagonal, ascent, box, is_free, tau, 1)
        if i >= 0 or j >= 0:
            return i, j
        if steps > 0:
            forget(ascent, is_free)                            # [BEWB05] REPROCESS, line 4
        progress[0] += 1
        progress[1] = 0
    return -1, -1


@compiled
def reprocess(K, diagonal, ascent, box, is_free, tau, steps):  # type: ignore[no-untyped-def]
    """REPROCESS, but for line 4, until no members violate by more than tau or for so many steps.

    Returns the steps taken and the rows of K that must be there to go on, or (-1, -1).
    """
    for t in range(steps):
        i, j = dearest(ascent), -1
        if is_free:                                            # [BEWB05] REPROCESS, line 1
            if i < 0:
                return t, -1, -1
            if lacks(K, i):
                return t, i, -1
            j = best_partner(K, diagonal, ascent, i, tau)
            if j < 0:                                          # line 2
                return t, -1, -1
        else:
            i, j = best_single(diagonal, ascent, tau)
            if i < 0 and j < 0:
                return t, -1, -1
        if lacks(K, i) or lacks(K, j):
            return t, i, j
        take_step(K, diagonal, ascent, box, i, j)              # line 3
    return steps, -1, -1


@inlined
def violating_with(ascent, box, k, is_free, tau):  # type: ignore[no-untyped-def]
    """Return who PROCESS(k) raises and whom it lowers; (-1, -1) if it bails out.

    A row that does not violate but leaves less room for the bias becomes a member all the same.
    """
    _, r, up, down = ascent
    if up[k] > -np.inf or down[k] < np.inf:                    # [BEWB05] PROCESS, line 1: k in S
        return -1, -1
    is_positive = box.high[k] > 0.0
    i, j, top, bottom = -1, -1, 0.0, 0.0
    if is_free:                                                # line 3
        i, j = dearest(ascent), cheapest(ascent)
        top, bottom = r[i] if i >= 0 else -np.inf, r[j] if j >= 0 else np.inf
    if is_positive and r[k] - bottom > tau:                    # line 4: a tau-violating pair?
        return k, j
    if not is_positive and top - r[k] > tau:
        return i, k
    if top < bottom - TIE and (r[k] > top + TIE if is_positive else r[k] < bottom - TIE):
        set_price(ascent, box, k)
    return -1, -1


@inlined
def dearest(ascent):  # type: ignore[no-untyped-def]
    """Return the member that pays most to raise; -1 if none can rise."""
    best, top = -1, -np.inf
    for s in range(len(ascent.r)):
        if ascent.r[s] + ascent.up[s] > top + TIE:
            best, top = s, ascent.r[s] + ascent.up[s]
    return best


@inlined
def cheapest(ascent):  # type: ignore[no-untyped-def]
    """Return the member that costs least to lower; -1 if none can fall."""
    best, bottom = -1, np.inf
    for s in range(len(ascent.r)):
        if ascent.r[s] + ascent.down[s] < bottom - TIE:
            best, bottom = s, ascent.r[s] + ascent.down[s]
    return best


@inlined
def best_partner(K, diagonal, ascent, i, tau):  # type: ignore[no-untyped-def]
    """Return whom to lower while i rises, by the gain of the exact step; -1 if nothing violates."""
    r, down = ascent.r, ascent.down
    best, most, bottom = -1, 0.0, np.inf                       # [FCL05] WSS 3
    for s in range(len(r)):
        price = r[s] + down[s]
        bottom = min(bottom, price)
        v = r[i] - price
        if v > 0.0:
            curvature = diagonal[i] + diagonal[s] - 2.0 * at(K, i, s)
            gain = v * v / max(curvature, FLAT * diagonal[i], TINY)  # j = argmin -b_ij^2 / a_ij
            if gain > most * (1.0 + TIE):
                best, most = s, gain
    return best if r[i] - bottom > tau else -1


@inlined
def best_single(diagonal, ascent, tau):  # type: ignore[no-untyped-def]
    """Return the member to raise, or the one to lower, whose exact step gains most."""
    best, most, worst = -1, 0.0, 0.0
    for s in range(len(ascent.r)):
        v = max(ascent.r[s] + ascent.up[s], -(ascent.r[s] + ascent.down[s]))
        if v > 0.0:
            worst = max(worst, v)
            gain = v * v / max(diagonal[s], FLAT)
            if gain > most * (1.0 + TIE):
                best, most = s, gain
    if worst <= tau:
        return -1, -1
    return (best, -1) if ascent.r[best] > 0.0 else (-1, best)


@inlined
def take_step(K, diagonal, ascent, box, i, j):  # type: ignore[no-untyped-def]
    """Raise beta_i and lower beta_j by the exact step; either may be -1."""
    beta, r, _, _ = ascent
    violation, curvature, room, scale = 0.0, 0.0, np.inf, 0.0
    if i >= 0:
        violation, curvature, scale = r[i], diagonal[i], diagonal[i]
        room = room_above(beta[i], box.high[i])
    if j >= 0:
        violation, curvature = violation - r[j], curvature + diagonal[j]
        room, scale = min(room, room_below(beta[j], box.low[j])), max(scale, diagonal[j])
    if i >= 0 and j >= 0:
        curvature -= 2.0 * at(K, i, j)
    step = min(violation / max(curvature, FLAT * scale, TINY), room)
    if i >= 0:                                                 # [BEWB05] `step` is its lambda
        move(ascent, box, i, step)                             # alpha_i <- alpha_i + lambda
    if j >= 0:
        move(ascent, box, j, -step)                            # alpha_j <- alpha_j - lambda
    if i >= 0 and j >= 0:                                      # g_s <- g_s - lambda (K_is - K_js)
        for s in range(len(r)):
            r[s] -= step * (at(K, i, s) - at(K, j, s))
    elif i >= 0:
        for s in range(len(r)):
            r[s] -= step * at(K, i, s)
    else:
        for s in range(len(r)):
            r[s] += step * at(K, j, s)


@compiled
def forget(ascent, is_free):  # type: ignore[no-untyped-def]
    """Take out of S who has beta = 0, does not violate with anybody and does not bound the bias."""
    beta, r, up, down = ascent                                 # [BEWB05] REPROCESS, line 4
    top, bottom = extremes(ascent) if is_free else (0.0, 0.0)
    has_room = top < bottom - TIE
    for s in range(len(r)):
        pays, costs = r[s] + up[s], r[s] + down[s]
        if beta[s] == 0.0 and pays <= bottom + TIE and costs >= top - TIE:
            if not (has_room and (pays >= top - TIE or costs <= bottom + TIE)):
                up[s], down[s] = -np.inf, np.inf


@compiled
def extremes(ascent):  # type: ignore[no-untyped-def]
    """Return what it pays most to raise a member, and costs least to lower one."""
    top, bottom = -np.inf, np.inf
    for s in range(len(ascent.r)):
        top = max(top, ascent.r[s] + ascent.up[s])
        bottom = min(bottom, ascent.r[s] + ascent.down[s])
    return top, bottom


def bias(ascent: Any) -> float:
    """Return the middle of the interval for the bias; with one class in S, its only end."""
    ends = [end for end in extremes(ascent) if np.isfinite(end)]
    return float(sum(ends) / len(ends)) if ends else 0.0       # [BEWB05] b <- (g_i + g_j) / 2
