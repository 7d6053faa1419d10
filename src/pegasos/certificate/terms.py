"""What rows add to a certificate: losses, gap terms, and what rounding may add to both."""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import compiled, inlined
from pegasos.problem.bias import feasible
from pegasos.problem.gap import add_gap
from pegasos.problem.losses import slope, value
from pegasos.problem.objective import weight

EPS = float(np.finfo(np.float64).eps)
# Rows of the sums over all rows of the data, after those of `problem.gap`.
VALUE, VALUE_ROOM, GAP_ROOM, SIZE, BALANCE, LOST, ABS = range(3, 10)
ROWS_OF_SUMS = 10


@compiled
def add_terms(costs, A, Z, radius, mask, balance, b, sums):  # type: ignore[no-untyped-def]
    """Add up what rows have of the gap and the losses, and what rounding may add to them.

    radius[i & mask] bounds the errors of Z[i]. `SIZE` is what differences of terms may lose digits
    of; `BALANCE` + `LOST` is sum_i s_i a_i to twice the digits.
    """
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            y, z = costs.Y[i, k], Z[i, k] + b[k]
            a = feasible(costs, A, i, k, balance)
            r = radius[i & mask, k] + 16.0 * EPS * (abs(z) + abs(b[k]))
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
            loss, y = costs.loss, costs.Y[i, k]
            of_value, of_gap = rooms(loss, Z[i, k] + b[k], a, radius[i, k], y)
            out[i, k] = s * (of_gap + 2.0 * of_value)


@compiled
def write_negative_slopes(costs, Z, b, A):  # type: ignore[no-untyped-def]
    """Write -slope at the scores Z + b into A."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            A[i, k] = -slope(costs.loss, Z[i, k] + b[k], costs.Y[i, k])
