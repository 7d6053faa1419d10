"""Scores of weights of features, and how far rounding may have moved them.

    |z_i - <w, x_i>| <= (m + 16) eps sum_j |w_j x_ij|              m values in a row

Of the sum only a bound over all rows is known at first, max |x| ||w||_1, which costs no pass; the
largest sum itself (`sharper`) costs one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import (
    FloatArray,
    all_scores,
    largest_value,
    longest_row,
    sizes,
    square_norm,
)
from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem.objective import Problem, blocks, flat, parts, weight

PART = 4096  # features at a time
EPS = float(np.finfo(np.float64).eps)


class Scores(NamedTuple):
    """Scores without bias, Z (n, K), and bounds on what rounding did to them.

    radius : ndarray of shape (n, K), or (1, K) for all rows
    square : ndarray of shape (K,)
        Bound on the error of the square norm that errors of scores make; 0 without a kernel.
    audited : int
        Rows that offered scores were tested on; 0 if all scores were computed from the data.
    """

    Z: FloatArray
    radius: FloatArray
    square: FloatArray
    audited: int = 0


class Offered(NamedTuple):
    """Scores that a solver maintains: F (n, K), of coefficients B (n, K)."""

    B: FloatArray
    F: FloatArray


class Extent(NamedTuple):
    """Of rows of features: their largest value and most values in a row."""

    largest: float
    values: int


def write_scores(rows: Any, W: FloatArray, Z: FloatArray) -> None:
    """Write <w_k, x_i> into Z[i, k]."""
    W = np.ascontiguousarray(W, dtype=np.float64)
    each(lambda part: all_scores(rows, *part, flat(W), Z), parts(rows, W.shape[1]))


def extent(problem: Problem) -> Extent:
    """Return how large the rows are; those of weight 0 may hold anything."""
    rows, weights = problem.rows, problem.costs.weights
    if not weights.mask or weights.values.all():
        return Extent(largest_value(rows), longest_row(rows))
    largest = 0.0
    for start, stop in blocks(rows):
        largest = max(largest, longest_length(rows, weights, start, stop))
    return Extent(largest, longest_row(rows))


def linear_scores(rows: Any, W: FloatArray, Z: FloatArray, known: Extent) -> Scores:
    """Write the scores of weights W into Z; bound their errors without a pass over the rows."""
    write_scores(rows, W, Z)
    return with_bounds(W, Z, known)


def with_bounds(W: FloatArray, Z: FloatArray, known: Extent) -> Scores:
    """Return scores Z of weights W of features, with bounds on their errors."""
    largest = known.largest * absolute_sums(W)
    return Scores(Z, _radius(known, largest), np.zeros(W.shape[1]))


def sharper(problem: Problem, W: FloatArray, scored: Scores, known: Extent) -> Scores:
    """Bound the errors by the largest sum_j |w_j x_ij|."""
    most = np.zeros(W.shape[1])
    for start, stop in blocks(problem.rows):
        largest_sizes(problem.rows, problem.costs.weights, start, stop, W, most)
    return scored._replace(radius=_radius(known, most))


def _radius(known: Extent, size: FloatArray) -> FloatArray:
    return ((known.values + 16) * EPS * size)[None]


def absolute_sums(W: FloatArray) -> FloatArray:
    """Return sum_j |W[j, k]| per model."""
    total = np.zeros(W.shape[1])
    for start in range(0, len(W), PART):  # in parts: no second array of the size of W
        total += np.abs(W[start : start + PART]).sum(axis=0)
    return total


@compiled
def longest_length(rows, weights, start, stop):  # type: ignore[no-untyped-def]
    """Return the largest ||x_i||, no value of which is larger, of rows start <= i < stop."""
    largest = 0.0
    for i in range(start, stop):
        if weight(weights, i) > 0.0:
            largest = max(largest, square_norm(rows, i))
    return np.sqrt(largest)


@compiled
def largest_sizes(rows, weights, start, stop, W, most):  # type: ignore[no-untyped-def]
    """Raise most[k] to the largest sum_j |w_kj x_ij| of rows start <= i < stop."""
    z = np.empty(len(most))
    for i in range(start, stop):
        if weight(weights, i) > 0.0:
            sizes(rows, i, W, z)
            for k in range(len(most)):
                most[k] = max(most[k], z[k])


@compiled
def add_lengths(rows, weights, start, stop, A, sums):  # type: ignore[no-untyped-def]
    """Add |s_i a_i| ||x_i|| of rows start <= i < stop to sums[k]."""
    for i in range(start, stop):
        length = weight(weights, i) * np.sqrt(square_norm(rows, i))
        for k in range(A.shape[1]):
            sums[k] += abs(A[i, k]) * length
