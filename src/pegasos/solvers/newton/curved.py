"""Rows that are nothing like the quadratic of a step enter it as they are.

A step p minimises the objective with every loss replaced by its second-order model. Where a few
rows are most of H in some direction, as those of a rare column are, and their losses fall like
exp(-z), that is good for one unit of a score only, and every unit takes a Hessian of all rows. So
the rows K on which the model errs most at p enter it with their losses as they are,

    minimise  g'p + 1/2 p'Hp + 1/S sum_{i in K} s_i (loss_i(z_i + d_i) + c_i d_i - h_i/2 d_i^2),

d_i = <x~_i, p>, c_i and h_i the dual numbers and curvatures where the step begins. Its minimum is
p_0 + sum_K t_i H^-1 x~_i, p_0 that without K, where

    t_i + s_i/S r_i(d_i) = 0,        r_i(d) = c_i - c_i(z_i + d) - h_i d

for all of K: as many equations as there are such rows. Newton's method solves them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem.losses import dual_step, response
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.heard import with_inverse
from pegasos.solvers.newton.passes import parts_of_scores

DEAR = 1e9  # products of a Hessian from which it is worth looking for such rows
MOST = 128  # rows at a time,
ROUNDS = 2  # so often at most: others may err where these do no more
FEW = 0.3  # of all that the model errs: what these must make up
TURNS = 50  # of Newton's method, at most
SMALL = 1e-3  # of what the equations lack: what may be left of it
SHORTEST = 1e-3  # of its steps


def is_dear(columns: Columns, h: FloatArray) -> bool:
    """Whether a Hessian of the curvatures h takes long beside a few passes over the rows."""
    square = len(columns.m) ** 2
    return len(h) * square >= DEAR and bool(np.count_nonzero(h) * square >= DEAR)


def curved_rows(
    problem: Problem, Z: FloatArray, A: FloatArray, D: FloatArray, h: FloatArray
) -> Any:
    """Return the numbers of the rows on which the model errs most, ascending; none if many do."""
    errors = np.empty(len(Z))

    def write(part: tuple[int, int]) -> None:
        write_errors(problem.costs, Z, A, D, h, part, errors)

    each(write, parts_of_scores(problem))
    rest = max(0, len(errors) - MOST)
    chosen = np.sort(np.argpartition(errors, rest)[rest:])
    return chosen if errors[chosen].sum() > FEW * errors.sum() else chosen[:0]


def bent(
    problem: Problem,
    columns: Columns,
    factor: FloatArray,
    p: FloatArray,
    Z: FloatArray,
    A: FloatArray,
    h: FloatArray,
    chosen: Any,
) -> FloatArray:
    """Return the step (size,) with the chosen rows as they are; p is the one without."""
    X, V = with_inverse(problem, columns, factor, chosen)
    G, start = X @ V, X @ p
    r, bends = np.empty(len(chosen)), np.empty(len(chosen))

    def lacking(t: FloatArray) -> tuple[FloatArray, float]:
        write_slopes(problem.costs, Z, A, h, chosen, start + G @ t, r, bends)
        F = t + r / problem.S
        return F, float(F @ G @ F)

    t = np.zeros(len(chosen))
    F, square = lacking(t)
    enough = SMALL**2 * square
    for _ in range(TURNS):
        if not square > enough:
            break
        try:
            step, u = np.linalg.solve(np.eye(len(t)) + bends[:, None] * G / problem.S, -F), 1.0
        except np.linalg.LinAlgError:  # H knows nothing but these rows somewhere
            break
        F, better = lacking(t + step)
        while not better < square and u > SHORTEST:
            u *= 0.5
            F, better = lacking(t + u * step)
        if not better < square:
            break
        t, square = t + u * step, better
    return p + V @ t


@compiled
def write_errors(costs, Z, A, D, h, span, errors):  # type: ignore[no-untyped-def]
    """Write |s_i r_i(d_i) d_i| into `errors`; h_i has the weight s_i in it."""
    for i in range(span[0], span[1]):
        s, y, d = weight(costs.weights, i), costs.Y[i, 0], D[i, 0]
        c = dual_step(costs.loss, Z[i, 0] + d, 0.0, 0.0, y)
        errors[i] = abs((s * (A[i, 0] - c) - h[i] * d) * d)


@compiled
def write_slopes(costs, Z, A, h, chosen, d, r, bends):  # type: ignore[no-untyped-def]
    """Write s_i r_i(d_i) and its slope of the chosen rows into r and `bends`."""
    for k in range(len(chosen)):
        i = chosen[k]
        s, y, z = weight(costs.weights, i), costs.Y[i, 0], Z[i, 0] + d[k]
        c = dual_step(costs.loss, z, 0.0, 0.0, y)
        r[k] = s * (A[i, 0] - c) - h[i] * d[k]
        bends[k] = s * response(costs.loss, z, 0.0, c, 0.0, y) - h[i]
