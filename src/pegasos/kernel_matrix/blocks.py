"""Kernel values of pairs of rows, in blocks: matrix products and vectorised functions.

A block has some rows on the left, gathered as a dense matrix, and many on the right, read where
they are:

    dense right    one BLAS product per tile of right rows; of a Gaussian, one per panel of a tile,
                   finished where it goes (`gaussian`)
    CSR right      per right row, sum_j x_j times the (dense) feature j of all left rows: the left
                   rows are stored side by side, so that this is a vector operation (`strips`)

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
    largest_value,
    longest_row,
    read_only,
    shape,
    square_norms,
)
from pegasos.dispatch import compiled, inlined
from pegasos.errors import InvalidData
from pegasos.kernel_matrix.gaussian_panels import add_gaussian, fill_gaussian
from pegasos.kernel_matrix.register_sums import STRIP, in_strips
from pegasos.kernel_matrix.sums import add_products, add_rows
from pegasos.numba_private.register_sums import weighted_strip
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

LEFT_ROWS = 1024  # rows on the left of a block, at most
SPARSE_LEFT_ROWS = 240  # if they meet rows in CSR form: some strips; see `sparse_piece`
LEFT_VALUES = 4_000_000  # and their values, as a dense matrix
TILE_VALUES = 524_288  # products of a tile
TILE_ROWS = 8192  # rows on its right, at most
GAUSSIAN_ROWS = 1024  # and for a Gaussian, of which no more than a panel is there at a time
PARTS = 8  # tiles of right rows in CSR form, at least: work for all cores
TILES = 16  # computed at a time, at most
CUSTOM_VALUES = 2_000_000  # that a user's function is asked for at a time
CHUNK = 131_072  # values that one thread finishes at a time: they fit its cache
EXACT = 4.0 * float(np.finfo(np.float64).eps)  # error of values that are given
SURE = 1e-5  # error of an exponent above which float32 rows are multiplied in float64
CENTRED = {np.float32: 1e-5, np.float64: 1e-10}  # and above which they are taken from their mean


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
    each(lambda part: square_norms(rows, *part, squares), ranges(len(squares), TILE_ROWS))
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


def fill(
    kernel: Kernel,
    left: Side,
    chosen: Any,
    right: Side,
    others: Any | None,
    target: Filled,
    tiles: int = TILES,
) -> None:
    """Write kernel values of `chosen` left and `others` of the right rows (None: all) into place.

    Memory is taken for so many `tiles` at a time, if there are as many cores.
    """
    out, places, at = target
    length = left_rows(right.rows)
    if isinstance(kernel, Custom):
        length = max(1, min(length, CUSTOM_VALUES // max(1, out.shape[1] - at)))
    for first, stop in ranges(len(chosen), length):
        into = Filled(out, places[first:stop], at)
        _deliver(kernel, left, chosen[first:stop], right, others, into, tiles)


def add_sums(
    kernel: Kernel,
    left: Side,
    chosen: Any,
    right: Side,
    coefficients: FloatArray,
    Z: FloatArray,
    tiles: int = TILES,
) -> None:
    """Add sum_k coefficients[k, m] K(x_chosen[k], z_i) to Z[i, m] for all right rows z_i."""
    for first, stop in ranges(len(chosen), left_rows(right.rows)):
        into = Summed(np.ascontiguousarray(coefficients[first:stop]), Z)
        _deliver(kernel, left, chosen[first:stop], right, None, into, tiles)


class Filled(NamedTuple):
    """Kernel values of left row k go to out[places[k]], from column `at` on, one per right row.

    `out` lies in memory row after row.
    """

    out: Any
    places: Any
    at: int = 0

    def take(self, values: Any, rows: slice, start: int) -> None:
        columns = slice(self.at + start, self.at + start + values.shape[1])
        self.out[self.places[rows], columns] = values

    def take_gaussian(self, sides: Any, start: int) -> None:
        fill_gaussian(*sides, self.out, self.places, self.at + start)


class Summed(NamedTuple):
    """Kernel values are multiplied by coefficients of the left rows and added up."""

    coefficients: FloatArray
    Z: FloatArray

    def take(self, values: Any, rows: slice, start: int) -> None:
        some, Z = self.coefficients[rows], self.Z[start : start + values.shape[1]]
        if Z.shape[1] > 1:
            Z += values.T @ some
        elif values.flags.c_contiguous:
            add_rows(values, np.arange(len(values)), some, 0, len(Z), Z)
        else:
            add_products(values.T, some, Z)

    def take_gaussian(self, sides: Any, start: int) -> None:
        stop = start + len(sides[1])
        add_gaussian(*sides, self.coefficients, self.Z[start:stop])


def _deliver(
    kernel: Kernel,
    left: Side,
    chosen: Any,
    right: Side,
    others: Any | None,
    into: Filled | Summed,
    tiles: int,
) -> None:
    """Compute a block of kernel values, in tiles that are delivered as they come."""
    if isinstance(kernel, Precomputed | Custom):
        columns = slice(None) if others is None else others
        if isinstance(kernel, Precomputed):
            values = matrix(left.rows, chosen)[:, columns]
        else:
            values = checked_values(
                kernel, matrix(left.rows, chosen), matrix(right.rows, columns)
            )  # fmt: skip
            check_finite(kernel, values)
        into.take(values, slice(None), 0)
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
        left=side_by_side(kernel, gathered, left_rows(right.rows)) if is_sparse else gathered,
        length=len(chosen),
        precision=precision,
        of_left=left.exponents[chosen].astype(precision) if len(left.exponents) else None,
        right=right,
        into=into,
    )
    m = shape(right.rows)[0] if others is None else len(others)
    with one_blas_thread:  # a thread per tile instead
        tile = min(TILE_ROWS, max(1, TILE_VALUES // len(chosen)))
        if not is_sparse and (right.centre is not None or right.rows.X.dtype != precision):
            tile = min(tile, max(1, TILE_VALUES // shape(right.rows)[1]))  # they are copied
        if isinstance(kernel, Gaussian) and not is_sparse:
            tile = min(GAUSSIAN_ROWS, max(1, LEFT_VALUES // shape(right.rows)[1]))
        if is_sparse:  # values do not depend on tiles
            tile = min(tile, max(1, -(-m // PARTS)))
        each(lambda part: _deliver_tile(block, others, *part), ranges(m, tile), tiles)


def side_by_side(kernel: Kernel, rows: Any, most: int) -> Any:
    """Return rows as the columns of a matrix; in strips, not above most, if it is multiplied."""
    return np.ascontiguousarray(rows.T) if is_of_distance(kernel) else in_strips(rows, most)


class Block(NamedTuple):
    """Left rows, gathered, and where their kernel values go."""

    kernel: Kernel
    left: Any
    length: int
    precision: Any
    of_left: Any
    right: Side
    into: Filled | Summed


def _deliver_tile(block: Block, others: Any | None, start: int, stop: int) -> None:
    """Compute the values for right rows others[start:stop], while they fit a cache."""
    kernel, rows, exponents = block.kernel, block.right.rows, block.right.exponents
    columns = np.arange(start, stop) if others is None else others[start:stop]
    of_left, of_right = block.of_left, exponents[columns] if len(exponents) else None
    if isinstance(rows, CsrRows):  # the other way round: values of a right row lie side by side
        for first, end in ranges(len(columns), max(1, CHUNK // block.length)):
            piece = sparse_piece(block, columns[first:end])
            _finish(kernel, piece, None if of_right is None else of_right[first:end], of_left)
            block.into.take(piece.T, slice(None), start + first)
        return
    some = dense_right(block, columns if others is not None else slice(start, stop))
    if isinstance(kernel, Gaussian):
        of_right = exponents[columns].astype(block.precision, copy=False)
        block.into.take_gaussian((block.left, some, of_left, of_right), start)
        return
    tile = dense_tile(block, some)
    for first, end in ranges(len(tile), max(1, CHUNK // (stop - start))):
        piece = tile[first:end]
        _finish(kernel, piece)
        block.into.take(piece, slice(first, end), start)


def sparse_piece(block: Block, columns: Any) -> Any:
    """Return products, or distances, of right rows in CSR form and the left ones.

    It is read by columns in the end. If these were a power of two apart, they would be in each
    other's way in the processor's cache.
    """
    piece = np.empty((len(columns), block.length), dtype=block.precision)
    write = sparse_distances if is_of_distance(block.kernel) else sparse_products
    write(block.left, block.right.rows, columns, piece)
    return piece


def dense_right(block: Block, columns: Any) -> Any:
    """Return some dense right rows as they are multiplied; those of a Gaussian one by one."""
    some = block.right.rows.X[columns]
    if is_of_distance(block.kernel):
        return some
    if block.right.centre is not None:
        some = np.subtract(some, block.right.centre, dtype=np.float64)
    if isinstance(block.kernel, Gaussian):
        return read_only(np.ascontiguousarray(some, dtype=block.precision))
    return some.astype(block.precision, copy=False)


def dense_tile(block: Block, some: Any) -> Any:
    """Return products, or distances, of the left rows and dense right ones."""
    if not is_of_distance(block.kernel):
        return np.dot(block.left, some.T)
    tile = np.empty((len(block.left), len(some)), dtype=block.precision)
    dense_distances(block.left, some, tile)
    return tile


def _finish(kernel: Kernel, piece: Any, of_rows: Any = None, of_columns: Any = None) -> None:
    finish(kernel, piece, of_rows, of_columns)
    if not is_bounded(kernel):
        check_finite(kernel, piece)


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
def sparse_products(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write <x_j, left_k> into out[c, k] for j = columns[c]; left is (d, q), in strips or not."""
    at, sums = 0, np.empty(left.all.shape[2], dtype=out.dtype)
    for s in range(len(left.all)):
        strip, length = left.all[s], min(len(sums), out.shape[1] - at)
        for c in range(len(columns)):
            start, stop = rows.indptr[columns[c]], rows.indptr[columns[c] + 1]
            if length == len(sums):
                weighted_strip(strip, rows.data, rows.indices, start, stop, out[c, at:])
            else:
                weighted_strip(strip, rows.data, rows.indices, start, stop, sums)
                for k in range(length):
                    out[c, at + k] = sums[k]
        at += length
    if len(left.none) > 0:
        multiply_plainly(left.none, rows, columns, out)


