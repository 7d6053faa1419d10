"""Columns as the Newton method sees them: centred and scaled, without a copy of the rows.

    x~_ij = (x_ij - m_j) / scale_j,      w_j = w~_j / scale_j

With m the mean and `scale` the standard deviation, columns in any units and at any offset look
alike. The penalty lam/2 ||w||^2 then has a diagonal, lam / scale_j^2, and a regularised bias, which
the shift to the mean moves by <m, w>, adds one square to it. Without a bias m is 0, and the scale
is the root mean square.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, DenseRows, FloatArray, shape
from pegasos.dispatch import by_tag, compiled
from pegasos.parallel import each
from pegasos.problem.logarithm import quotient
from pegasos.problem.objective import Problem, parts, sum_places, weight, weighted_sum

CONSTANT = 1e-10  # of |m_j|: a smaller deviation is rounding
LEAST = 1e-120  # scale of a column that counts: smaller ones have a square of next to 0


class Columns(NamedTuple):
    """Mean, scale and largest |x~_ij| of every column, each of shape (d,)."""

    m: FloatArray
    scale: FloatArray
    reach: FloatArray


def columns_of(problem: Problem, is_centred: bool) -> Columns:
    """Look at all columns, rows counted by their weights: two passes over the rows."""
    n, d = shape(problem.rows)
    m = np.zeros(d)
    if is_centred:
        m = weighted_sum(problem, np.ones((n, 1)), d)[:, 0] / problem.S
    squares, largest, stored, count = spread_around(problem, m)
    if isinstance(problem.rows, CsrRows):  # values that are not stored are 0
        weights = problem.costs.weights
        lacks = count < (np.count_nonzero(weights.values) if weights.mask else n)
        squares += np.where(lacks, np.maximum(0.0, problem.S - stored), 0.0) * m**2
        largest = np.maximum(largest, np.where(lacks, np.abs(m), 0.0))
    scale = np.sqrt(squares / problem.S)
    scale = np.where(scale <= CONSTANT * np.abs(m), np.abs(m), scale)
    scale[scale < LEAST] = 1.0
    return Columns(m, scale, largest / scale)


def spread_around(problem: Problem, m: FloatArray) -> tuple[FloatArray, ...]:
    """Return the sums of `spread` over all rows, split among threads in a fixed way."""
    rows, d = problem.rows, len(m)
    places, pieces = sum_places(rows, d, 4), parts(rows)
    sums = np.zeros((places, 4, d))

    def work(p: int) -> None:
        for start, stop in pieces[p * len(pieces) // places : (p + 1) * len(pieces) // places]:
            add_spread(rows, problem.costs.weights, start, stop, m, tuple(sums[p]))

    each(work, range(places))
    squares, _, stored, count = sums.sum(axis=0)
    return squares, sums[:, 1].max(axis=0), stored, count


@compiled
def add_spread(rows, weights, start, stop, m, sums):  # type: ignore[no-untyped-def]
    """Add s_i (x_ij - m_j)^2 of the values that are stored; see `spread`."""
    for i in range(start, stop):
        s = weight(weights, i)
        if s > 0.0:
            spread(rows, i, s, m, sums)


@by_tag
def spread(rows: Any, i: int, s: float, m: Any, sums: Any) -> None:
    """Add row i to the sums of squares, and to weight and count of stored values per column.

    Also raise the largest |x_ij - m_j|.
    """


@spread.register(DenseRows)
def _(rows, i, s, m, sums):  # type: ignore[no-untyped-def]
    squares, largest, _, _ = sums
    for j in range(len(m)):
        x = rows.X[i, j] - m[j]
        squares[j] += s * x * x
        largest[j] = max(largest[j], abs(x))


@spread.register(CsrRows)
def _(rows, i, s, m, sums):  # type: ignore[no-untyped-def]
    squares, largest, stored, count = sums
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        j = rows.indices[p]
        x = rows.data[p] - m[j]
        squares[j] += s * x * x
        largest[j] = max(largest[j], abs(x))
        stored[j] += s
        count[j] += 1.0


@by_tag
def standardise(rows: Any, i: int, columns: Columns, c: float, out: Any) -> None:
    """Write c x~_i, then c, into `out` of length d + 1."""


@standardise.register(DenseRows)
def _(rows, i, columns, c, out):  # type: ignore[no-untyped-def]
    m, scale, _ = columns
    d = len(m)
    for j in range(d):
        out[j] = c * quotient(rows.X[i, j] - m[j], scale[j])
    out[d] = c


@standardise.register(CsrRows)
def _(rows, i, columns, c, out):  # type: ignore[no-untyped-def]
    m, scale, _ = columns
    d = len(m)
    for j in range(d):
        out[j] = -c * (m[j] / scale[j])
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        j = rows.indices[p]
        out[j] = c * ((rows.data[p] - m[j]) / scale[j])
    out[d] = c


@compiled
def standardised(rows, chosen, columns, h, out):  # type: ignore[no-untyped-def]
    """Write sqrt(h_i) (x~_i, 1) of the chosen rows into `out`, one below the other."""
    for r in range(len(chosen)):
        i = chosen[r]
        standardise(rows, i, columns, np.sqrt(h[i]), out[r])


@compiled
def add_products(rows, chosen, h, G):  # type: ignore[no-untyped-def]
    """Add h_i (x_i, 1) (x_i, 1)' of chosen compressed rows to the lower triangle of G."""
    d = rows.width
    for r in range(len(chosen)):
        i = chosen[r]
        start, stop = rows.indptr[i], rows.indptr[i + 1]
        for p in range(start, stop):
            c, j = h[i] * rows.data[p], rows.indices[p]
            for q in range(start, p + 1):
                k = rows.indices[q]
                if k <= j:
                    G[j, k] += c * rows.data[q]
                else:
                    G[k, j] += c * rows.data[q]
            G[d, j] += c
        G[d, d] += h[i]
