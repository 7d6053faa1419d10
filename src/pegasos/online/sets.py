"""Convex sets to play in, and the nearest point of each.

A set is a tag (`dispatch`), so that compiled loops take any of them:

    Everywhere()         all of R^d
    L2Ball(radius)       ||w||_2 <= radius
    L1Ball(radius)       ||w||_1 <= radius
    Simplex(radius)      w >= 0, sum_j w_j = radius
    Box(low, high)       low <= w_j <= high for every j

`project` finds the nearest point in the norm sum_j h_j (w_j - v_j)^2, with h = 1 the Euclidean one:
exact but for rounding, in O(d).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled, distinct
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online.water_level import cut_to, scale_to
from pegasos.problem.scaling import is_number, positive, shown

NO_NORM = np.empty(0)  # stands for h = 1


@distinct
class Everywhere(NamedTuple):
    """All of R^d."""


@distinct
class L2Ball(NamedTuple):
    """||w||_2 <= radius."""

    radius: float


@distinct
class L1Ball(NamedTuple):
    """||w||_1 <= radius."""

    radius: float


@distinct
class Simplex(NamedTuple):
    """w >= 0 and sum_j w_j = radius."""

    radius: float = 1.0


@distinct
class Box(NamedTuple):
    """low <= w_j <= high."""

    low: float = -1.0
    high: float = 1.0


SETS: dict[str, Any] = {
    "all": Everywhere, "l2": L2Ball, "l1": L1Ball, "simplex": Simplex, "box": Box,
}  # fmt: skip


def checked_set(within: Any) -> Any:
    """Return the set with float64 fields; refuse what is no set, or an empty one."""
    if not isinstance(within, tuple(SETS.values())):
        names = ", ".join(kind.__name__ for kind in SETS.values())
        raise InvalidParameter(f"the set must be one of {names}; got {within!r}.")
    if isinstance(within, Box):
        is_fine = all(is_number(side) and math.isfinite(side) for side in within)
        if not is_fine or not within.low < within.high:
            raise InvalidParameter(
                f"a Box needs finite numbers low < high; got low={shown(within.low)} and "
                f"high={shown(within.high)}."
            )
    elif isinstance(within, L2Ball | L1Ball | Simplex):
        positive(within.radius, "radius", "It bounds the norm of the weights.")
    sides: Any = within
    return type(within)(*[float(side) for side in sides])


@by_tag
def project(within: Any, v: Any, h: Any) -> None:
    """Move v to the nearest point of the set, in place; an empty h stands for ones."""


@project.register(Everywhere)
def _(within, v, h):  # type: ignore[no-untyped-def]
    pass


@project.register(L2Ball)
def _(within, v, h):  # type: ignore[no-untyped-def]
    scale_to(v, h, within.radius)


@project.register(L1Ball)
def _(within, v, h):  # type: ignore[no-untyped-def]
    cut_to(v, h, within.radius, True)


@project.register(Simplex)
def _(within, v, h):  # type: ignore[no-untyped-def]
    cut_to(v, h, within.radius, False)


@project.register(Box)
def _(within, v, h):  # type: ignore[no-untyped-def]
    for j in range(len(v)):  # one coordinate does not see another, whatever h
        v[j] = min(within.high, max(within.low, v[j]))


@compiled
def _project(within, v, h):  # type: ignore[no-untyped-def]
    project(within, v, h)


def nearest(within: Any, v: Any, h: Any = None) -> FloatArray:
    """Return the point of a set that is nearest to v.

    Parameters
    ----------
    within : Everywhere, L2Ball, L1Ball, Simplex or Box
        The set.
    v : array-like of shape (d,)
        The point to project; it is left as it is.
    h : array-like of shape (d,), optional
        Positive weights of the norm sum_j h_j (w_j - v_j)^2; all 1 by default.

    Returns
    -------
    w : ndarray of shape (d,)
        The projection.

    Examples
    --------
    >>> from pegasos.online import L1Ball, nearest
    >>> nearest(L1Ball(1.0), [0.8, -0.6, 0.1])
    array([ 0.6, -0.4,  0. ])
    """
    w = np.array(v, dtype=np.float64)
    norm = NO_NORM if h is None else np.array(h, dtype=np.float64)
    if w.ndim != 1 or len(w) == 0 or not np.all(np.isfinite(w)):
        raise InvalidData(f"v must be a vector of finite numbers; got shape {w.shape}: {v!r}.")
    if h is not None and (norm.shape != w.shape or not np.all((norm > 0) & np.isfinite(norm))):
        raise InvalidData(f"h must hold a positive number for each of the {len(w)} entries of v.")
    _project(checked_set(within), w, norm)
    return w
