"""Kernel values of pairs of rows, in blocks: matrix products and vectorised functions.

A block has some rows on the left, gathered as a dense matrix, and many on the right, read where
they are:

    dense right    one BLAS product per tile of right rows
    CSR right      per right row, sum_j x_j times the (dense) feature j of all left rows: the left
                   rows are stored side by side, so that this is a vector operation

Then `kernels.finish` makes kernel values of a tile while it is in the processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pegasos.data.rows import (
    CsrRows,
    DenseRows,
    FloatArray,
    Rows,
    float_type,
    shape,
    square_norms,
)
from pegasos.dispatch import compiled
from pegasos.errors import InvalidData
from pegasos.parallel import each, one_blas_thread, ranges
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Polynomial,
    Precomputed,
    exponents,
    finish,
    is_bounded,
    is_of_distance,
    left_factor,
)

LEFT_ROWS = 256  # rows on the left of a block, at most
LEFT_VALUES = 4_000_000  # and their values, as a dense matrix
TILE = 2048  # rows on the right of a tile
PAD = 16  # places between the rows of a tile: a power of two would share cache lines
CHUNK = 65_536  # values that one thread finishes at a time: they fit its cache
SURE = 1e-5  # error of an exponent above which float32 rows are multiplied in float64
CENTRED = {np.float32: 1e-5, np.float64: 1e-10}  # and above which they are taken from their mean


class Side(NamedTuple):
    """Rows of one side of a block, and what `kernels.finish` adds for each of them."""

    rows: Rows
    exponents: Any
    precision: Any  # of the products
    centre: Any  # subtracted from rows of both sides, or None; a Gaussian does not change
    error: float  # of a kernel value, against sqrt(K(x, x) K(z, z)): its typical size


def side(kernel: Kernel, rows: Rows, like: Side | None = None) -> Side:
    """Prepare rows for either side of a block; `like` is the side that they are to meet."""
    precision = float_type(rows)
    unit = float(np.finfo(precision).eps)
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
    each(lambda part: square_norms(rows, *part, squares), ranges(len(squares), TILE))
    return squares


def longest_city_block(rows: CsrRows) -> float:
    """Return a bound on sum_j abs(x_ij) over the rows."""
    values = rows.data
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    return largest * float(np.diff(rows.indptr.astype(np.int64)).max(initial=0))


def left_rows(rows: Rows) -> int:
    """Return how many rows a block may have on the left."""
    return max(1, min(LEFT_ROWS, LEFT_VALUES // max(1, shape(rows)[1])))


def fill(
    kernel: Kernel, left: Side, chosen: Any, right: Side, others: Any | None, out: Any, places: Any
) -> None:
    """Write kernel values of `chosen` left and `others` of the right rows into out[places].

    Row chosen[k] goes to out[places[k]], one value per right row; `others` None means all.
    """
    for first, stop in ranges(len(chosen), left_rows(left.rows)):
        _fill(kernel, left, chosen[first:stop], right, others, out, places[first:stop])


def _fill(
    kernel: Kernel,
    left: Side,
    chosen: Any,
    right: Side,
    others: Any | None,
    out: Any,
    places: Any,
) -> None:
    if isinstance(kernel, Precomputed):
        out[places] = matrix(left.rows, chosen)[:, slice(None) if others is None else others]
        return
    if isinstance(kernel, Custom):
        columns = matrix(right.rows, slice(None) if others is None else others)
        values = checked_values(kernel, matrix(left.rows, chosen), columns)
        check_finite(kernel, values)
        out[places] = values
        return
    precision = np.promote_types(left.precision, right.precision)
    gathered = dense(left.rows, chosen, precision)
    if right.centre is not None:
        gathered -= right.centre
    if not is_of_distance(kernel):
        gathered *= left_factor(kernel)
    is_sparse = isinstance(right.rows, CsrRows)
    block = Block(
        kernel=kernel,
        left=np.ascontiguousarray(gathered.T) if is_sparse else gathered,
        of_left=left.exponents[chosen] if len(left.exponents) else None,
        right=right,
        out=out,
        places=places,
    )
    m = shape(right.rows)[0] if others is None else len(others)
    with one_blas_thread:  # a thread per tile instead
        each(lambda part: _fill_tile(block, others, *part), ranges(m, TILE))


class Block(NamedTuple):
    """Left rows, gathered, and where their kernel values go."""

    kernel: Kernel
    left: Any
    of_left: Any
    right: Side
    out: Any
    places: Any


def _fill_tile(block: Block, others: Any | None, start: int, stop: int) -> None:
    """Compute the values for right rows others[start:stop], while they fit a cache."""
    kernel, rows, q = block.kernel, block.right.rows, len(block.places)
    columns = np.arange(start, stop) if others is None else others[start:stop]
    if isinstance(rows, CsrRows):
        tile = np.empty((q, stop - start + PAD), dtype=block.left.dtype)[:, : stop - start]
        write = sparse_distances if is_of_distance(kernel) else sparse_products
        write(block.left, rows, columns, tile)
    elif is_of_distance(kernel):
        tile = np.empty((q, stop - start), dtype=block.left.dtype)
        dense_distances(block.left, rows.X, columns, tile)
    else:
        some = rows.X[start:stop] if others is None else rows.X[columns]
        if block.right.centre is not None:
            some = np.subtract(some, block.right.centre, dtype=np.float64)
        tile = np.dot(block.left, some.astype(block.left.dtype, copy=False).T)
    exponents = block.right.exponents
    of_right = exponents[columns] if len(exponents) else None
    for first, end in ranges(q, max(1, CHUNK // (stop - start))):
        piece = tile[first:end]
        finish(kernel, piece, None if of_right is None else block.of_left[first:end], of_right)
        if not is_bounded(kernel):
            check_finite(kernel, piece)
        block.out[block.places[first:end], start:stop] = piece


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


@compiled
def sparse_products(left, rows, columns, tile):  # type: ignore[no-untyped-def]
    """Write <left_k, x_j> into tile[k, c] for j = columns[c]; left is (d, q)."""
    q = left.shape[1]
    total = np.empty(q, dtype=left.dtype)
    for c in range(len(columns)):
        j = columns[c]
        total[:] = 0.0
        for p in range(rows.indptr[j], rows.indptr[j + 1]):
            x, feature = left.dtype.type(rows.data[p]), rows.indices[p]
            for k in range(q):
                total[k] += x * left[feature, k]
        for k in range(q):
            tile[k, c] = total[k]


@compiled
def sparse_distances(left, rows, columns, tile):  # type: ignore[no-untyped-def]
    """Write the city-block distance of left_k and x_j into tile[k, c]; left is (d, q)."""
    q = left.shape[1]
    norm = np.zeros(q, dtype=left.dtype)
    for feature in range(left.shape[0]):
        for k in range(q):
            norm[k] += abs(left[feature, k])
    total = np.empty(q, dtype=left.dtype)
    for c in range(len(columns)):
        j = columns[c]
        total[:] = norm
        for p in range(rows.indptr[j], rows.indptr[j + 1]):
            x, feature = left.dtype.type(rows.data[p]), rows.indices[p]
            for k in range(q):
                total[k] += abs(x - left[feature, k]) - abs(left[feature, k])
        for k in range(q):
            tile[k, c] = total[k]


@compiled
def dense_distances(left, X, columns, tile):  # type: ignore[no-untyped-def]
    """Write the city-block distance of left_k and x_j into tile[k, c]; left is (q, d)."""
    for c in range(len(columns)):
        j = columns[c]
        for k in range(left.shape[0]):
            total = left.dtype.type(0)
            for f in range(left.shape[1]):
                total += abs(left[k, f] - left.dtype.type(X[j, f]))
            tile[k, c] = total
