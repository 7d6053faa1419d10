"""Rows as one side of a block of kernel values: prepared once, with the error to expect of values.

A Gaussian of long rows is taken from their mean, or multiplied in double precision, where products
would cost it too many digits; rows that are mostly zeros are compressed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pegasos.data.compress import compressed
from pegasos.data.rows import (
    CsrRows,
    DenseRows,
    FloatArray,
    Rows,
    float_type,
    largest_value,
    longest_row,
    shape,
    square_norms,
)
from pegasos.errors import InvalidData
from pegasos.kernel_matrix.register_sums import STRIP
from pegasos.parallel import each, ranges
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Polynomial,
    Precomputed,
    exponents,
    is_of_distance,
)

LEFT_ROWS = 1024  # rows on the left of a block, at most
SPARSE_LEFT_ROWS = 240  # if they meet rows in CSR form: some strips; see `blocks.sparse_piece`
LEFT_VALUES = 4_000_000  # and their values, as a dense matrix
NORM_ROWS = 8192  # rows whose norms one thread computes at a time
EXACT = 4.0 * float(np.finfo(np.float64).eps)  # error of values that are given
SURE = 1e-5  # error of an exponent above which float32 rows are multiplied in float64
CENTRED = {np.float32: 1e-5, np.float64: 1e-10}  # and above which they are taken from their mean
FEW = 0.3  # share of values that are not 0, below which products of compressed rows are quicker
NARROW = 50  # columns of dense rows: a Gaussian of fewer costs less to compute than to store


class Side(NamedTuple):
    """Rows of one side of a block, and what `kernels.finish` adds for each of them."""

    rows: Rows
    exponents: Any
    precision: Any  # of the products
    centre: Any  # subtracted from rows of both sides, or None; a Gaussian does not change
    error: float  # of a kernel value, against sqrt(K(x, x) K(z, z)): its typical size


def side(
    kernel: Kernel, rows: Rows, like: Side | None = None, precision: Any | None = None
) -> Side:
    """Prepare rows for either side of a block; `like` is the side that they are to meet.

    Kernel values come in the `precision` of the data, unless another one is asked for.
    """
    precision = float_type(rows) if precision is None else np.dtype(precision)
    unit = float(np.finfo(precision).eps)
    if isinstance(kernel, Precomputed):  # the values are the data
        return Side(rows, np.zeros(0, precision), precision, None, EXACT)
    if isinstance(kernel, Custom):  # as exact as a user's function of such rows may be
        unit = float(np.finfo(float_type(rows)).eps)
    if isinstance(kernel, Laplacian) and isinstance(rows, CsrRows):
        # `sparse_distances` starts from a norm: its rounding is that of the norm.
        if kernel.gamma * longest_city_block(rows) * np.finfo(precision).eps > SURE:
            precision = np.dtype(np.float64)
    if not isinstance(kernel, Gaussian):
        error = unit * (4.0 + (kernel.degree if isinstance(kernel, Polynomial) else 0.0))
        if isinstance(kernel, Laplacian):
            error += unit * (
                16.0 if isinstance(rows, DenseRows) else kernel.gamma * longest_city_block(rows)
            )
        return Side(rows, exponents(kernel, np.zeros(0), precision), precision, None, error)
    squares, centre = all_square_norms(rows), None
    if like is not None:
        centre = like.centre
    elif (
        isinstance(rows, DenseRows)
        and kernel.gamma * squares.max(initial=0.0) * unit > (CENTRED[precision.type])
    ):
        centre = rows.X.mean(axis=0, dtype=np.float64)
    if centre is not None and np.isfinite(squares).all():
        squares = centred_square_norms(rows, centre)
    largest = float(squares.max(initial=0.0))
    if not np.isfinite(kernel.gamma * largest):
        raise InvalidData(
            f"Rows are too long for a Gaussian kernel: gamma ||x||^2 = {kernel.gamma * largest:g}. "
            "Scale the columns of X."
        )
    if kernel.gamma * largest * np.finfo(precision).eps > SURE:
        precision = np.dtype(np.float64)
    error = 0.5 * unit + kernel.gamma * largest * float(np.finfo(precision).eps)
    return Side(rows, exponents(kernel, squares, precision), precision, centre, error)


def centred_square_norms(rows: Rows, centre: FloatArray) -> FloatArray:
    """Return ||x_i - centre||^2 of every row."""
    squares = np.empty(shape(rows)[0])
    for first, stop in ranges(len(squares), LEFT_ROWS):
        some = dense(rows, np.arange(first, stop), np.float64) - centre
        squares[first:stop] = np.einsum("ij,ij->i", some, some)
    return squares


def all_square_norms(rows: Rows) -> FloatArray:
    """Return ||x_i||^2 of every row."""
    squares = np.empty(shape(rows)[0])
    each(lambda part: square_norms(rows, *part, squares), ranges(len(squares), NORM_ROWS))
    return squares


def longest_city_block(rows: CsrRows) -> float:
    """Return a bound on sum_j abs(x_ij) over the rows."""
    return largest_value(rows) * longest_row(rows)


def left_rows(rows: Rows) -> int:
    """Return how many rows a block may have on the left, against these on the right."""
    most = max(1, min(LEFT_ROWS, LEFT_VALUES // max(1, shape(rows)[1])))
    if isinstance(rows, CsrRows):
        most, length = min(SPARSE_LEFT_ROWS, most), STRIP // float_type(rows).itemsize
        return most // length * length if most > length else most  # whole strips
    return most


def is_narrow(kernel: Kernel, rows: Rows) -> bool:
    """Whether Gaussian values come at the machine's rate: of dense rows with few columns."""
    is_dense = isinstance(kernel, Gaussian) and isinstance(rows, DenseRows)
    return is_dense and shape(rows)[1] <= NARROW


def quickest(kernel: Kernel, own: Side, room: int) -> Side:
    """Return the side with its rows compressed, where that makes products quicker and fits."""
    is_product = not (is_of_distance(kernel) or isinstance(kernel, Precomputed | Custom))
    is_product &= not is_narrow(kernel, own.rows)
    if isinstance(own.rows, DenseRows) and is_product and own.centre is None:
        rows = compressed(own.rows, FEW, room)
        return own if rows is None else own._replace(rows=rows)
    return own


def matrix(rows: Rows, where: Any) -> Any:
    """Return some rows as the kind of matrix that they came as."""
    if isinstance(rows, CsrRows):
        indices = rows.indices.view(np.int32 if rows.indices.itemsize == 4 else np.int64)
        indptr = rows.indptr.view(np.int32 if rows.indptr.itemsize == 4 else np.int64)
        whole = sparse.csr_matrix((rows.data, indices, indptr), shape=shape(rows), copy=False)
        return whole[where]
    return rows.X[where]


def dense(rows: Rows, chosen: Any, precision: Any) -> Any:
    """Return some rows as a dense matrix of its own."""
    some = matrix(rows, chosen)
    some = some.toarray() if isinstance(rows, CsrRows) else some
    return np.asarray(some, dtype=precision, order="C")
