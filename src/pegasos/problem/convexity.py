"""The tangent test: whether a user's loss is convex and its slope is its slope.

A certificate for a user's loss rests on tangents lying below the loss. Here every tangent on a grid
of scores is compared with the loss at every other score of the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter

FAR = 1e6  # scores beyond FAR (1 + |y|) are never tried
STEEP = 1e3  # a slope above this at FAR counts as unbounded
TARGETS = 5  # targets y on which a loss is tested
NEAR = 1e-3  # relative distance of the nearest points that are compared

Function: TypeAlias = Callable[[float, float], float]


def check_convexity(value: Function, slope: Function, y_sample: Any, name: str = "loss") -> None:
    """Refuse a loss that a tangent exceeds, or that is negative, not finite or overflows.

    Parameters
    ----------
    value, slope : callable
        The two functions of (z, y).
    y_sample : array-like
        Targets; a few of them are tried.
    name : str
        What the message calls the loss.

    Examples
    --------
    >>> check_convexity(lambda z, y: abs(z - y), lambda z, y: 1 if z > y else -1, [0.0, 2.0])
    """
    for y in a_few(y_sample).tolist():
        z = _grid(y)
        values = _table(value, z, y, f"{name}: value")
        if np.any(values < 0.0):
            raise InvalidParameter(
                f"{name}: value must not be negative; value(z={z[values.argmin()]:g}, y={y:g}) = "
                f"{values.min():g}. Add a constant."
            )
        slopes = _table(slope, z, y, f"{name}: slope")
        step = NEAR * (1.0 + np.abs(z))  # a slope that is slightly wrong shows close by only
        everywhere = np.concatenate([z, z - step, z + step])
        heights = _table(value, everywhere, y, f"{name}: value")
        pair = _broken_tangent((z, values, slopes), (everywhere, heights))
        if pair is not None:
            raise InvalidParameter(_blame(value, slope, z, pair, y, name))
        _check_far(value, slope, y, name)


def a_few(y_sample: Any) -> FloatArray:
    """Return the extremes of a sample of targets and a few between them."""
    targets = np.unique(np.asarray(y_sample, dtype=np.float64))
    places = np.linspace(0, len(targets) - 1, min(TARGETS, len(targets)))
    return targets[places.astype(int)]


def _grid(y: float) -> FloatArray:
    """Return scores around 0 and around y, dense where losses bend."""
    reach = np.concatenate([np.linspace(0.0, 2.0, 41), np.geomspace(2.5, 50.0, 8)])
    both = np.concatenate([-reach, reach])
    return np.unique(np.concatenate([both * max(1.0, abs(y)), y + both]))


def _table(function: Function, z: FloatArray, y: float, what: str) -> FloatArray:
    """Return the function at every z; refuse errors and what is not finite."""
    results = np.empty(len(z))
    for i, at in enumerate(z.tolist()):
        try:
            results[i] = function(at, y)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise InvalidParameter(f"{what}(z={at:g}, y={y:g}) raises {error!r}.") from error
        if not np.isfinite(results[i]):
            raise InvalidParameter(f"{what}(z={at:g}, y={y:g}) must be finite; got {results[i]}.")
    return results


def _broken_tangent(
    tangents: tuple[FloatArray, FloatArray, FloatArray], points: tuple[FloatArray, FloatArray]
) -> tuple[float, float] | None:
    """Return where a tangent touches and where it exceeds the loss most, if one does."""
    (z, values, slopes), (others, heights) = tangents, points
    rise = slopes[:, None] * (others[None, :] - z[:, None])
    excess = values[:, None] + rise - heights[None, :]
    breaks = excess > 1e-10 * (values[:, None] + heights[None, :] + np.abs(rise)) + 1e-12
    if not np.any(breaks):
        return None
    i, j = np.unravel_index(np.argmax(np.where(breaks, excess, -np.inf)), breaks.shape)
    return float(z[i]), float(others[j])


def _blame(
    value: Function, slope: Function, z: FloatArray, pair: tuple[float, float], y: float, name: str
) -> str:
    """Say which tangent exceeds the loss, and whether slope or value is to blame."""
    what = (
        f"the tangent at z={pair[0]:g} lies above the loss at z={pair[1]:g} (y={y:g}), so nothing "
        "could be certified."
    )
    for at in (pair[0], *z.tolist()):
        if (found := _mismatch(value, slope, at, y)) is not None:
            return f"{name}: slope does not match value: {what} {found}"
    return f"{name}: not convex: {what} Slope and value do match; choose a convex loss."


def _mismatch(value: Function, slope: Function, z: float, y: float) -> str | None:
    """Compare slope with differences of value to both sides; return what is wrong, if anything."""
    h = 1e-5 * (1.0 + abs(z))
    here, claimed = value(z, y), slope(z, y)
    left, right = (here - value(z - h, y)) / h, (value(z + h, y) - here) / h
    margin = 1e-3 * (abs(left) + abs(right)) + 1e-6
    if min(left, right) - margin <= claimed <= max(left, right) + margin:
        return None
    return (
        f"slope(z={z:g}, y={y:g}) = {claimed:.6g}, but differences of value give {left:.6g} to the "
        f"left and {right:.6g} to the right."
    )


def _check_far(value: Function, slope: Function, y: float, name: str) -> None:
    """Refuse a loss that overflows although its slope stays small."""
    for reach in (-FAR, -1e3, 1e3, FAR):
        z = reach * (1.0 + abs(y))
        try:
            v, g = float(value(z, y)), float(slope(z, y))
        except OverflowError:  # uncompiled code only: compiled, it is an infinity
            continue
        if np.isnan(v) or np.isnan(g) or (np.isinf(v) and abs(g) < STEEP):
            raise InvalidParameter(
                f"{name} overflows: value(z={z:g}, y={y:g}) = {v} and slope = {g}. Rearrange it so "
                "that exp is taken of negative numbers only."
            )
