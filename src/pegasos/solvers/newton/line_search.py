"""How far to go along a direction: to where the slope of the smoothed objective is nearly 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled
from pegasos.solvers.newton.envelope import Smoothing, slopes_along

FLAT = 0.1  # of the slope at its beginning: where a line search ends
TRIALS = 30


class Line(NamedTuple):
    """Scores Z + u D of all rows; the penalty's slope at u is penalty[0] + u penalty[1]."""

    costs: Any
    smoothing: Smoothing
    Z: FloatArray
    D: FloatArray
    S: float
    penalty: tuple[float, float]


class Function(NamedTuple):
    """The same as a function in Python, which may have threads read the rows."""

    rise: Callable[[float], tuple[float, float]]


@by_tag
def rise(line, u):  # type: ignore[no-untyped-def]
    """Return the slope of the smoothed objective at u, and its curvature."""


@rise.register(Function)
def _(line, u):  # type: ignore[no-untyped-def]
    return line.rise(u)


@rise.register(Line)
def _(line, u):  # type: ignore[no-untyped-def]
    span, (first, second) = (0, line.Z.shape[0]), line.penalty
    slope, bend = slopes_along(line.costs, line.smoothing, line.Z, line.D, u, span)
    return first + u * second + slope / line.S, second + bend / line.S


def known_at_0(line: Any, slope: float) -> Function:
    """Return a line whose slope at its beginning is known: a pass over the rows less."""
    return Function(lambda u: (slope, 0.0) if u == 0.0 else line.rise(u))


def search(line: Line | Function) -> float:
    """Return how far to go; the search is the same, compiled where a line allows it."""
    compiled_or_not: Any = line_search
    if isinstance(line, Function):
        compiled_or_not = getattr(line_search, "py_func", line_search)
    return float(compiled_or_not(line))


@compiled
def line_search(line):  # type: ignore[no-untyped-def]
    """Bracket the place where the slope, which rises, crosses 0; Newton's steps within."""
    u, low, high = 1.0, 0.0, math.inf
    start, _ = rise(line, 0.0)
    if start >= 0.0:  # all that is left is rounding
        return 0.0
    for _ in range(TRIALS):
        slope, bend = rise(line, u)
        if abs(slope) <= -FLAT * start:
            break
        low, high = (u, high) if slope < 0.0 else (low, u)
        better = u - slope / bend if bend > 0.0 else math.inf
        if high < math.inf:
            edge = 0.05 * (high - low)
            is_within = low + edge < better < high - edge
            u = better if is_within else 0.5 * (low + high)
        else:
            u = min(max(better, 1.5 * u), 8.0 * u)
    return u
