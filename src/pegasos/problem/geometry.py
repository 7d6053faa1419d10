"""The space that weights live in: features of the rows, or expansions over the rows.

    linear    W (d, K) are weights of features;     <w_k, x_i> = sum_j W[j, k] x_ij
    kernel    W (n, K) are coefficients of rows;    <w_k, phi(x_i)> = sum_j W[j, k] K(x_j, x_i)

Whoever certifies or predicts asks here and need not know which it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.data.rows import (
    CsrRows,
    FloatArray,
    all_scores,
    float_type,
    scores,
    shape,
    square_norm,
)
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.gram import Kernelized
from pegasos.parallel import each
from pegasos.problem import objective
from pegasos.problem.kernels import is_psd
from pegasos.problem.objective import Problem, flat, parts

PART = 4096  # features at a time
SAMPLED_ROWS = 256  # rows whose mean is a typical one
NOISE = 1e-9  # relative error of kernel values that a user brings
OUTLIERS = 8.0  # errors of a score may be so many times the typical one
EPS = float(np.finfo(np.float64).eps)


def combination(problem: Problem, A: FloatArray) -> FloatArray:
    """Return w(a) = 1/(lam S) sum_i s_i a_i x_i, one column per model."""
    if not isinstance(problem.rows, Kernelized):
        return objective.combination(problem, A)
    weights = problem.costs.weights
    scale = weights.values[:, None] if weights.mask else weights.values[0]
    return A * (scale / (problem.lam * problem.S))


def write_scores(rows: Any, W: FloatArray, Z: FloatArray) -> None:
    """Write <w_k, x_i> into Z[i, k]."""
    W = np.ascontiguousarray(W, dtype=np.float64)
    if isinstance(rows, Kernelized):
        Z[:] = 0.0
        rows.add_scores(W, Z)
        return
    each(lambda part: all_scores(rows, *part, flat(W), Z), parts(rows, W.shape[1]))


def as_stored(rows: Any, W: FloatArray) -> FloatArray:
    """Round weights to the precision in which a model keeps them; no copy in float64."""
    if isinstance(rows, Kernelized) or float_type(rows) == np.float64:
        return W
    return W.astype(float_type(rows)).astype(np.float64)


def expansion_size(rows: Any, W: FloatArray) -> FloatArray:
    """Return sqrt(sum_j W[j, k]^2 K(x_j, x_j)) of expansions over the training rows."""
    return np.sqrt(np.einsum("jk,jk,j->k", W, W, np.abs(rows.diagonal)))


def expansion_error(rows: Any, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what errors of scores grow with: the size of expansions, and what adding up costs."""
    total = np.sqrt(np.abs(rows.diagonal)) @ np.abs(W)
    adding = 4.0 * math.sqrt(np.count_nonzero(W.any(axis=1))) * EPS
    return expansion_size(rows, W), adding * total


def scores_room(rows: Any, Z: FloatArray, size: FloatArray, adding: FloatArray) -> FloatArray:
    """Bound the errors of scores Z (n, K) of a kernel's expansions; see `expansion_error`."""
    room = 2.0 * rows.rounding * np.abs(Z)
    error = OUTLIERS * rows.rounding * size + adding
    for k in range(Z.shape[1]):
        room[:, k] += error[k] * np.sqrt(np.abs(rows.diagonal))
    return np.asarray(room)


def square_norms(rows: Any, W: FloatArray, Z: FloatArray | None = None) -> FloatArray:
    """Return ||w_k||^2 per model; `Z` holds the scores of W, if they are known."""
    if isinstance(rows, Kernelized):
        if Z is None:
            Z = np.empty_like(W)
            write_scores(rows, W, Z)
        squares = np.einsum("jk,jk->k", W, Z)
        if np.any(squares < 0.0) and not is_psd(rows.kernel):
            largest = (np.abs(W).T @ np.sqrt(np.abs(rows.diagonal))) ** 2  # if K were semi-definite
            rows.is_indefinite |= bool(np.any(squares < -max(NOISE, rows.rounding) * largest))
        return np.maximum(0.0, squares)
    return _square_norms(W)


