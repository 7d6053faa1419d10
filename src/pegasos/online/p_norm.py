"""The way back of the p-norm map: argmin over a set of ||w||_p^2 / 2 - <theta, w>.

Without a set it is w = sign(theta) |theta|^(q-1) ||theta||_q^(2-q), 1/p + 1/q = 1. On the l1 ball
and the simplex the multiplier of the constraint is a level that theta is cut by first; the sum of
the weights falls as it rises, so bisection finds it to the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.dispatch import apart, by_tag
from pegasos.online.sets import Everywhere, L1Ball, Simplex

HALVINGS = 200  # ends earlier, when no float lies between the bounds


@apart
def p_norm_image(theta, q, mu, both_signs, w):  # type: ignore[no-untyped-def]
    """Write sign(u) |u|^(q-1) ||u||_q^(2-q), u = theta cut by mu, into w; return ||w||_1."""
    top = 0.0
    for j in range(len(theta)):
        u = abs(theta[j]) if both_signs else theta[j]
        top = max(top, u - mu)
    if not top > 0.0:
        w[:] = 0.0
        return 0.0
    powers, total = 0.0, 0.0
    for j in range(len(theta)):
        u = (abs(theta[j]) if both_signs else theta[j]) - mu
        share = max(0.0, u) / top
        w[j] = math.copysign(share ** (q - 1.0), theta[j] if both_signs else 1.0)
        powers += share**q
    factor = top * powers ** ((2.0 - q) / q)
    for j in range(len(theta)):
        w[j] *= factor
        total += abs(w[j])
    return total


@apart
def p_norm_cut(theta, q, r, both_signs, low, high, w):  # type: ignore[no-untyped-def]
    """Find the level between low and high for which ||w||_1 = r; it falls as the level rises."""
    for _ in range(HALVINGS):
        mu = 0.5 * (low + high)
        if not low < mu < high:
            break
        if p_norm_image(theta, q, mu, both_signs, w) > r:
            low = mu
        else:
            high = mu
    p_norm_image(theta, q, high, both_signs, w)


@by_tag
def p_norm_point(within: Any, q: float, theta: Any, w: Any) -> None:
    """Write the point of least ||w||_p^2 / 2 - <theta, w> into w, 1/p + 1/q = 1."""


@p_norm_point.register(Everywhere)
def _(within, q, theta, w):  # type: ignore[no-untyped-def]
    p_norm_image(theta, q, 0.0, True, w)


@p_norm_point.register(L1Ball)
def _(within, q, theta, w):  # type: ignore[no-untyped-def]
    if p_norm_image(theta, q, 0.0, True, w) > within.radius:
        top = 0.0
        for j in range(len(theta)):
            top = max(top, abs(theta[j]))
        p_norm_cut(theta, q, within.radius, True, 0.0, top, w)


@p_norm_point.register(Simplex)
def _(within, q, theta, w):  # type: ignore[no-untyped-def]
    top = -np.inf
    for j in range(len(theta)):
        top = max(top, theta[j])
    # The largest entry alone has the image top - mu: at this level the sum is r or more.
    p_norm_cut(theta, q, within.radius, False, top - within.radius, top, w)
