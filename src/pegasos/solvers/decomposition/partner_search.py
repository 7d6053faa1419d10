"""The two loops of SMO over all rows: the best partner of a row, and the residuals after a step.

Each comes in two forms: over all rows, with stretches whose extreme is found many values at a time
before its place is looked up in the best stretch, and over a list of rows.

[FCL05]  Fan, Chen, Lin. Working set selection using second order information for training support
         vector machines. JMLR 6, 2005. WSS 3: with i given, j maximises b_ij^2 / a_ij over
         the rows of I_low with b_ij > 0. Differs: a_ij has a floor that grows with the diagonal,
         not one small number where it is not positive.
"""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import dividing, inlined
from pegasos.numba_private.intrinsics import larger

FLAT = 1e-12  # curvature of a pair, against the diagonal, that counts as none
NONE = 1e-100  # what stands for a curvature of 0, of rows that are 0 in the space of the kernel
STRETCH = 128  # rows


@inlined
def curvature_of(Kii, Kjj, Kij):  # type: ignore[no-untyped-def]
    """Return the curvature along a pair's step, above 0 also where rounding denies it."""
    return max(Kii + Kjj - 2.0 * Kij, FLAT * (abs(Kii) + abs(Kjj)), NONE)


@inlined
def best_partner(row, Kii, diagonal, r, down, top, gains):  # type: ignore[no-untyped-def]
    """Return the row whose exact step with i gains most, or -1, and the least price of any.

    `gains` is room for a number per row: to compare with is quicker than to divide again.
    """
    most, at, bottom = 0.0, -1, np.inf
    for first in range(0, len(r), STRETCH):
        stop = min(len(r), first + STRETCH)
        gain, price = largest_gain(
            row[first:stop], Kii, diagonal[first:stop], r[first:stop], down[first:stop], top,
            gains[first:stop],
        )  # fmt: skip
        bottom = min(bottom, price)
        if gain > most:
            most, at = gain, first
    if at >= 0:
        for k in range(at, min(len(r), at + STRETCH)):
            if gains[k] == most:
                return k, bottom
    return -1, bottom


@dividing
def largest_gain(row, Kii, diagonal, r, down, top, gains):  # type: ignore[no-untyped-def]
    """Return the largest gain of a pair's exact step, twice, and the least price; write gains."""
    most, highest = 0.0, -np.inf
    for k in range(len(r)):
        price, Kkk = r[k] + down[k], diagonal[k]
        highest = larger(-price, highest)                      # [FCL05] M(alpha)
        b = larger(top - price, 0.0)                           # b_ik; a_ik, with a floor
        a = larger(Kii + Kkk - 2.0 * row[k], FLAT * (abs(Kii) + abs(Kkk)) + NONE)
        gains[k] = b * b / a                                   # WSS 3: the largest b^2 / a
        most = larger(gains[k], most)
    return most, -highest


@inlined
def best_partner_among(active, row, Kii, diagonal, r, down, top):  # type: ignore[no-untyped-def]
    """Return the same as `best_partner`, of the rows listed."""
    best, most, bottom = -1, 0.0, np.inf
    for k in active:
        price = r[k] + down[k]
        bottom = min(bottom, price)                            # [FCL05] M(alpha)
        b = top - price                                        # b_ik
        if b > 0.0:
            gain = b * b / curvature_of(Kii, diagonal[k], row[k])  # WSS 3
            if gain > most:
                best, most = k, gain
    return best, bottom


@inlined
def follow(row_i, row_j, step, r, up):  # type: ignore[no-untyped-def]
    """Bring the residuals up to date with a pair's step; return the next one to raise."""
    top, at = -np.inf, 0
    for first in range(0, len(r), STRETCH):
        stop = min(len(r), first + STRETCH)
        pays = update(row_i[first:stop], row_j[first:stop], step, r[first:stop], up[first:stop])
        if pays > top:
            top, at = pays, first
    for k in range(at, min(len(r), at + STRETCH)):
        if r[k] + up[k] == top:
            return k
    return at


@inlined
def update(row_i, row_j, step, r, up):  # type: ignore[no-untyped-def]
    """Subtract what a pair's step changes; return the most that a rise pays."""
    top = -np.inf
    for k in range(len(r)):
        r[k] -= step * (np.float64(row_i[k]) - np.float64(row_j[k]))
        top = larger(r[k] + up[k], top)
    return top


@inlined
def follow_among(active, row_i, row_j, step, r, up):  # type: ignore[no-untyped-def]
    """Do the same as `follow` for the rows listed."""
    best, top = active[0], -np.inf
    for k in active:
        r[k] -= step * (np.float64(row_i[k]) - np.float64(row_j[k]))
        if r[k] + up[k] > top:
            best, top = k, r[k] + up[k]
    return best