def distances(
    rows: Any, W: FloatArray, V: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ||w_k||^2, ||v_k||^2 and ||w_k - v_k||^2 per model; `Z` holds the scores of W."""
    square = square_norms(rows, W, Z)
    if W is V:
        return square, square, np.zeros_like(square)
    if isinstance(rows, Kernelized):
        of_V = np.empty_like(Z)
        write_scores(rows, V, of_V)
        distance = np.einsum("jk,jk->k", W - V, Z - of_V)
        return square, square_norms(rows, V, of_V), np.maximum(0.0, distance)
    return square, _square_norms(V), _square_norms(W, V)


def distances_to(rows: Any, point: FloatArray, M: FloatArray) -> FloatArray:
    """Return ||m_k - point||, which rounding may make longer, not shorter."""
    if M.shape[1] == 1 and np.shares_memory(M, point):
        return np.zeros(1)
    if not isinstance(rows, Kernelized):
        return np.sqrt(_square_norms(M, point[:, None])) * (1.0 + (len(M) + 16) * EPS)
    squares = square_norms(rows, M - point[:, None])
    return np.sqrt(squares + 4.0 * rows.rounding * np.abs(rows.diagonal).max())


def _square_norms(W: FloatArray, V: FloatArray | None = None) -> FloatArray:
    total = np.zeros(W.shape[1])
    for start in range(0, len(W), PART):  # in parts: no second array of the size of W
        part = W[start : start + PART]
        part = part if V is None else part - V[start : start + PART]
        total += np.einsum("jk,jk->k", part, part)
    return total


def absolute_sums(W: FloatArray) -> FloatArray:
    """Return sum_j |W[j, k]| per model."""
    total = np.zeros(W.shape[1])
    for start in range(0, len(W), PART):
        total += np.abs(W[start : start + PART]).sum(axis=0)
    return total


def typical_point(rows: Any, W: FloatArray) -> FloatArray:
    """Return the mean of some rows as weights: rows spread over the data, or those W expands on."""
    n, d = shape(rows)
    if isinstance(rows, Kernelized):
        used = rows.at_hand(np.flatnonzero(W.any(axis=1)))
        used = used[:: max(1, len(used) // SAMPLED_ROWS)]
        mean = np.zeros(n)
        mean[used] = 1.0 / max(1, len(used))
        return mean
    step = max(1, n // SAMPLED_ROWS)
    if isinstance(rows, CsrRows):
        total, sampled = np.zeros(d), range(0, n, step)
        for i in sampled:
            part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
            total[rows.indices[part]] += rows.data[part]
        return total / len(sampled)
    mean = rows.X[::step].mean(axis=0, dtype=np.float64)
    return np.asarray(mean)


def inner_products(rows: Any, point: FloatArray, W: FloatArray, Z: FloatArray) -> FloatArray:
    """Return <point, w_k> per model; `Z` holds the scores of W."""
    return np.asarray(point @ (Z if isinstance(rows, Kernelized) else W))


def square_norm_of(rows: Any, point: FloatArray) -> float:
    """Return the square norm of one point, given as weights."""
    return float(square_norms(rows, point[:, None])[0])


def push_scores(
    rows: Any, point: FloatArray | None, square: float, push: FloatArray, Z: FloatArray
) -> None:
    """Add push[k] ||x_i - point|| to Z[i, k], or push[k] sqrt(||x_i||^2 + square) without a point.

    `square` is the square norm of the point. Rounding may make a distance longer, not shorter.
    """
    n, d = shape(rows)
    if isinstance(rows, Kernelized):
        total, product = rows.diagonal + square, np.zeros((n, 1))
        if point is not None:
            rows.add_scores(point[:, None], product)
        squares = np.maximum(0.0, total - 2.0 * product[:, 0])
        distance = np.sqrt(squares + rows.rounding * np.abs(total))  # below 0: indefinite
        for k in range(Z.shape[1]):
            Z[:, k] += push[k] * distance
        return
    point = np.zeros(d) if point is None else point
    rounding = 2.0 * (d + 16) * EPS
    each(lambda part: add_distances(rows, *part, point, square, rounding, push, Z), parts(rows))


@compiled
def add_distances(rows, start, stop, point, square, rounding, push, Z):  # type: ignore[no-untyped-def]
    """Add push[k] sqrt(||x_i||^2 - 2 <x_i, point> + square) to Z[i, k] for start <= i < stop.

    `rounding` bounds the error of that sum, against ||x_i||^2 + square.
    """
    product = np.empty(1)
    for i in range(start, stop):
        scores(rows, i, point, product)
        total = square_norm(rows, i) + square
        distance = math.sqrt(max(0.0, total - 2.0 * product[0]) + rounding * total)
        for k in range(Z.shape[1]):
            Z[i, k] += push[k] * distance
