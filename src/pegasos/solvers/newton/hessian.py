"""The Hessian of the smoothed losses: sum_i h_i (x~_i, 1) (x~_i, 1)' over the rows that answer.

Rows with h_i = 0 cost nothing. Dense rows are centred and scaled into blocks that BLAS multiplies;
of compressed rows, where a row's own products are fewer than a block's, these are added up one by
one and centred afterwards, unless an offset is so large that this would be all rounding.

The rows are split in a fixed way and the parts' sums added in order: the same bits on any number of
cores.
"""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, shape, stored_values
from pegasos.dispatch import compiled
from pegasos.parallel import each, ranges
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, add_products, standardised

BLOCK = 1024  # rows that BLAS multiplies at a time
PARTS = 8  # sums side by side, at most,
PART = 15_000_000  # of so many products each, at least: fewer are done before a thread is awake,
COLUMN = 50  # where to centre and scale a value takes as long as so many of them
MEMORY = 64e6  # bytes that these may take
FAR = 1e5  # deviations that a mean may be from 0 for products to be centred afterwards
WIDE = 256  # columns from which blocks are multiplied in single precision: steps need no more,
FEW = 2  # unless so few rows per column answer: H is nearly singular then
SPARSE = 8.0  # products that BLAS adds up in the time of one of a compressed row


def hessian(problem: Problem, columns: Columns, h: FloatArray) -> FloatArray:
    """Return sum_i h_i (x~_i, 1) (x~_i, 1)' of shape (d + 1, d + 1), symmetric."""
    chosen = np.flatnonzero(h)
    d = len(columns.m)
    adds_up = _adds_up(problem, columns)
    most = int(min(PARTS, max(2, MEMORY // (8 * (d + 1) ** 2))))
    least = BLOCK if adds_up else max(BLOCK, PART // max(1, d * (COLUMN + d)))
    shares = ranges(len(chosen), max(least, -(-len(chosen) // most)))
    sums = np.zeros((max(1, len(shares)), d + 1, d + 1))
    kind = np.float32 if d >= WIDE and len(chosen) > FEW * d else np.float64

    def add(part: int) -> None:
        first, last = shares[part]
        if adds_up:
            add_products(problem.rows, chosen[first:last], h, sums[part])
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
    if adds_up:
        centred(sums[0], columns)
    return sums[0]


def _adds_up(problem: Problem, columns: Columns) -> bool:
    """Whether a row's own products are to be added up."""
    if not isinstance(problem.rows, CsrRows):
        return False
    (n, d), m = shape(problem.rows), np.abs(columns.m)
    in_a_row = stored_values(problem.rows) / max(1, n)
    return bool(SPARSE * in_a_row**2 <= d * d and np.all(m <= FAR * columns.scale))


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
