"""Newton steps towards the best fixed point, whatever the units of the columns.

Both sides of the saddle point are smoothed around dual numbers at hand, a_i of the rows and m of
the set:

    minimise over u   sum_i p_i max_c [gain(c) - c z_i - q/2 (c - a_i)^2]        z = X u
                      + min_{v in the set} [lam/2 ||v||^2 + sum_j h_j/2 (u_j + m_j/h_j - v_j)^2]

has a gradient, m_new - V(c), with the best c (`dual_step`), the best v (`prox`) and the multiplier
m_new = h (u + m/h - v), a normal of the set at v up to lam v. Where it vanishes, v and c have the
gap sum_i p_i gap_term(<v, x_i>, c_i): an augmented Lagrangian, whose minimum is found by Newton's
method ([LST18]); then c and m_new take the places of a and m, with less smoothing. Columns count in
units of their root mean square: h_j = sharpness scale_j^2. `directions` solves the equations.

[LST18]  Li, Sun, Toh. A highly efficient semismooth Newton augmented Lagrangian method for solving
         Lasso problems. SIAM J. Optim. 28(1), 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.online.directions import Curvature
from pegasos.online.proximal import curvature, prox
from pegasos.online.saddle import Pair, Saddle, dual_steps
from pegasos.online.tally import inner, length
from pegasos.parallel import one_blas_thread
from pegasos.problem.losses import response

STEPS = 30  # for one smoothing, at most
CLOSE = 1e-4  # of a gradient at which a smoothed problem counts as solved
FAIR = 0.03  # a gradient with which a smoothed problem is left after STEPS in any case
ROUNDING = 1e-13  # no gradient in units of the columns is made smaller
SHARPER = 3.0  # from one smoothing to the next
SHARPEST = 1e6
SMOOTHEST = 0.25  # all rows answer but those far on the wrong side
FAINTEST = 1e-8  # with dual numbers next to 0, whose size is that of a change worth making
TOO_FAR = 0.5  # of the first slope: a step that ends where it rises by this much is cut


class Smoothed(NamedTuple):
    """One smoothed problem: dual numbers of rows and set at hand, and the width around them."""

    a: FloatArray
    m: FloatArray
    q: float
    h: FloatArray


class Place(NamedTuple):
    """A point u with its scores, and what belongs to them in a smoothed problem."""

    u: FloatArray
    z: FloatArray
    c: FloatArray
    w: FloatArray
    v: FloatArray
    m: FloatArray


Direction: TypeAlias = Callable[[Saddle, Curvature, FloatArray], FloatArray]


def smoothest(saddle: Saddle) -> Smoothed:
    """Return the smoothed problem to begin with where no dual numbers are known."""
    return _smoothed(saddle, np.zeros(saddle.costs.n), np.zeros(len(saddle.scale)), SMOOTHEST)


def smoothed_around(saddle: Saddle, pair: Pair) -> Smoothed:
    """Return the smoothed problem around dual numbers at hand, as wide as they are large."""
    size = math.sqrt(inner(saddle.shares, pair.a * pair.a))
    return _smoothed(saddle, pair.a, pair.V, max(FAINTEST, min(SMOOTHEST, size)))


def _smoothed(saddle: Saddle, a: FloatArray, m: FloatArray, sharpness: float) -> Smoothed:
    return Smoothed(a, m, 1.0 / sharpness, sharpness * saddle.scale**2)


@one_blas_thread
def newton_steps(  # noqa: PLR0913
    saddle: Saddle, u: FloatArray, smoothed: Smoothed, direction: Direction, tol: float, left: int
) -> None:
    """Take so many Newton steps from `u` at most, until the bounds are `tol` apart."""
    scale, sharpness = saddle.scale, 1.0 / smoothed.q
    while left > 0:
        place = _place(saddle, smoothed, u, saddle.scores(u))
        V, enough = saddle.sum(place.c), 0.0
        for k in range(min(STEPS, left)):
            g = (place.m - V) / scale
            enough = enough or max(ROUNDING, CLOSE * length(g))
            if k > 0 and length(g) <= enough:
                break
            place = _moved(saddle, smoothed, direction, place, g)
            V, left = saddle.sum(place.c), left - 1
        u = place.u
        saddle.look(Pair(place.v, saddle.scores(place.v), place.c, V))
        if saddle.is_within(tol):
            break
        if length((place.m - V) / scale) <= FAIR:
            sharpness = min(SHARPEST, SHARPER * sharpness)
            smoothed = _smoothed(saddle, place.c, place.m, sharpness)


def _place(saddle: Saddle, smoothed: Smoothed, u: FloatArray, z: FloatArray) -> Place:
    """Return what belongs to a point and its scores."""
    a, m, q, h = smoothed
    c = a.copy()
    dual_steps(saddle.costs.loss, z, q, saddle.costs.y, c)
    w = u + m / h
    v = prox(saddle.within, w, h, saddle.costs.lam)
    return Place(u, z, c, w, v, h * (w - v))


def _moved(
    saddle: Saddle, smoothed: Smoothed, direction: Direction, place: Place, g: FloatArray
) -> Place:
    """Take a Newton step against the gradient g, both in units of the columns."""
    costs, scale = saddle.costs, saddle.scale
    answers = np.empty(len(place.z))
    write_responses(costs.loss, place.z, smoothed.a, place.c, smoothed.q, costs.y, answers)
    diagonal, side = curvature(saddle.within, place.w, place.v, smoothed.h, costs.lam)
    curved = Curvature(saddle.shares * answers, diagonal / scale**2, side / scale)
    along = -direction(saddle, curved, g) / scale
    along_z = saddle.scores(along)

    start = inner(g * scale, along)
    step = 1.0
    while step > 1e-10:
        new = _place(saddle, smoothed, place.u + step * along, place.z + step * along_z)
        rise = inner(new.m, along) - inner(saddle.shares * new.c, along_z)
        if rise <= -TOO_FAR * start:
            break
        step *= min(0.9, max(0.1, start / (start - rise)))  # where a line would be flat
    u = place.u + step * along
    return _place(saddle, smoothed, u, saddle.scores(u))


@compiled
def write_responses(loss, z, a, c, q, y, out):  # type: ignore[no-untyped-def]
    """Write how fast every row's dual number answers a change of its score."""
    for i in range(len(z)):
        out[i] = response(loss, z[i], a[i], c[i], q, y[i])
