"""The dual of a kernel problem as a quadratic programme over expansion coefficients.

With beta_i = s_i a_i / (lam S), the coefficient of row i in w, the dual divided by lam is

    sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' (K + diag(ridge)) beta,   low <= beta <= high

for the three losses whose conjugate is a quadratic on an interval; C_i = s_i / (lam S):

    hinge                 beta_i y_i in [0, C_i]
    squared hinge         beta_i y_i in [0, 4 sqrt(C_i / lam)], ridge_i = 1 / (2 C_i)
    epsilon-insensitive   beta_i in [-C_i, C_i]

The squared hinge needs no upper bound but for kernels that are not positive semi-definite, whose
dual would have no maximum. This one is twice what an optimum can reach: s_i/S u_i^2 <= P(0) = 1,
and beta_i y_i = 2 C_i u_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.losses import EpsilonInsensitive, Hinge, SquaredHinge
from pegasos.problem.objective import Problem
from pegasos.solvers.decomposition.smo import Box

QUADRATIC = (Hinge, SquaredHinge, EpsilonInsensitive)


def caps(problem: Problem, rows: Any = slice(None)) -> FloatArray:
    """Return C_i = s_i / (lam S) of some rows."""
    weights, n = problem.costs.weights, len(problem.costs.Y)
    scale = 1.0 / (problem.lam * problem.S)
    if weights.mask:
        return np.asarray(weights.values[rows] * scale)
    return np.full(n if isinstance(rows, slice) else len(rows), weights.values[0] * scale)


def box_of(problem: Problem, k: int, rows: Any = slice(None)) -> Box:
    """Return the feasible coefficients of some rows for model k."""
    loss, C, y = problem.costs.loss, caps(problem, rows), problem.costs.Y[rows, k]
    nothing = np.zeros_like(C)
    if isinstance(loss, EpsilonInsensitive):
        return Box(-C, C, float(loss.epsilon), nothing)
    signed = C * y
    if isinstance(loss, Hinge):
        return Box(np.minimum(0.0, signed), np.maximum(0.0, signed), 0.0, nothing)
    bound = y * (4.0 * np.sqrt(C / problem.lam))
    ridge = np.divide(0.5, C, out=nothing, where=C > 0.0)
    return Box(np.minimum(0.0, bound), np.maximum(0.0, bound), 0.0, ridge)


def prices(problem: Problem) -> tuple[float, float, float]:
    """Return epsilon, the ridge per unit of a dual number, and C_i per unit of weight."""
    loss = problem.costs.loss
    epsilon = float(loss.epsilon) if isinstance(loss, EpsilonInsensitive) else 0.0
    ridge = 0.5 if isinstance(loss, SquaredHinge) else 0.0
    return epsilon, ridge, 1.0 / (problem.lam * problem.S)


def feasible(problem: Problem, B: FloatArray) -> FloatArray:
    """Return coefficients of another run, (n, models), as this problem allows them.

    They are clipped; under the constraint of a free bias the heavier sign shrinks until both weigh
    the same.
    """
    B = B.copy()
    for k in range(B.shape[1]):
        box, beta = box_of(problem, k), B[:, k]
        np.clip(beta, box.low, box.high, out=beta)
        if problem.is_free:
            positive, negative = beta[beta > 0.0].sum(), -beta[beta < 0.0].sum()
            lighter = min(positive, negative)
            beta[beta > 0.0] *= lighter / positive if positive > 0.0 else 0.0
            beta[beta < 0.0] *= lighter / negative if negative > 0.0 else 0.0
    return B
