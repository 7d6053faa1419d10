"""The width of kernels: what gamma="scale" and gamma="auto" stand for.

    "scale"   1 / (d var(X)),   the variance being that of all n d entries, zeros included
    "auto"    1 / d

as in scikit-learn, but in float64 whatever the type of X, and without a copy of X.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import CsrRows, DenseRows, FloatArray, Rows, as_rows, shape, stored_values
from pegasos.errors import InvalidParameter
from pegasos.problem.scaling import positive

VALUES = 1 << 17  # entries widened to float64 at once


def check_gamma(gamma: Any) -> None:
    """Refuse what is neither "scale" nor "auto" nor a positive, finite number."""
    if not isinstance(gamma, str) or gamma not in ("scale", "auto"):
        positive(gamma, "gamma", 'Or use "scale", 1 / (d var(X)), or "auto", 1 / d.')


def resolved_gamma(gamma: Any, rows_or_X: Any, sample_weight: FloatArray | None = None) -> float:
    """Return gamma as a number.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        As the user gave it.
    rows_or_X : DenseRows, CsrRows, ndarray or CSR matrix
        Validated data; read for "scale" only.
    sample_weight : ndarray of shape (n,), optional
        A weight of k counts a row k times in the variance.

    Returns
    -------
    gamma : float
        Positive and finite; 1.0 for "scale" where the variance of X is 0.

    Examples
    --------
    >>> X = np.array([[0.0, 2.0], [4.0, 6.0]])  # the entries have variance 5
    >>> resolved_gamma("scale", X), resolved_gamma("auto", X), resolved_gamma(3, X)
    (0.1, 0.5, 3.0)
    """
    check_gamma(gamma)
    if not isinstance(gamma, str):
        return float(gamma)
    rows = rows_or_X if isinstance(rows_or_X, DenseRows | CsrRows) else as_rows(rows_or_X)
    d = shape(rows)[1]
    if gamma == "auto":
        return 1.0 / d
    spread = d * variance(rows, sample_weight)
    if spread == 0.0:
        return 1.0
    if not np.finfo(np.float64).tiny <= spread < np.inf:
        raise InvalidParameter(
            f'gamma="scale" is 1 / (d var(X)), but d var(X) = {spread:g} is out of range. Rescale '
            "X, for instance by StandardScaler, or give gamma as a number."
        )
    return 1.0 / spread


def variance(rows: Rows, sample_weight: FloatArray | None = None) -> float:
    """Return the variance of all entries, zeros included; exactly 0 where all are equal.

    A weight of k counts a row k times, so that a weight of 0 is the same as no row.
    """
    n, d = shape(rows)
    stored = rows.data[: int(rows.indptr[-1])] if isinstance(rows, CsrRows) else rows.X
    if stored.size == 0:
        return 0.0
    total = d * (float(n) if sample_weight is None else float(sample_weight.sum()))
    # Taken about an entry, the mean of equal entries is that entry, without rounding.
    about = float(stored.flat[0])
    with np.errstate(over="ignore", invalid="ignore"):
        weight, first = _sums(rows, sample_weight, about, 1)
        mean = about + (first - (total - weight) * about) / total
        weight, second = _sums(rows, sample_weight, mean, 2)
        return float((second + (total - weight) * mean * mean) / total)


def _sums(rows: Rows, weights: FloatArray | None, about: float, power: int) -> tuple[Any, Any]:
    """Sum s_i and s_i (entry - about)^power over all stored entries, some rows at a time."""
    n, _ = shape(rows)
    is_sparse = isinstance(rows, CsrRows)
    length = max(1, VALUES * n // max(1, stored_values(rows)))
    weight = total = np.float64(0.0)
    for start in range(0, n, length):
        stop = min(n, start + length)
        if is_sparse:
            first, last = int(rows.indptr[start]), int(rows.indptr[stop])
            entries = rows.data[first:last]
        else:
            entries = rows.X[start:stop]
        deviations = np.subtract(entries, about, dtype=np.float64)
        if power == 2:
            np.square(deviations, out=deviations)
        if weights is None:
            weight += entries.size
        else:
            s = weights[start:stop]
            s = np.repeat(s, np.diff(rows.indptr[start : stop + 1])) if is_sparse else s[:, None]
            deviations *= s
            weight += s.sum() * (1 if is_sparse else entries.shape[1])
        total += deviations.sum()
    return weight, total
