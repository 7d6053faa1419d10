"""Steps that stay in a set: the point that pays best for being near, and how it answers.

    prox(w) = argmin_{u in the set}  lam/2 ||u||^2 + sum_j h_j/2 (u_j - w_j)^2

is a projection in the norm of h + lam. With u = prox(w), h (w - u) is lam u plus a normal of the
set at u. The least value itself, a function of w, is smooth with that gradient; its curvature is
diagonal but for one direction, the one in which the set is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, nearest


def prox(within: Any, w: FloatArray, h: FloatArray, lam: float) -> FloatArray:
    """Return the point of the set with least lam/2 ||u||^2 + sum_j h_j/2 (u_j - w_j)^2."""
    return nearest(within, h * w / (h + lam), h + lam)


def curvature(
    within: Any, w: FloatArray, u: FloatArray, h: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray]:
    """Return a diagonal D and a vector v: the least value has the Hessian D + v v' at w.

    `u` is prox(w). At a kink it is the Hessian of one side.
    """
    free, none = h + lam, np.zeros(len(w))
    v = h * w / free
    if isinstance(within, Everywhere):
        return h - h * h / free, none
    if isinstance(within, Box):
        is_inside = (within.low < v) & (v < within.high)
        return h - np.where(is_inside, h * h / free, 0.0), none
    if isinstance(within, L2Ball):
        if not float(np.einsum("i,i->", v, v)) > within.radius**2:
            return h - h * h / free, none
        j = int(np.argmax(np.abs(u)))
        level = free + max(0.0, h[j] * w[j] / u[j] - free[j])  # u_j = h_j w_j / level_j
        return h - h * h / level, h * u / level / np.sqrt(float((u * u / level).sum()))
    if isinstance(within, L1Ball) and not float(np.abs(v).sum()) > within.radius:
        return h - h * h / free, none
    is_up = u != 0.0  # above the water level
    side = np.sign(u) / np.sqrt(float((is_up / free).sum()))
    return h - np.where(is_up, h * h / free, 0.0), h * side / free
