"""The water level: where to cut weights so that what stands above sums to the radius.

With breakpoints u_j = h_j |v_j| (or h_j v_j) the projections onto the l1 ball and the simplex, in
the norm sum_j h_j (w_j - v_j)^2, are w_j = (u_j - mu)_+ / h_j for the one level mu with

    sum_j (u_j - mu)_+ / h_j = r.

The left-hand side is convex and piecewise linear in mu, so Newton's method from the left never
passes the root and is exact once it has found the right piece ([Mic86] for h = 1). A bisection now
and then bounds the number of passes by the digits of a float: O(d), without sorting or memory.
Levels are counted from the largest breakpoint down, so that a small radius costs no digits.

[Mic86]  Michelot. A finite algorithm for finding the projection of a point onto the canonical
         simplex of R^n. J. Optim. Theory Appl. 50(1), 1986.
"""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import apart, inlined

BISECT = 8  # Newton steps between two bisections
PASSES = 1000  # never reached: a bisection halves the bracket, a Newton step changes the piece


@inlined
def _breakpoint(v, h, j, both_signs):  # type: ignore[no-untyped-def]
    """Return u_j; an empty h stands for ones."""
    x = abs(v[j]) if both_signs else v[j]
    return x * h[j] if len(h) > 0 else x


@inlined
def _piece(v, h, both_signs, top, mu):  # type: ignore[no-untyped-def]
    """Return sum 1/h_j and sum (u_j - top)/h_j over the breakpoints above top + mu."""
    A, B = 0.0, 0.0
    for j in range(len(v)):
        u = _breakpoint(v, h, j, both_signs) - top
        if u > mu:
            c = 1.0 / h[j] if len(h) > 0 else 1.0
            A += c
            B += c * u
    return A, B


@inlined
def _level(v, h, both_signs, top, r):  # type: ignore[no-untyped-def]
    """Return mu - top."""
    A, B = _piece(v, h, both_signs, top, -np.inf)
    mu, high = (B - r) / A, 0.0
    for turn in range(1, PASSES):
        if turn % BISECT == 0:
            middle = 0.5 * (mu + high)
            A, B = _piece(v, h, both_signs, top, middle)
            if B - A * middle >= r:
                mu = middle
            else:
                high = middle
        A, B = _piece(v, h, both_signs, top, mu)
        following = (B - r) / A
        if not following > mu:  # the same piece: its root
            break
        mu = following
    return mu


@apart
def cut_to(v, h, r, both_signs):  # type: ignore[no-untyped-def]
    """Project v onto the l1 ball (`both_signs`) or the simplex of radius r, in place.

    In the norm sum_j h_j (w_j - v_j)^2; an empty h stands for ones.
    """
    top, total = -np.inf, 0.0
    for j in range(len(v)):
        top = max(top, _breakpoint(v, h, j, both_signs))
        total += abs(v[j])
    if both_signs and total <= r:
        return
    mu = _level(v, h, both_signs, top, r)
    for j in range(len(v)):
        u = _breakpoint(v, h, j, both_signs) - top
        c = 1.0 / h[j] if len(h) > 0 else 1.0
        w = c * (u - mu) if u > mu else 0.0
        v[j] = -w if both_signs and v[j] < 0.0 else w


@apart
def scale_to(v, h, r):  # type: ignore[no-untyped-def]
    """Project v onto the l2 ball of radius r, in place, in the norm sum_j h_j (w_j - v_j)^2.

    w_j = h_j v_j / (h_j + mu). Newton's method on 1/||w(mu)|| = 1/r, concave in mu, approaches the
    root from the left; an empty h stands for ones, where w is v scaled.
    """
    norm = 0.0
    for j in range(len(v)):
        norm += v[j] * v[j]
    norm = np.sqrt(norm)
    if norm <= r:
        return
    mu = 0.0
    if len(h) > 0:
        for _ in range(PASSES):
            square, fall = 0.0, 0.0
            for j in range(len(v)):
                w = h[j] * v[j] / (h[j] + mu)
                square += w * w
                fall += w * w / (h[j] + mu)
            norm = np.sqrt(square)
            following = mu + square / fall * (norm - r) / r
            if not following > mu * (1.0 + 1e-15):
                break
            mu = following
        for j in range(len(v)):
            v[j] *= h[j] / (h[j] + mu)
    if norm > r:
        for j in range(len(v)):
            v[j] *= r / norm
