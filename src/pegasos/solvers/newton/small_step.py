"""A Newton step of one output on a small dense table, all of it in one compiled call.

Where rows are few, going from one pass to the next in Python takes longer than the passes, and
keeps the threads of other models waiting. The step is that of `model`, made of the same passes over
all rows as one part. What is here besides is the algebra of systems that fit in a cache:

    H = sum_i h_i (x~_i, 1) (x~_i, 1)' / S + penalty = L L',        L L' p = -gradient

Where H is not positive definite in floating point, the ordinary step finds how to damp it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pegasos.data.rows import DenseRows, FloatArray, all_scores, shape
from pegasos.dispatch import apart, compiled, inlined, reordering_sums
from pegasos.problem.joint_losses import is_joint
from pegasos.problem.objective import Problem, add_combination
from pegasos.solvers.newton.envelope import curvatures, move
from pegasos.solvers.newton.equations import (
    Terms,
    add_penalty,
    lacking_of,
    penalty_along,
    write_gradient,
)
from pegasos.solvers.newton.hessian import NARROW, add_block_products
from pegasos.solvers.newton.line_search import Line, line_search

VALUES = 200_000  # narrow tables with no more are small
STEEPEST = 0.01  # of the largest curvature of a row: what damping counts in


class SmallStep(NamedTuple):
    """Curvatures h (n,), the factor L, p in standardised columns (size,), directions of w and b.

    And how far to go; or that all this was not found.
    """

    h: FloatArray
    factor: FloatArray
    p: FloatArray
    w: FloatArray
    b: FloatArray
    u: float
    is_found: bool


def is_small(problem: Problem) -> bool:
    """Whether steps are to be taken in one call."""
    rows = problem.rows
    if not isinstance(rows, DenseRows) or is_joint(problem.costs.loss):
        return False
    n, d = shape(rows)
    return d <= NARROW and n * d <= VALUES


@compiled
def small_step(problem, columns, smoothing, place, numbers, span, lines):  # type: ignore[no-untyped-def]
    """Return a step from scores and dual numbers; `lines` are Z, A and D, their change's room.

    `numbers` are the targets' scale and the damping; `span` is that of all rows.
    """
    costs, rows, S, lam, bias_scale, is_free = problem
    (Z, A, D), (unit, damping) = lines, numbers
    n, d = len(Z), len(columns.m)
    terms = Terms(S, lam, bias_scale, is_free, unit)
    h, G, H = np.empty(n), np.empty((d + 1, 1)), np.zeros((d + 1, d + 1))
    curvatures(costs, smoothing, Z, A, span, h)
    write_gradient(terms, columns, place, G)
    chosen = np.empty(n, np.int64)
    add_block_products(rows, chosen[: write_answering(h, chosen)], columns, h, H)
    add_penalty(terms, columns, H)
    diagonal = np.empty((d + 1, 1))
    for j in range(d + 1):
        diagonal[j, 0] = H[j, j]
    lacking = lacking_of(terms, columns, diagonal, G)
    damping *= STEEPEST * largest(h) / largest(costs.weights.values)
    size = d + 1 if is_free or bias_scale > 0.0 else d
    L, p, flat = np.empty((size, size)), np.empty(size), np.empty(d)
    w, b = np.empty((d, 1)), np.zeros(1)
    for j in range(size):
        for k in range(j):
            L[j, k] = H[j, k]
        L[j, j] = H[j, j] + lacking[j, 0] + damping
    if not (factor_in_place(L) and solve_in_place(L, G, p)):
        return SmallStep(h, L, p, w, b, 0.0, False)
    for j in range(d):
        w[j, 0] = flat[j] = p[j] / columns.scale[j]
    if size > d:
        b[0] = p[d]
    all_scores(rows, span[0], span[1], flat, D)
    for i in range(n):
        D[i, 0] += b[0]
    penalty = penalty_along(terms, columns.m, place, w, b)
    u = line_search(Line(costs, smoothing, Z, D, S, penalty))
    return SmallStep(h, L, p, w, b, u, True)


@inlined
def write_answering(h, chosen):  # type: ignore[no-untyped-def]
    """Write the numbers of the rows with h_i != 0 into `chosen`; return how many they are.

    Here as elsewhere in a step: what NumPy has for it would take seconds to compile.
    """
    count = 0
    for i in range(len(h)):
        if h[i] != 0.0:
            chosen[count] = i
            count += 1
    return count


@inlined
def largest(values):  # type: ignore[no-untyped-def]
    """Return the largest of some numbers that are not below 0."""
    most = 0.0
    for i in range(len(values)):
        most = max(most, values[i])
    return most


@compiled
def small_move(problem, smoothing, lines, u, span, sums, change):  # type: ignore[no-untyped-def]
    """Move all rows and add up what `passes.move_rows` returns."""
    Z, A, D = lines
    move(problem.costs, smoothing, Z, A, D, u, span, sums)
    weights, flat = problem.costs.weights, change.reshape(len(change))
    add_combination(problem.rows, weights, span[0], span[1], D, flat)


@apart
def factor_in_place(H):  # type: ignore[no-untyped-def]
    """Write L of H = L L' over the lower triangle; return whether there is one."""
    for j in range(len(H)):
        for k in range(j):
            H[j, k] = (H[j, k] - product(H[j], H[k], k)) / H[k, k]
        square = H[j, j] - product(H[j], H[j], j)
        if not square > 0.0:
            return False
        H[j, j] = math.sqrt(square)
    return True


@apart
def solve_in_place(L, G, p):  # type: ignore[no-untyped-def]
    """Solve L L' p = -G[:, 0], as many of G as L has rows; return whether p is finite."""
    for j in range(len(L)):
        p[j] = (-G[j, 0] - product(L[j], p, j)) / L[j, j]
    for j in range(len(L) - 1, -1, -1):
        p[j] /= L[j, j]
        for k in range(j):
            p[k] -= L[j, k] * p[j]
    is_finite = True
    for j in range(len(L)):
        is_finite &= math.isfinite(p[j])
    return is_finite


@reordering_sums
def product(a, b, count):  # type: ignore[no-untyped-def]
    """Return the inner product of the first numbers of a and b."""
    total = 0.0
    for i in range(count):
        total += a[i] * b[i]
    return total
