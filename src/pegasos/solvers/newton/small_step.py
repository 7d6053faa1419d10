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
from pegasos.dispatch import compiled, reordering_sums
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
def small_step(problem, columns, smoothing, place, numbers, Z, A, D):  # type: ignore[no-untyped-def]
    """Return a step from the scores Z and dual numbers A; D gets the change of the scores.

    `numbers` are the targets' scale and the damping.
    """
    costs, rows, S, lam, bias_scale, is_free = problem
    n, d, (unit, damping) = len(Z), len(columns.m), numbers
    terms = Terms(S, lam, bias_scale, is_free, unit)
    h, G, H = np.empty(n), np.empty((d + 1, 1)), np.zeros((d + 1, d + 1))
    curvatures(costs, smoothing, Z, A, (0, n), h)
    write_gradient(terms, columns, place, G)
    add_block_products(rows, np.flatnonzero(h), columns, h, H)
    add_penalty(terms, columns, H)
    lacking = lacking_of(terms, columns, np.diag(H).copy().reshape(d + 1, 1), G)
    damping *= STEEPEST * h.max() / costs.weights.values.max()
    for j in range(d + 1):
        H[j, j] += lacking[j, 0] + damping
    size = d + 1 if is_free or bias_scale > 0.0 else d
    L, p, w, b = H[:size, :size].copy(), np.zeros(size), np.zeros((d, 1)), np.zeros(1)
    is_found = factor_in_place(L)
    if is_found:
        solve_in_place(L, G, p)
        is_found = np.isfinite(p).all()
    if not is_found:
        return SmallStep(h, L, p, w, b, 0.0, False)
    w[:, 0] = p[:d] / columns.scale
    if size > d:
        b[0] = p[d]
    all_scores(rows, 0, n, w.reshape(d), D)
    D += b[0]
    penalty = penalty_along(terms, columns.m, place, w, b)
    u = line_search(Line(costs, smoothing, Z, D, S, penalty))
    return SmallStep(h, L, p, w, b, u, True)


@compiled
def small_move(problem, smoothing, Z, A, D, u, sums, change):  # type: ignore[no-untyped-def]
    """Move all rows and add up what `passes.move_rows` returns."""
    n, d = len(Z), len(change)
    move(problem.costs, smoothing, Z, A, D, u, (0, n), sums)
    add_combination(problem.rows, problem.costs.weights, 0, n, D, change.reshape(d))


@compiled
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


@compiled
def solve_in_place(L, G, p):  # type: ignore[no-untyped-def]
    """Solve L L' p = -G[:, 0], as many of G as L has rows."""
    for j in range(len(L)):
        p[j] = (-G[j, 0] - product(L[j], p, j)) / L[j, j]
    for j in range(len(L) - 1, -1, -1):
        p[j] /= L[j, j]
        for k in range(j):
            p[k] -= L[j, k] * p[j]


@reordering_sums
def product(a, b, count):  # type: ignore[no-untyped-def]
    """Return the inner product of the first numbers of a and b."""
    total = 0.0
    for i in range(count):
        total += a[i] * b[i]
    return total
