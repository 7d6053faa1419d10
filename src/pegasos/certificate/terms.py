"""What rows add to a certificate: losses, gap terms, and what rounding may add to both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, inlined
from pegasos.problem.bias import feasible
from pegasos.problem.gap import add_gap
from pegasos.problem.losses import slope, value
from pegasos.problem.objective import weight

EPS = float(np.finfo(np.float64).eps)
# Rows of the sums over all rows of the data, after those of `problem.gap`.
VALUE, VALUE_ROOM, GAP_ROOM, SIZE, BALANCE, LOST, ABS = range(3, 10)
ROWS_OF_SUMS = 10


class Radius(NamedTuple):
    """Bounds on errors of scores: values[i & mask] of row i, and what adding bias and target costs.

    `of_target` is 1 for losses that subtract the target from the score, 0 for those of a margin.
    """

    values: FloatArray
    mask: int
    of_target: float


@inlined
def error_of(radius, i, k, z, b, y):  # type: ignore[no-untyped-def]
    """Bound the error of a score z that has the bias b in it, as a loss with target y sees it."""
    size = abs(z) + abs(b) + radius.of_target * abs(y)
    return radius.values[i & radius.mask, k] + 16.0 * EPS * size


@compiled
def add_terms(costs, A, Z, radius, balance, b, sums):  # type: ignore[no-untyped-def]
    """Add up what rows have of the gap and the losses, and what rounding may add to them.

    `SIZE` is what differences of terms may lose digits
    of; `BALANCE` + `LOST` is sum_i s_i a_i to twice the digits.
    """
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            y, z = costs.Y[i, k], Z[i, k] + b[k]
            a = feasible(costs, A, i, k, balance)
            r = error_of(radius, i, k, z, b[k], y)
            add_gap(costs, i, k, z, a, sums)
            v = value(costs.loss, z, y)
            of_value, of_gap = rooms(costs.loss, z, a, r, y)
            sums[VALUE, k] += s * v
            sums[VALUE_ROOM, k] += s * of_value
            sums[GAP_ROOM, k] += s * of_gap
            sums[SIZE, k] += s * (v + abs(a * z) + abs(a * y))
            c, before = s * a, sums[BALANCE, k]
            sums[BALANCE, k] += c
            part = sums[BALANCE, k] - before  # c, less what the sum lost of it
            sums[LOST, k] += (before - (sums[BALANCE, k] - part)) + (c - part)
            sums[ABS, k] += abs(c)


@inlined
def rooms(loss, z, a, r, y):  # type: ignore[no-untyped-def]
    """Return how much larger loss and gap term may be within r of score z: at one of the ends."""
    v = value(loss, z, y)
    up, down = value(loss, z + r, y) - v, value(loss, z - r, y) - v
    return max(0.0, up, down), max(0.0, up + a * r, down - a * r)


@compiled
def write_room(costs, A, Z, radius, balance, b, out):  # type: ignore[no-untyped-def]
    """Write what rounding of its score may add to each row's part of the gap.

    The objective may be off either way, and the dual with it.
    """
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            a = feasible(costs, A, i, k, balance)
            y, z = costs.Y[i, k], Z[i, k] + b[k]
            of_value, of_gap = rooms(costs.loss, z, a, error_of(radius, i, k, z, b[k], y), y)
            out[i, k] = s * (of_gap + 2.0 * of_value)


@compiled
def write_negative_slopes(costs, Z, b, A):  # type: ignore[no-untyped-def]
    """Write -slope at the scores Z + b into A."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            A[i, k] = -slope(costs.loss, Z[i, k] + b[k], costs.Y[i, k])
