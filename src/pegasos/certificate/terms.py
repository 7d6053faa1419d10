"""What rows add to a certificate: losses, gap terms, and what rounding may add to both.

A row is one of K models side by side, or of one model with K outputs: `add_rows` and the like have
an implementation for each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled, inlined, reordering_sums
from pegasos.parallel import each, ranges
from pegasos.problem.bias import Balance, feasible, write_feasible_row
from pegasos.problem.exponential import exp_up_to_1
from pegasos.problem.gap import GAIN, GAP, add_joint_gap
from pegasos.problem.joint_losses import (
    for_joint_losses,
    joint_value,
    own_class,
    probability,
)
from pegasos.problem.joint_rounding import joint_rooms, joint_size, joint_spread
from pegasos.problem.logarithm import log_1_plus, quotient
from pegasos.problem.losses import Logistic, entropy, gain, gap_term, sigmoid, value
from pegasos.problem.objective import Costs, weight, weight_of
from pegasos.problem.row_slopes import write_minus_slopes

EPS = float(np.finfo(np.float64).eps)
# Rows of the sums over all rows of the data, after those of `problem.gap`.
VALUE, VALUE_ROOM, GAP_ROOM, SIZE, BALANCE, LOST, ABS, SPREAD = range(3, 11)
ROWS_OF_SUMS = 11
VECTORISED = (GAP, GAIN, VALUE, VALUE_ROOM, GAP_ROOM, SIZE, ABS)  # those of `sums_of_model`
PARTS, NUMBERS = 16, 10_000  # threads take at most so many parts, of at least so many dual numbers


class Radius(NamedTuple):
    """Bounds on errors of scores: values[i & mask] of row i, and what adding bias and target costs.

    `of_target` is 1 for losses that subtract the target from the score, 0 for those of a margin.
    """

    values: FloatArray
    mask: int
    of_target: float


class Judged(NamedTuple):
    """Dual numbers A (n, K) with their balance, and scores Z (n, K) with bounds, and biases."""

    A: FloatArray
    balance: Balance
    Z: FloatArray
    radius: Radius
    b: FloatArray


@inlined
def error_of(radius, i, k, z, b, y):  # type: ignore[no-untyped-def]
    """Bound the error of a score z that has the bias b in it, as a loss with target y sees it."""
    size = abs(z) + abs(b) + radius.of_target * abs(y)
    return radius.values[i & radius.mask, k] + 16.0 * EPS * size


@by_tag
def add_rows(loss: Any, costs: Any, judged: Any, span: Any, row: Any, sums: Any) -> None:
    """Add up what rows have of the gap and the losses; `row` (2, K) is room to work in."""


@by_tag
def write_row_room(loss: Any, costs: Any, judged: Any, i: int, row: Any, out: Any) -> None:
    """Write what rounding of the scores of row i may add to its part of the gap into out[i]."""


def spans_of(n: int, K: int) -> list[tuple[int, int]]:
    """Split n rows of K dual numbers among threads, in a fixed way."""
    return ranges(n, max(1, -(-n // PARTS), NUMBERS // K))


def sums_of_terms(costs: Costs, judged: Judged) -> FloatArray:
    """Return the sums over all rows of what they have of the gap and the losses, (ROWS_OF_SUMS, K).

    And of what rounding may add to them. `SIZE` is what differences of terms may lose digits of;
    `BALANCE` + `LOST` is sum_i s_i a_i to twice the digits. Rows are split in a fixed way: the bits
    are the same on any number of cores.
    """
    spans = spans_of(*judged.A.shape)
    sums = np.zeros((len(spans), ROWS_OF_SUMS, judged.A.shape[1]))
    each(lambda p: add_terms(costs, judged, spans[p], sums[p]), range(len(spans)))
    total = sums[0]
    for part in sums[1:]:
        before, c = total[BALANCE].copy(), part[BALANCE]
        total += part
        added = total[BALANCE] - before  # c, less what the sum lost of it, as in `add_exactly`
        total[LOST] += (before - (total[BALANCE] - added)) + (c - added)
    return total


@compiled
def add_terms(costs, judged, span, sums):  # type: ignore[no-untyped-def]
    """Add what rows span[0] <= i < span[1] have to the sums.

    In room of its own first: threads that add to neighbouring numbers, on one line of
    memory, would wait for each other.
    """
    row, own = np.empty((2, judged.A.shape[1])), np.zeros_like(sums)
    add_rows(costs.loss, costs, judged, span, row, own)
    for r in range(len(sums)):
        for k in range(sums.shape[1]):
            sums[r, k] += own[r, k]


@compiled
def write_room(costs, judged, out):  # type: ignore[no-untyped-def]
    """Write what rounding of its score may add to each row's part of the gap.

    The objective may be off either way, and the dual with it.
    """
    row = np.empty((2, judged.A.shape[1]))
    for i in range(judged.A.shape[0]):
        write_row_room(costs.loss, costs, judged, i, row, out)


@compiled
def write_negative_slopes(costs, Z, b, A):  # type: ignore[no-untyped-def]
    """Write -slope at the scores Z + b into A."""
    for i in range(Z.shape[0]):
        a = A[i]
        for k in range(len(a)):
            a[k] = Z[i, k] + b[k]
        write_minus_slopes(costs.loss, costs, i, a, a)


# ---- models side by side


@add_rows.otherwise
def _(loss, costs, judged, span, row, sums):  # type: ignore[no-untyped-def]
    for k in range(judged.A.shape[1]):
        found = sums_of_model(loss, costs, judged, k, span)
        for r in range(len(found)):
            sums[VECTORISED[r], k] += found[r]
        for i in range(span[0], span[1]):
            a = feasible(costs, judged.A, i, k, judged.balance)
            add_exactly(sums, k, weight_of(costs.weights, i, k) * a)


@reordering_sums
def sums_of_model(loss, costs, judged, k, span):  # type: ignore[no-untyped-def]
    """Return the sums whose order is free, many rows at a time."""
    A, balance, Z, radius, b = judged
    gaps, gains, values, of_values, of_gaps, sizes, total = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(span[0], span[1]):
        s = weight_of(costs.weights, i, k)
        y, z = costs.Y[i, k], Z[i, k] + b[k]
        a = feasible(costs, A, i, k, balance)
        r = error_of(radius, i, k, z, b[k], y)
        gap, own, v, of_value, of_gap = terms_of(loss, z, a, r, y)
        gaps += s * gap
        gains += s * own
        values += s * v
        of_values += s * of_value
        of_gaps += s * of_gap
        sizes += s * (v + abs(a * z) + abs(a * y))
        total += abs(s * a)
    return gaps, gains, values, of_values, of_gaps, sizes, total


@inlined
def add_exactly(sums, k, c):  # type: ignore[no-untyped-def]
    """Add c to a sum that is kept to twice the digits."""
    before = sums[BALANCE, k]
    sums[BALANCE, k] += c
    part = sums[BALANCE, k] - before  # c, less what the sum lost of it
    sums[LOST, k] += (before - (sums[BALANCE, k] - part)) + (c - part)


@by_tag
def rooms(loss: Any, z: float, a: float, r: float, y: float) -> Any:
    """Return how much larger loss and gap term may be within r of score z: at one of the ends."""


@rooms.otherwise
def _rooms(loss, z, a, r, y):  # type: ignore[no-untyped-def]
    v = value(loss, z, y)
    up, down = value(loss, z + r, y) - v, value(loss, z - r, y) - v
    return max(0.0, up, down), max(0.0, up + a * r, down - a * r)


@rooms.register(Logistic)
def _(loss, z, a, r, y):  # type: ignore[no-untyped-def]
    return logistic_rooms(sigmoid(-y * z), y * a, r)


@inlined
def logistic_rooms(p, b, r):  # type: ignore[no-untyped-def]
    """Bound the same of the logistic loss, which falls by p = sigmoid(-y z) per unit of y z.

    Within r, p changes by a factor between exp(-r) and exp(r), and the loss is convex.
    """
    most = min(1.0, p * (1.0 + 2.0 * r + 16.0 * EPS)) if r < 1.0 else 1.0
    least = max(0.0, p * (1.0 - r - 16.0 * EPS))
    return r * most, max(0.0, r * (most - b), r * (b - least))


@by_tag
def terms_of(loss: Any, z: float, a: float, r: float, y: float) -> Any:
    """Return gap term, gain and loss of a row, and the `rooms` of its score."""


@terms_of.otherwise
def _(loss, z, a, r, y):  # type: ignore[no-untyped-def]
    of_value, of_gap = rooms(loss, z, a, r, y)
    return gap_term(loss, z, a, y), gain(loss, a, y), value(loss, z, y), of_value, of_gap


@terms_of.register(Logistic)
def _(loss, z, a, r, y):  # type: ignore[no-untyped-def]
    b, m = y * a, y * z  # as in `losses`, but exponential and logarithms are taken once
    e, own = exp_up_to_1(-abs(m)), entropy(b)
    least = log_1_plus(e)
    gap = max(0.0, least + (b * m if m > 0.0 else (b - 1.0) * m) - own)
    p = quotient(e if m >= 0.0 else 1.0, 1.0 + e)
    of_value, of_gap = logistic_rooms(p, b, r)
    return gap, own, max(-m, 0.0) + least, of_value, of_gap


@write_row_room.otherwise
def _(loss, costs, judged, i, row, out):  # type: ignore[no-untyped-def]
    A, balance, Z, radius, b = judged
    for k in range(A.shape[1]):
        s = weight_of(costs.weights, i, k)
        a = feasible(costs, A, i, k, balance)
        y, z = costs.Y[i, k], Z[i, k] + b[k]
        of_value, of_gap = rooms(loss, z, a, error_of(radius, i, k, z, b[k], y), y)
        out[i, k] = s * (of_gap + 2.0 * of_value)


# ---- one model with K outputs: its sums are in the first column, those over classes in K


@inlined
def look_at(costs, judged, i, row):  # type: ignore[no-untyped-def]
    """Write dual numbers and scores of row i into `row`; return a bound on the scores' errors."""
    A, balance, Z, radius, b = judged
    a, z = row[0], row[1]
    write_feasible_row(costs.loss, costs, A, i, balance, a)
    r = 0.0
    for k in range(len(z)):
        z[k] = Z[i, k] + b[k]
        r = max(r, error_of(radius, i, k, z[k], b[k], 0.0))
    return r


