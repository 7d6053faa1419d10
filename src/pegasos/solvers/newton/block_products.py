"""Passes over rows for several outputs at once: scores X W, and sums X' A.

Dense rows are centred block by block, in float64, and multiplied by BLAS. Compressed rows, and
those of few columns, are read one by one: between calls for many short blocks threads would wait
for each other. Ranges of rows are given: split in a fixed way, they give the same bits on any
number of cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import DenseRows, FloatArray, Rows, all_scores
from pegasos.parallel import ranges
from pegasos.problem.objective import Problem, add_combination, flat

BLOCK = 256  # rows that are centred and multiplied at a time
NARROW = 64  # columns below which rows are read one by one


def put_scores(problem: Problem, part: tuple[int, int], W: FloatArray, Z: FloatArray) -> None:
    """Write <w_k, x_i> of a range of rows into Z (n, K)."""
    if is_read_by_row(problem.rows) or W.shape[1] == 1:
        all_scores(problem.rows, *part, flat(W), Z)
        return
    room = room_for(problem.rows)
    for start, stop in blocks_of(part):
        np.matmul(values(problem.rows, slice(start, stop), room), W, out=Z[start:stop])


def add_sums(problem: Problem, part: tuple[int, int], A: FloatArray, V: FloatArray) -> None:
    """Add sum_i s_i a_i x_i of a range of rows to V; those whose a_i is 0 cost nothing."""
    rows, weights = problem.rows, problem.costs.weights
    if is_read_by_row(rows) or A.shape[1] == 1:
        add_combination(rows, weights, *part, A, flat(V))
        return
    room, (first, last) = room_for(rows), part
    chosen = first + np.flatnonzero(A[first:last].any(axis=1))
    for start, stop in ranges(len(chosen), BLOCK):
        some: Any = chosen[start:stop]
        if some[-1] - some[0] < len(some):  # all of them: no copy
            some = slice(some[0], some[-1] + 1)
        a = A[some]
        if weights.mask:
            a = weights.values[some, None] * a
        elif weights.values[0] != 1.0:
            a = weights.values[0] * a
        V += (a.T @ values(rows, some, room)).T


def is_read_by_row(rows: Rows) -> bool:
    """Whether rows are not worth a block."""
    return not isinstance(rows, DenseRows) or rows.X.shape[1] < NARROW


def blocks_of(part: tuple[int, int]) -> list[tuple[int, int]]:
    """Split a range of rows into blocks."""
    first, last = part
    return [(first + start, first + stop) for start, stop in ranges(last - first, BLOCK)]


def room_for(rows: DenseRows) -> FloatArray:
    """Return room for a block of rows."""
    return np.empty((min(BLOCK, len(rows.X)), rows.X.shape[1]))


def values(rows: DenseRows, some: Any, room: FloatArray) -> FloatArray:
    """Return some rows, seen from their centre, in float64."""
    X, m = rows.X[some], rows.centre.m
    if len(m) == 0 and X.dtype == np.float64 and X.flags.c_contiguous:
        return X
    x = room[: len(X)]
    np.copyto(x, X)
    if len(m) > 0:
        x -= m
    return x
