"""Curves compared: values at given places, slopes, shares of an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def at(x: Sequence[float] | Floats, y: Sequence[float] | Floats, places: Floats) -> Floats:
    """Return the last value of y known at each place; nan before the first."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.searchsorted(x, places, side="right") - 1
    return np.where(known >= 0, y[np.maximum(known, 0)], np.nan)


def share_below(
    one: tuple[Floats, Floats], other: tuple[Floats, Floats], points: int = 200
) -> float:
    """Return the share of a common logarithmic axis on which one curve is at or below another.

    From the first place that either curve knows to the last that both do; a curve that is not
    known yet lies above everything.
    """
    low = min(one[0][one[0] > 0].min(), other[0][other[0] > 0].min())
    high = max(low * (1 + 1e-9), min(one[0].max(), other[0].max()))
    places = np.geomspace(low, high, points)
    first, second = (np.nan_to_num(at(*curve, places), nan=np.inf) for curve in (one, other))
    is_known = np.isfinite(first) | np.isfinite(second)
    return float(np.mean((first <= second)[is_known]))


def slope(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float:
    """Return the slope of the line through log y against log x, all positive.

    Infinite if a y is: what never arrived has no line.
    """
    if not np.all(np.isfinite(y)):
        return float("inf")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def spread(values: Sequence[float]) -> float:
    """Return the largest over the smallest."""
    return max(values) / min(values)


def times(value: float, base: float) -> str:
    """Write how many times the base a value is; infinite ones were not reached."""
    if not np.isfinite(base):
        return "(the other never arrives)"
    return f"{value / base:.2g}x" if np.isfinite(value) else "never arrives"
