"""The Hessian of smoothed joint losses: sum_i (diag(t_i) - t_i t_i' / |t_i|) (x) x~_i x~_i'.

x~_i is (x~_i, 1), |t| the sum of t; the (d + 1) K unknowns are numbered class by class. With
f_i = t_i (x) x~_i it is sum_i f_i x~_i' in the blocks of the diagonal, less sum_i f_i f_i' / |t_i|:
two matrix products. Rows in which one class is alone drop out. Where few classes answer in a row,
as for the hinge, only the blocks of two classes are added up (`joint_blocks`). Where all rows have
one t, but for a factor, as at w = 0, it is (diag(t) - t t' / |t|) (x) sum_i h_i x~_i x~_i'.

The rows are split in a fixed way and the parts' sums added in order: the same bits on any number of
cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, kernel
from pegasos.parallel import each, ranges
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, standardise
from pegasos.solvers.newton.hessian import hessian
from pegasos.solvers.newton.joint_blocks import hessian_of_blocks

VALUES = 200_000  # of f that are multiplied at a time
PARTS = 4  # sums side by side, at most
MEMORY = 64e6  # bytes that these may take
FEW = 5.0  # products that BLAS adds up in the time of one of a row whose classes are few
SAME = 1e-14  # difference of shares t / |t| that is rounding
WIDE = 256  # unknowns from which BLAS multiplies in single precision: steps need no more


def joint_hessian(problem: Problem, columns: Columns, T: FloatArray) -> FloatArray:
    """Return the sum over rows, given s_i t_i as T (n, K)."""
    D, K = len(columns.m) + 1, T.shape[1]
    N = D * K
    chosen, answers = answering(T)
    shares = shares_of_all(T, chosen)
    if shares is not None:
        h = np.zeros(len(T))
        h[chosen] = T.sum(axis=1)[chosen]
        of_row = np.diag(shares) - np.outer(shares, shares)
        return np.asarray(np.kron(of_row, hessian(problem, columns, h)), dtype=np.float64)
    is_few = FEW * float(np.sum(answers * (answers + 1.0))) < 2.0 * K * K * len(chosen)
    if is_few:
        return hessian_of_blocks(problem, columns, T, chosen, answers)
    most = int(min(PARTS, max(2, MEMORY // (8 * N * N))))
    block = max(16, VALUES // N)
    spans = ranges(len(chosen), max(block, -(-len(chosen) // most)))
    sums, owns = np.zeros((max(1, len(spans)), N, N)), np.zeros((max(1, len(spans)), N, D))

    def add(part: int) -> None:
        first, last = spans[part]
        length, kind = min(block, last - first), np.float32 if N >= WIDE else np.float64
        X, F = np.empty((length, D), kind), np.empty((length, N), kind)
        for start, stop in ranges(last - first, block):
            some = chosen[first + start : first + stop]
            x, f = X[: len(some)], F[: len(some)]
            t = T[some]
            write_products(problem.rows, some, columns, t, x, f)
            owns[part] += f.T @ x
            f /= np.sqrt(t.sum(axis=1))[:, None].astype(f.dtype)
            sums[part] -= f.T @ f

    each(add, range(len(spans)))
    for part in range(1, len(spans)):
        sums[0] += sums[part]
        owns[0] += owns[part]
    H = sums[0]
    for k in range(K):
        own = slice(k * D, (k + 1) * D)
        H[own, own] += owns[0, own]
    return H


def shares_of_all(T: FloatArray, chosen: Any) -> FloatArray | None:
    """Return t / |t| of all chosen rows if it is the same for all."""
    if len(chosen) == 0:
        return None
    first, last = (T[i] / T[i].sum() for i in (chosen[0], chosen[-1]))
    if not np.abs(first - last).max() <= SAME:  # most often
        return None
    for start, stop in ranges(len(chosen), max(1, VALUES // T.shape[1])):
        t = T[chosen[start:stop]]
        t /= t.sum(axis=1, keepdims=True)
        t -= first
        if not np.abs(t, out=t).max() <= SAME:
            return None
    shares: FloatArray = first
    return shares


def answering(T: FloatArray) -> tuple[Any, Any]:
    """Return the numbers of the rows in which two classes or more answer, and how many do."""
    counts = np.empty(len(T), dtype=np.int64)
    count_answers(T, counts)
    chosen = np.flatnonzero(counts > 1)
    return chosen, counts[chosen]


@kernel
def count_answers(T, counts):  # type: ignore[no-untyped-def]
    """Write how many numbers of every row are not 0."""
    for i in range(T.shape[0]):
        count = 0
        for k in range(T.shape[1]):
            count += T[i, k] != 0.0
        counts[i] = count


@compiled
def write_products(rows, chosen, columns, T, X, F):  # type: ignore[no-untyped-def]
    """Write (x~_i, 1) of the chosen rows into X, and t_i (x) (x~_i, 1) into F."""
    D, K = X.shape[1], T.shape[1]
    for r in range(len(chosen)):
        standardise(rows, chosen[r], columns, 1.0, X[r])
        for k in range(K):
            for j in range(D):
                F[r, k * D + j] = T[r, k] * X[r, j]
