"""Mirror maps: the geometry in which a learner takes its steps.

A map is a strictly convex psi; weights w have a mirror image theta = grad psi(w), gradients are
subtracted there, and the way back ends in the set:

    mirror(map, set, theta, w)     w = argmin_{w in the set}  psi(w) - <theta, w>
    link(map, w, theta)            theta = grad psi(w)
    dual_square(map, g)            ||g||_*^2, the norm in which its regret bound measures gradients

    Euclidean()    psi = ||w||_2^2 / 2     any set: the projection of theta
    Entropy()      psi = sum_j (w_j/r) log(w_j/r) on the simplex of radius r; on the l1 ball the
                   same of the 2d weights w+ and w-, w = w+ - w-: the signed exponentiated gradient
    PNorm(p)       psi = ||w||_p^2 / 2, 1 < p <= 2: R^d, l1 ball, simplex; near Entropy for p near 1

[KW97]  Kivinen, Warmuth. Exponentiated gradient versus gradient descent for linear predictors.
        Information and Computation 132(1), 1997. The algorithm EG+-.
[Gen03] Gentile. The robustness of the p-norm algorithms. Machine Learning 53, 2003.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import by_tag, distinct
from pegasos.errors import InvalidParameter
from pegasos.online.p_norm import p_norm_image, p_norm_point
from pegasos.online.sets import Everywhere, L1Ball, Simplex, project
from pegasos.problem.scaling import is_number, shown


@distinct
class Euclidean(NamedTuple):
    """psi(w) = ||w||^2 / 2."""


@distinct
class Entropy(NamedTuple):
    """psi(w) = sum_j (w_j/r) log(w_j/r), of 2d signed weights on the l1 ball."""


@distinct
class PNorm(NamedTuple):
    """psi(w) = ||w||_p^2 / 2, 1 < p <= 2."""

    p: float


def p_for(d: int) -> float:
    """Return the p that suits d features: 2 log d / (2 log d - 1), at most 2 [Gen03].

    Examples
    --------
    >>> from pegasos.online import p_for
    >>> round(p_for(1000), 2)
    1.08
    """
    q = max(2.0, 2.0 * math.log(max(d, 2)))
    return q / (q - 1.0)


def checked_map(mirror_map: Any, within: Any) -> Any:
    """Return the map; refuse what is none, and a set that it has no way back into."""
    if isinstance(mirror_map, Euclidean):
        return mirror_map
    if isinstance(mirror_map, Entropy):
        if not isinstance(within, L1Ball | Simplex):
            raise InvalidParameter(
                f"Entropy needs L1Ball or Simplex as its set; got {within!r}. It has no "
                "logarithm outside of them; use Euclidean."
            )
        return mirror_map
    if not isinstance(mirror_map, PNorm):
        raise InvalidParameter(
            f"the mirror map must be Euclidean(), Entropy() or PNorm(p); got {mirror_map!r}."
        )
    p = mirror_map.p
    if not is_number(p) or not 1.0 < p <= 2.0:
        raise InvalidParameter(f"PNorm needs 1 < p <= 2; got p={shown(p)}. p=2 is Euclidean.")
    if not isinstance(within, Everywhere | L1Ball | Simplex):
        raise InvalidParameter(
            f"PNorm goes with Everywhere, L1Ball and Simplex; got {within!r}. Use Euclidean there."
        )
    return PNorm(float(p))


@by_tag
def mirror(mirror_map: Any, within: Any, theta: Any, w: Any) -> None:
    """Write argmin_{w in the set} psi(w) - <theta, w> into w."""


@by_tag
def link(mirror_map: Any, w: Any, theta: Any) -> None:
    """Write grad psi(w) into theta; Entropy leaves theta, known up to a constant, as it is."""


@by_tag
def dual_square(mirror_map: Any, g: Any) -> float:
    """Return the square of g's dual norm."""


@by_tag
def softmax(within: Any, theta: Any, w: Any) -> None:
    """Write the point of least entropy - <theta, w> into w."""


# ---- Euclidean


@mirror.register(Euclidean)
def _(mirror_map, within, theta, w):  # type: ignore[no-untyped-def]
    for j in range(len(theta)):
        w[j] = theta[j]
    project(within, w, theta[:0])


@link.register(Euclidean)
def _(mirror_map, w, theta):  # type: ignore[no-untyped-def]
    for j in range(len(w)):
        theta[j] = w[j]


@dual_square.register(Euclidean)
def _(mirror_map, g):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(g)):
        total += g[j] * g[j]
    return total


# ---- entropy


@mirror.register(Entropy)
def _(mirror_map, within, theta, w):  # type: ignore[no-untyped-def]
    softmax(within, theta, w)


@link.register(Entropy)
def _(mirror_map, w, theta):  # type: ignore[no-untyped-def]
    pass


@dual_square.register(Entropy)
def _(mirror_map, g):  # type: ignore[no-untyped-def]
    largest = 0.0
    for j in range(len(g)):
        largest = max(largest, abs(g[j]))
    return largest * largest


@softmax.register(L1Ball)
def _(within, theta, w):  # type: ignore[no-untyped-def]
    top, total, r = 0.0, 0.0, within.radius
    for j in range(len(theta)):
        top = max(top, r * abs(theta[j]))
    for j in range(len(theta)):
        more, less = math.exp(r * theta[j] - top), math.exp(-r * theta[j] - top)
        total += more + less
        w[j] = more - less  # [KW97] w = w+ - w-
    for j in range(len(theta)):
        w[j] *= within.radius / total


@softmax.register(Simplex)
def _(within, theta, w):  # type: ignore[no-untyped-def]
    top, total = -np.inf, 0.0
    for j in range(len(theta)):
        top = max(top, within.radius * theta[j])
    for j in range(len(theta)):
        w[j] = math.exp(within.radius * theta[j] - top)
        total += w[j]
    for j in range(len(theta)):
        w[j] *= within.radius / total


# ---- p-norm


@mirror.register(PNorm)
def _(mirror_map, within, theta, w):  # type: ignore[no-untyped-def]
    p_norm_point(within, mirror_map.p / (mirror_map.p - 1.0), theta, w)


@link.register(PNorm)
def _(mirror_map, w, theta):  # type: ignore[no-untyped-def]
    p_norm_image(w, mirror_map.p, 0.0, True, theta)


@dual_square.register(PNorm)
def _(mirror_map, g):  # type: ignore[no-untyped-def]
    q, top, total = mirror_map.p / (mirror_map.p - 1.0), 0.0, 0.0
    for j in range(len(g)):
        top = max(top, abs(g[j]))
    if top == 0.0:
        return 0.0
    for j in range(len(g)):
        total += (abs(g[j]) / top) ** q
    norm = top * total ** (1.0 / q)
    return norm * norm
