"""The slack-constrained problem of the batch perceptron, and its bridge to the regularised one.

    maximise   f(w) = max_xi min_i y_i <w, phi_i> + xi_i,   ||w|| <= 1, xi >= 0, sum_i xi_i <= n nu
             = min_p p.c(w) + n nu max p                            p a distribution over the rows

so that  U(p) = ||sum_i p_i y_i phi_i|| + n nu max p  is never below the optimum, whatever p. For
||w|| = 1, gamma = f(w), q = max p  and  lam = gamma ||sum_i p_i y_i phi_i|| / (n q)

    P_lam(w / gamma) - D_lam(p / q) = (U(p) - gamma) / (n q gamma)

For ||w|| < 1 divide lam by ||w||; the gap is then smaller. nu grows with lam from 0 (rows that can
be separated; otherwise from a nu below which w has room in the ball, and lam is 0).

Free bias: p needs mass 1/2 on each class, and water stands as over the half sums of the j-th lowest
responses of both classes, each of them twice. Derived in docs/mathematics.md, section 13.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Problem (2.3), Lemma 2.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray

LEAST = 1e-12  # of U(p): a norm of less counts as this, so that lam is not 0


class Basin(NamedTuple):
    """Columns that water stands over: their heights in ascending order, each `times` times."""

    heights: FloatArray
    times: int

    def times_height(self, s: float) -> Basin:
        """Return the basin with all heights multiplied by s >= 0."""
        return Basin(s * self.heights, self.times)


class SlackBounds(NamedTuple):
    """What w and p tell: value f(w) <= optimum <= bound U(p), and the lam they are a pair for."""

    value: float
    bound: float
    lam: float


def basin(c: FloatArray, y: FloatArray, is_free: bool) -> Basin:
    """Return the columns of responses c; with a free bias, those at the best bias."""
    if not is_free:
        heights, times = np.sort(c), 1
    else:
        plus, minus = np.sort(c[y > 0.0]), np.sort(c[y <= 0.0])
        m = min(len(plus), len(minus))
        heights, times = 0.5 * (plus[:m] + minus[:m]), 2
    return Basin(heights, times)


def level(columns: Basin, volume: float) -> float:
    """Return the water level: it is never higher than over the lowest k columns alone."""
    sums, ranks = np.cumsum(columns.heights), np.arange(1, len(columns.heights) + 1)
    return float(np.min((volume / columns.times + sums) / ranks))


def volume_below(columns: Basin, gamma: float) -> float:
    """Return the volume of water that stands up to gamma."""
    return columns.times * float(np.maximum(0.0, gamma - columns.heights).sum())


def distribution(p: FloatArray, y: FloatArray, is_free: bool) -> FloatArray:
    """Return non-negative masses p as a distribution, with a free bias of mass 1/2 on each class.

    All zeros if there is no mass to share out.
    """
    parts = [y > 0.0, y <= 0.0] if is_free else [np.ones(len(y), dtype=bool)]
    totals = [float(p[part].sum()) for part in parts]
    found = np.zeros(len(p))
    if min(totals) > 0.0:
        for part, total in zip(parts, totals, strict=True):
            found[part] = p[part] / (len(parts) * total)
    return found


def balanced(b: FloatArray, y: FloatArray) -> FloatArray:
    """Return duals b with those of the heavier class shrunk until both classes weigh the same."""
    plus, minus = float(b[y > 0.0].sum()), float(b[y <= 0.0].sum())
    least = min(plus, minus)
    return b * np.where(y > 0.0, least / (plus or 1.0), least / (minus or 1.0))


# ---- the adversary's distribution, capped


class Curve(NamedTuple):
    """How min(1, theta p) grows with theta on some rows, from 0 to the last row that reaches 1.

    `mass` is its sum and `response` its product with c, at each theta; both are linear between.
    """

    rows: Any
    theta: FloatArray
    mass: FloatArray
    response: FloatArray


def curves(p: FloatArray, c: FloatArray, y: FloatArray, is_free: bool) -> list[Curve]:
    """Return the curve of all rows with p > 0; with a free bias, one for each class."""
    some = p > 0.0
    parts = [some & (y > 0.0), some & (y <= 0.0)] if is_free else [some]
    return [_curve(np.flatnonzero(part), p, c) for part in parts]


def _curve(rows: Any, p: FloatArray, c: FloatArray) -> Curve:
    rows = rows[np.argsort(-p[rows], kind="stable")]
    sizes, responses = p[rows], c[rows]
    theta = 1.0 / sizes
    rest = np.maximum(0.0, sizes.sum() - np.cumsum(sizes))
    products = sizes * responses
    rest_of_products = products.sum() - np.cumsum(products)
    mass = np.arange(1, len(rows) + 1) + theta * rest
    response = np.cumsum(responses) + theta * rest_of_products
    return Curve(rows, *(np.concatenate([[0.0], part]) for part in (theta, mass, response)))


def masses(some: list[Curve]) -> tuple[FloatArray, FloatArray]:
    """Return masses that all curves can have, every bend among them, and their joint response."""
    most = min(float(curve.mass[-1]) for curve in some)
    bends = np.unique(np.concatenate([curve.mass for curve in some]))
    bends = np.append(bends[bends < most], most)
    return bends, np.sum([np.interp(bends, curve.mass, curve.response) for curve in some], axis=0)


def capped(some: list[Curve], mass: float, n: int) -> FloatArray:
    """Return the duals b = min(1, theta p) of this mass, for each curve its own theta."""
    b = np.zeros(n)
    for rows, theta, reached, _ in some:
        caps = theta[1:]  # 1 / p
        b[rows] = np.minimum(1.0, np.interp(mass, reached, theta) / caps) if len(rows) else 0.0
    return b


def best_duals(some: list[Curve], n: int, lam: float, square: float) -> FloatArray:
    """Return the capped b with the largest dual value, as far as the responses of w tell it.

    ||sum_i b_i y_i phi_i|| is at least b.c / ||w||, and close to it when b is close to the optimum:
    so no product with the kernel matrix is needed (docs/mathematics.md, section 13).
    """
    bends, response = masses(some)
    if len(bends) < 2 or not square > 0.0:
        return capped(some, float(bends[-1]), n)
    rise = np.diff(response) / np.diff(bends)
    with np.errstate(divide="ignore", invalid="ignore"):  # between two bends, a parabola
        top = (len(some) * lam * n * square / rise - response[:-1]) / rise
    top = np.clip(np.nan_to_num(top, nan=0.0), 0.0, np.diff(bends))
    found = np.append(bends, bends[:-1] + top)
    at = np.maximum(0.0, np.append(response, response[:-1] + rise * top))
    value = len(some) * found - at**2 / (2.0 * lam * n * square)
    return capped(some, float(found[np.argmax(value)]), n)


def bounds_of(
    gamma: float, length: float, p: FloatArray, square: float, volume: float
) -> SlackBounds:
    """Return what a w of value gamma and norm `length` tells, with p.

    `square` is ||sum_i p_i y_i phi_i||^2; where that is 0, lam would be too, and is a little more.
    """
    q, norm = float(p.max()), np.sqrt(max(0.0, square))
    bound = norm + volume * q
    norm = max(norm, LEAST * bound)
    lam = gamma * norm / (len(p) * q * length) if length > 0.0 and gamma > 0.0 else 0.0
    return SlackBounds(gamma, float(bound), float(lam))
