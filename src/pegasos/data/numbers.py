"""Numbers that users pass beside the rows, and how large any number may be.

Limits are far from those of float64, so that no product of two or three of them overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, is_sparse
from pegasos.errors import InvalidData, InvalidType

LEAST, MOST = 1e-100, 1e100  # of weights, targets and penalties; the squares of X sum to MOST^2


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array with masked values: its mask would be lost."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise InvalidData(
            f"{name} has {count} masked values. Fill them, for instance by {name}.filled(0), or "
            "leave their rows out."
        )


def check_targets(y: Any, *, may_be_sparse: bool = True) -> None:
    """Refuse what is no array of targets, and missing values among objects, naming y."""
    refuse_masked(y, "y")
    if is_sparse(y):
        if not may_be_sparse:
            raise InvalidType("y is sparse; targets must be a dense array. Use y.toarray().")
        return
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise InvalidData(f"y must hold one value per row of X: {error}") from error
    if values.ndim == 0 and y is not None:
        raise InvalidData(f"y must be an array with one value per row of X; got y={y!r}.")
    if values.dtype == object and y is not None:
        at = next((i for i, value in enumerate(values.ravel()) if _is_missing(value)), None)
        if at is not None:
            raise InvalidData(
                f"Input y contains NaN or None: y[{at}] is {values.ravel()[at]!r}. Remove the row."
            )


def _is_missing(value: Any) -> bool:
    """Whether an object stands for no value: None, NaN, or what pandas has for it."""
    is_nan = isinstance(value, float | np.floating) and bool(value != value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def checked_numbers(y: Any) -> FloatArray:
    """Return targets as contiguous float64; refuse what is no number, or none within limits."""
    y = np.asarray(y)
    try:
        if y.dtype.kind not in "fiubO":
            raise TypeError
        with np.errstate(over="ignore"):
            numbers = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidData(
            f"y must hold numbers; got values such as {example(y)!r}. A classifier takes labels "
            "of any type; dates can be turned into days since the first one."
        ) from None
    is_good = np.abs(numbers) <= MOST
    if not np.all(is_good):
        i = int(np.argmin(is_good))
        raise InvalidData(
            f"y must hold finite numbers from {-MOST:g} to {MOST:g}; y[{i}] is {y.tolist()[i]!r}. "
            "Remove such rows, or rescale y."
        )
    return numbers


def example(values: Any) -> Any:
    """Return one of the values that is no number, if there is one of a kind that tells."""
    known = values.ravel().tolist()
    numbers = (v for v in known if not isinstance(v, bool | int | float) or abs(v) > MOST)
    return next(numbers, known[0])


def checked_weights(sample_weight: Any, n: int) -> FloatArray | None:
    """Return sample weights as float64 of shape (n,), or None where all are 1."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "fiubO":
            raise TypeError(f"got type {given.dtype}")
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidData(f"sample_weight must hold numbers, one per row of X: {error}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InvalidData(
            f"sample_weight.shape == {weights.shape}, expected ({n},): one weight per row of X."
        )
    if not np.all(np.isfinite(weights)):
        raise InvalidData(
            "sample_weight contains NaN or infinity. Use 0 for rows that are not to count."
        )
    if np.any(weights < 0):
        raise InvalidData(
            f"Negative values in data passed to sample_weight: weights must not be negative; the "
            f"least is {weights.min():g}. A weight of 0 removes a row."
        )
    if not np.any(weights > 0):
        raise InvalidData("sample_weight is zero for every row: there is nothing to fit.")
    check_sum(weights, "sample_weight")
    return weights


def check_sum(weights: FloatArray, name: str) -> None:
    """Refuse weights whose sum is so large or small that products with it overflow."""
    with np.errstate(over="ignore"):
        S = float(weights.sum())
    if not LEAST <= S <= MOST:
        raise InvalidData(
            f"{name} sums to {S:g}; the sum must lie between {LEAST:g} and {MOST:g}. Divide "
            f"{name} by its mean."
        )
