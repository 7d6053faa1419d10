"""The joint Hessian where few classes answer in a row: its blocks of two classes, one by one.

    H_qk = -sum_i t_iq t_ik / |t_i| x~_i x~_i',     q > k,     and the blocks of a row add up to 0

Rows are sorted by the pairs of classes that answer in them, so that a block stays at hand, and four
rows at a time are added to its lower triangle. A block is of one thread: the same bits on any
number of cores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, contracting
from pegasos.parallel import each, ranges
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, standardised

VALUES = 400_000  # of rows that are sorted at a time
PARTS = 4  # of the blocks, at most,
PRODUCTS = 4_000_000  # of so many products each, at least


class Sorted(NamedTuple):
    """What pairs of classes have in rows: that of pair p is start[p] to start[p + 1]."""

    start: Any
    row: Any
    c: FloatArray


def hessian_of_blocks(
    problem: Problem, columns: Columns, T: FloatArray, chosen: Any, answers: Any
) -> FloatArray:
    """Return the sum over the chosen rows, in which so many classes answer, given s_i t_i as T."""
    D, K = len(columns.m) + 1, T.shape[1]
    H, ones = np.zeros((D * K, D * K)), np.ones(len(T))
    for start, stop in ranges(len(chosen), max(1, VALUES // D)):
        some = chosen[start:stop]
        x = np.empty((len(some), D))
        standardised(problem.rows, some, columns, ones, x)
        found = pairs_of(T[some], answers[start:stop])

        def add(part: tuple[int, int], x: FloatArray = x, found: Sorted = found) -> None:
            add_blocks(x, *found, part, H)

        each(add, parts_of(found.start, D))
    complete(H, D)
    return H


def pairs_of(t: FloatArray, answers: Any) -> Sorted:
    """Return the rows of t (m, K) by the pairs of classes that answer in them."""
    R, K = int(np.sum(answers * (answers - 1))) // 2, t.shape[1]
    found = Sorted(np.zeros(K * (K - 1) // 2 + 1, np.int64), np.empty(R, np.int64), np.empty(R))
    sort_pairs(t, *found)
    return found


def parts_of(start: Any, D: int) -> list[tuple[int, int]]:
    """Split the blocks into parts of about as many rows each."""
    count = int(min(PARTS, max(1, start[-1] * D**2 // (2 * PRODUCTS))))
    ends = np.searchsorted(start, start[-1] * np.arange(1, count) / count)
    ends = np.unique([0, *ends, len(start) - 1])
    return [(int(first), int(last)) for first, last in zip(ends[:-1], ends[1:], strict=True)]


@compiled
def sort_pairs(t, start, row, c):  # type: ignore[no-untyped-def]
    """Write where each pair of classes begins, and the rows and t_q t_k / |t| of all pairs."""
    K = t.shape[1]
    own, place = np.empty(K, dtype=np.int64), np.zeros(len(start), dtype=np.int64)
    for to_write in (False, True):
        for i in range(t.shape[0]):
            total, count = 0.0, 0
            for k in range(K):
                if t[i, k] != 0.0:
                    own[count] = k
                    total += t[i, k]
                    count += 1
            for one in range(count):
                q = own[one]
                for other in range(one):
                    p = q * (q - 1) // 2 + own[other]
                    if to_write:
                        row[place[p]], c[place[p]] = i, t[i, q] * t[i, own[other]] / total
                    place[p] += 1
        if not to_write:
            for p in range(len(start) - 1):
                start[p + 1] = start[p] + place[p]
            place[:] = start


@compiled
def add_blocks(x, start, row, c, part, H):  # type: ignore[no-untyped-def]
    """Add c_i x~_i x~_i' to the lower triangles of the blocks of pairs part[0] to part[1]."""
    D, q, k = x.shape[1], 1, 0
    for p in range(part[1]):
        if p >= part[0]:
            block = H[q * D : (q + 1) * D, k * D : (k + 1) * D]
            r = start[p]
            while r + 4 <= start[p + 1]:
                i, j, g, h = row[r], row[r + 1], row[r + 2], row[r + 3]
                add_four(x[i], x[j], x[g], x[h], c[r : r + 4], block)
                r += 4
            while r < start[p + 1]:
                add_one(x[row[r]], c[r], block)
                r += 1
        k += 1
        if k == q:
            q, k = q + 1, 0


@contracting
def add_four(x, y, z, v, c, out):  # type: ignore[no-untyped-def]
    """Add c[0] x x' and those of three more to the lower triangle of `out`."""
    for j in range(len(x)):
        a, b, d, e = c[0] * x[j], c[1] * y[j], c[2] * z[j], c[3] * v[j]
        for k in range(j + 1):
            out[j, k] += (a * x[k] + b * y[k]) + (d * z[k] + e * v[k])


@contracting
def add_one(x, c, out):  # type: ignore[no-untyped-def]
    """Add c x x' to the lower triangle of `out`."""
    for j in range(len(x)):
        a = c * x[j]
        for k in range(j + 1):
            out[j, k] += a * x[k]


@compiled
def complete(H, D):  # type: ignore[no-untyped-def]
    """Make the sum over rows of its blocks of two classes, lower triangles below the diagonal of H.

    They count with a minus, and those of one class make every row of blocks add up to 0.
    """
    for q in range(H.shape[0] // D):
        for k in range(q):
            for i in range(D):
                for j in range(i + 1):
                    c = H[q * D + i, k * D + j]
                    for own in (q, k):
                        H[own * D + i, own * D + j] += c
                        if i != j:
                            H[own * D + j, own * D + i] += c
                    H[q * D + i, k * D + j] = H[q * D + j, k * D + i] = -c
                    H[k * D + i, q * D + j] = H[k * D + j, q * D + i] = -c
