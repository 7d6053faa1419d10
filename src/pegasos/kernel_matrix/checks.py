"""Checks of kernel values, and of kernels that users make: matrices and functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import CsrRows, Rows, shape
from pegasos.errors import InvalidData
from pegasos.kernel_matrix.side import matrix
from pegasos.parallel import ranges
from pegasos.problem.kernels import Custom, Kernel, Polynomial

ASYMMETRIC = 1e-5  # difference of K and K', against the largest value, that is no rounding


def check_precomputed(rows: Rows) -> None:
    """Refuse a kernel matrix that is sparse, not square or not symmetric."""
    check_dense(rows)
    n, m = shape(rows)
    if n != m:
        raise InvalidData(
            f'kernel="precomputed" needs a square matrix, one row and one column per training row; '
            f"X has shape ({n}, {m})."
        )
    largest = max(float(rows.X.max(initial=0)), -float(rows.X.min(initial=0)))
    for first, stop in ranges(n, max(1, 1_000_000 // n)):
        difference = np.subtract(rows.X[first:stop], rows.X[:, first:stop].T, dtype=np.float64)
        np.abs(difference, out=difference)
        if difference.max() > ASYMMETRIC * largest:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            raise InvalidData(
                f'kernel="precomputed" needs a symmetric matrix; X[{i + first}, {j}] = '
                f"{rows.X[i + first, j]:.6g} but X[{j}, {i + first}] = {rows.X[j, i + first]:.6g}."
            )


def check_dense(rows: Rows) -> None:
    """Refuse a kernel matrix that is sparse."""
    if isinstance(rows, CsrRows):
        raise InvalidData(
            'kernel="precomputed" needs a dense matrix of kernel values; got a sparse one. Use '
            "X.toarray()."
        )


def check_symmetric(kernel: Custom, rows: Rows) -> None:
    """Refuse a function of two matrices that depends on their order."""
    some = matrix(rows, np.arange(min(32, shape(rows)[0])))
    values = checked_values(kernel, some, some)
    difference = np.abs(values - values.T)
    if difference.max() > ASYMMETRIC * np.abs(values).max():
        i, j = np.unravel_index(int(difference.argmax()), difference.shape)
        raise InvalidData(
            f"kernel must be symmetric; of rows {i} and {j} it gives {values[i, j]:.6g} one way "
            f"and {values[j, i]:.6g} the other."
        )


def checked_values(kernel: Custom, A: Any, B: Any) -> Any:
    """Call a user's kernel and refuse what is no matrix of kernel values."""
    try:
        values: Any = kernel.function(A, B)
    except Exception as error:
        raise InvalidData(
            f"kernel raised {error!r} when called with matrices of shapes {A.shape} and {B.shape}. "
            "For a function of two vectors use sklearn.metrics.pairwise_kernels(X, Z, "
            "metric=function)."
        ) from error
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    wanted = (A.shape[0], B.shape[0])
    if values.shape != wanted:
        raise InvalidData(
            f"kernel must return one value per pair of rows: given {A.shape[0]} and {B.shape[0]} "
            f"rows, a matrix of shape {wanted}; it returned shape {values.shape}. For a function "
            "of two vectors use sklearn.metrics.pairwise_kernels(X, Z, metric=function)."
        )
    if values.dtype.kind not in "fiub":
        raise InvalidData(f"kernel must return real numbers; it returned type {values.dtype}.")
    return values


def check_finite(kernel: Kernel, values: Any) -> None:
    """Refuse kernel values that are infinite or not a number."""
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        if isinstance(kernel, Polynomial) and not float(kernel.degree).is_integer():
            raise InvalidData(
                f"A polynomial kernel of fractional degree, {kernel!r}, needs gamma <x, z> + coef0 "
                "of 0 or more for all rows. Use a whole degree or a larger coef0."
            )
        raise InvalidData(
            f"The kernel gives values that are not finite: {kernel!r}. Scale the columns of X, or "
            "lower gamma, coef0 or degree."
        )