@for_joint_losses(add_rows)
def _(loss, costs, judged, span, row, sums):  # type: ignore[no-untyped-def]
    for i in range(span[0], span[1]):
        add_joint_row(costs, judged, i, row, sums)


@inlined
def add_joint_row(costs, judged, i, row, sums):  # type: ignore[no-untyped-def]
    """Add up what row i has."""
    loss = costs.loss
    s, y = weight(costs.weights, i), own_class(costs.Y, i)
    r = look_at(costs, judged, i, row)
    a, z = row[0], row[1]
    add_joint_gap(costs, i, z, a, y, sums)
    of_value, of_gap = joint_rooms(loss, z, a, y, r)
    sums[VALUE, 0] += s * joint_value(loss, z, y)
    sums[VALUE_ROOM, 0] += s * of_value
    sums[GAP_ROOM, 0] += s * of_gap
    sums[SIZE, 0] += s * joint_size(loss, z, a, y)
    sums[SPREAD, 0] += s * joint_spread(loss, z, a, y)
    for k in range(len(a)):
        add_exactly(sums, k, s * a[k])
        sums[ABS, k] += s * probability(a, y, k)


@for_joint_losses(write_row_room)
def _(loss, costs, judged, i, row, out):  # type: ignore[no-untyped-def]
    r = look_at(costs, judged, i, row)
    of_value, of_gap = joint_rooms(loss, row[1], row[0], own_class(costs.Y, i), r)
    out[i, :] = 0.0
    out[i, 0] = weight(costs.weights, i) * (of_gap + 2.0 * of_value)
