"""Checks of kernels that users make: matrices that are square, dense and symmetric."""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import CsrRows, Rows, shape
from pegasos.errors import InvalidData
from pegasos.kernel_matrix.blocks import checked_values, matrix
from pegasos.parallel import ranges
from pegasos.problem.kernels import Custom

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
