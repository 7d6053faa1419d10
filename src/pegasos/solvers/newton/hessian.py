"""The Hessian of the smoothed losses: sum_i h_i (x~_i, 1) (x~_i, 1)' over the rows that answer.

Rows with h_i = 0 cost nothing. Dense rows are centred and scaled into blocks that BLAS multiplies,
or compiled loops if they are narrow: between many short calls threads wait for each other. Of
compressed rows, where a row's own products are fewer than a block's, these are added up one by one
and centred afterwards, unless an offset is so large that this would be all rounding.

The rows are split in a fixed way and the parts' sums added in order: the same bits on any number of
cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, DenseRows, FloatArray, shape, stored_values
from pegasos.dispatch import compiled, contracting
from pegasos.parallel import each, ranges
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, add_products, standardised

BLOCK = 1024  # rows that BLAS multiplies at a time
NARROW = 100  # columns up to which compiled loops do,
SHORT, AT_ONCE = 64, 4  # so many at a time, and so many of these at once
PARTS = 8  # sums side by side, at most,
PART = 15_000_000  # of so many products each, at least: fewer are done before a thread is awake,
COLUMN = 50  # where to centre and scale a value takes as long as so many of them
MEMORY = 64e6  # bytes that these may take
FAR = 1e5  # deviations that a mean may be from 0 for products to be centred afterwards
WIDE = 256  # columns from which blocks are multiplied in single precision: steps need no more,
FEW = 2  # unless so few rows per column answer: H is nearly singular then
SPARSE = 8.0  # products that BLAS adds up in the time of one of a compressed row


class Counted(NamedTuple):
    """Curvatures, and the products of compressed rows that they add up to, not yet centred."""

    h: FloatArray
    G: FloatArray


def hessian(problem: Problem, columns: Columns, h: FloatArray) -> FloatArray:
    """Return sum_i h_i (x~_i, 1) (x~_i, 1)' of shape (d + 1, d + 1), symmetric."""
    return hessian_after(problem, columns, h, None)[0]


def hessian_after(
    problem: Problem, columns: Columns, h: FloatArray, before: Counted | None
) -> tuple[FloatArray, Counted | None]:
    """Return the same, and what the next Hessian may begin with, if rows' own products add up.

    Losses with a kink change the curvatures of few rows from one step to the next. Every model
    keeps what it counted: no more numbers than it has rows.
    """
    if not _adds_up(problem, columns):
        return sum_of_products(problem, columns, h, adds_up=False), None
    change, G = h, np.zeros((len(columns.m) + 1,) * 2)
    if before is not None:
        difference = h - before.h
        if 2 * np.count_nonzero(difference != 0.0) <= np.count_nonzero(h != 0.0):
            change, G = difference, before.G
    G = G + sum_of_products(problem, columns, change, adds_up=True)
    H = G.copy()
    centred(H, columns)
    return H, Counted(h, G) if G.size <= len(h) else None


def sum_of_products(
    problem: Problem, columns: Columns, h: FloatArray, *, adds_up: bool
) -> FloatArray:
    """Return the sum of all h_i (x~_i, 1) (x~_i, 1)'; or of (x_i, 1) (x_i, 1)', its lower half."""
    chosen = np.flatnonzero(h != 0.0)  # of booleans: several times as quick
    d = len(columns.m)
    most = int(min(PARTS, max(2, MEMORY // (8 * (d + 1) ** 2))))
    least = BLOCK if adds_up else max(BLOCK, PART // max(1, d * (COLUMN + d)))
    count = min(most, max(1, -(-len(chosen) // least)))
    shares = ranges(len(chosen), max(1, -(-len(chosen) // count)))
    sums = np.zeros((max(1, len(shares)), d + 1, d + 1))
    is_narrow = d <= NARROW and not adds_up and isinstance(problem.rows, DenseRows)
    kind = np.float32 if d >= WIDE and len(chosen) > FEW * d else np.float64

    def add(part: int) -> None:
        first, last = shares[part]
        if adds_up:
            add_products(problem.rows, chosen[first:last], h, sums[part])
            return
        if is_narrow:
            add_block_products(problem.rows, chosen[first:last], columns, h, sums[part])
            return
        block = np.empty((min(BLOCK, last - first), d + 1), kind)
        for start, stop in ranges(last - first, BLOCK):
            some = chosen[first + start : first + stop]
            filled = block[: len(some)]
            standardised(problem.rows, some, columns, h, filled)
            sums[part] += filled.T @ filled

    each(add, range(len(shares)))
    for part in range(1, len(shares)):
        sums[0] += sums[part]
    total: FloatArray = sums[0]
    return np.tril(total) + np.tril(total, -1).T if is_narrow else total


def _adds_up(problem: Problem, columns: Columns) -> bool:
    """Whether a row's own products are to be added up."""
    if not isinstance(problem.rows, CsrRows):
        return False
    (n, d), m = shape(problem.rows), np.abs(columns.m)
    in_a_row = stored_values(problem.rows) / max(1, n)
    return bool(SPARSE * in_a_row**2 <= d * d and np.all(m <= FAR * columns.scale))


@compiled
def add_block_products(rows, chosen, columns, h, G):  # type: ignore[no-untyped-def]
    """Add h_i (x~_i, 1) (x~_i, 1)' of chosen rows to the lower triangle of G."""
    room = np.zeros((SHORT, len(G)))
    for start in range(0, len(chosen), SHORT):
        some = chosen[start : start + SHORT]
        standardised(rows, some, columns, h, room)
        filled = -(-len(some) // AT_ONCE) * AT_ONCE
        for r in range(len(some), filled):
            for j in range(len(G)):
                room[r, j] = 0.0
        add_squares(room[:filled], G)


@contracting
def add_squares(X, G):  # type: ignore[no-untyped-def]
    """Add X'X to the lower triangle of G; X has a multiple of AT_ONCE rows."""
    for r in range(0, len(X), AT_ONCE):
        x0, x1, x2, x3 = X[r], X[r + 1], X[r + 2], X[r + 3]
        for j in range(len(G)):
            g, c0, c1, c2, c3 = G[j], x0[j], x1[j], x2[j], x3[j]
            for k in range(j + 1):
                g[k] += (c0 * x0[k] + c1 * x1[k]) + (c2 * x2[k] + c3 * x3[k])


@compiled
def centred(G, columns):  # type: ignore[no-untyped-def]
    """Make sum_i h_i (x~_i, 1) (x~_i, 1)' of the lower triangle of sum_i h_i (x_i, 1) (x_i, 1)'."""
    m, scale, _ = columns
    d = len(m)
    total = G[d, d]
    for j in range(d):
        of_j = G[d, j] - total * m[j]
        for k in range(j + 1):
            G[j, k] = (G[j, k] - m[j] * G[d, k] - of_j * m[k]) / scale[j] / scale[k]
            G[k, j] = G[j, k]
    for j in range(d):
        G[d, j] = G[j, d] = (G[d, j] - total * m[j]) / scale[j]