@inlined
def multiply_plainly(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write <x_j, left_k> into out[c, k]; left is (d, q)."""
    zero = out.dtype.type(0)
    for c in range(len(columns)):
        j = columns[c]
        total, stop = out[c], rows.indptr[j + 1]
        total[:] = zero
        for p in range(rows.indptr[j], stop, 4):  # four at a time: their sum is written once
            p1, p2, p3 = min(p + 1, stop - 1), min(p + 2, stop - 1), min(p + 3, stop - 1)
            x = out.dtype.type(rows.data[p])
            x1 = out.dtype.type(rows.data[p1]) if p + 1 < stop else zero
            x2 = out.dtype.type(rows.data[p2]) if p + 2 < stop else zero
            x3 = out.dtype.type(rows.data[p3]) if p + 3 < stop else zero
            z, z1 = left[rows.indices[p]], left[rows.indices[p1]]
            z2, z3 = left[rows.indices[p2]], left[rows.indices[p3]]
            for k in range(len(total)):
                total[k] += (x * z[k] + x1 * z1[k]) + (x2 * z2[k] + x3 * z3[k])


@compiled
def sparse_distances(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write the city-block distance of x_j and left_k into out[c, k]; left is (d, q)."""
    q = left.shape[1]
    norm = np.zeros(q, dtype=left.dtype)
    for feature in range(left.shape[0]):
        for k in range(q):
            norm[k] += abs(left[feature, k])
    for c in range(len(columns)):
        j, total = columns[c], out[c]
        total[:] = norm
        for p in range(rows.indptr[j], rows.indptr[j + 1]):
            x, z = left.dtype.type(rows.data[p]), left[rows.indices[p]]
            for k in range(q):
                total[k] += abs(x - z[k]) - abs(z[k])


@compiled
def dense_distances(left, right, tile):  # type: ignore[no-untyped-def]
    """Write the city-block distance of left_k and right_c into tile[k, c]; left is (q, d)."""
    for c in range(len(right)):
        for k in range(len(left)):
            total = left.dtype.type(0)
            for f in range(left.shape[1]):
                total += abs(left[k, f] - left.dtype.type(right[c, f]))
            tile[k, c] = total
