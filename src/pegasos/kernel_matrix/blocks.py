"""Kernel values in blocks: matrix products and vectorised functions.

A block has some rows on the left, gathered as a dense matrix, and many on the right, read where
they are:

    dense right    one BLAS product per tile of right rows; of a Gaussian, one per panel of a tile,
                   finished where it goes (`gaussian_panels`)
    CSR right      per right row, sum_j x_j times the (dense) feature j of all left rows: the left
                   rows lie side by side, so that this is a vector operation (`register_sums`)

Then `kernels.finish` makes kernel values of a tile while it is in the processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, read_only, shape
from pegasos.kernel_matrix.checks import check_finite, checked_values
from pegasos.kernel_matrix.gaussian_panels import add_gaussian, fill_gaussian
from pegasos.kernel_matrix.products import dense_distances, sparse_distances, sparse_products
from pegasos.kernel_matrix.register_sums import add_products, add_rows, in_strips
from pegasos.kernel_matrix.side import LEFT_VALUES, Side, dense, left_rows, matrix
from pegasos.parallel import each, one_blas_thread, ranges
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Precomputed,
    finish,
    is_bounded,
    is_of_distance,
    left_factor,
)

TILE_VALUES = 524_288  # products of a tile
TILE_ROWS = 8192  # rows on its right, at most
GAUSSIAN_ROWS = 1024  # and for a Gaussian, of which no more than a panel is there at a time
PARTS = 8  # tiles of right rows in CSR form, at least: work for all cores
TILES = 16  # computed at a time, at most
CUSTOM_VALUES = 2_000_000  # that a user's function is asked for at a time
CHUNK = 131_072  # values that one thread finishes at a time: they fit its cache


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
