"""The length of weights of which only the direction was learned.

Minimises   P(t w, t b) = lam/2 t^2 ||w||^2 + 1/S sum_i s_i loss(t (<w, x_i> + b), y_i)   over t > 0

Predictions do not depend on t, but objectives, certificates and the best free bias do.
"""

from __future__ import annotations

import math

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.bias import crossing
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem, weight
from pegasos.problem.space import square_norms, write_scores


def at_best_length(
    problem: Problem, W: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return weights and biases at their best length, each model on its own.

    Weights that are no better than none at any length are returned as they are.
    """
    Z = np.empty_like(problem.costs.Y)
    write_scores(problem.rows, W, Z)
    square = square_norms(problem.rows, W, Z)
    if problem.bias_scale > 0.0:
        square = square + (b / problem.bias_scale) ** 2
    t = np.ones_like(b)
    for k in range(len(b)):

        def rise(t: float, k: int = k) -> float:
            loss = slope_along(problem.costs, Z, k, float(b[k]), t)
            return float(problem.lam * t * square[k] + loss / problem.S)

        if rise(0.0) < 0.0:
            best = crossing(rise, 1.0, 0.0)
            t[k] = best if math.isfinite(best) else 1.0
    return W * t, b * t


@compiled
def slope_along(costs, Z, k, b, t):  # type: ignore[no-untyped-def]
    """Return the derivative of sum_i s_i loss(t z_i) at t, z_i = Z[i, k] + b."""
    total = 0.0
    for i in range(Z.shape[0]):
        z = Z[i, k] + b
        total += weight(costs.weights, i) * slope(costs.loss, t * z, costs.Y[i, k]) * z
    return total
