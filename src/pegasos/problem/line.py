"""The best point on a line of weights, from scores at hand: no pass over the features.

Minimises   P(w + u v, b + u c)   over u

where Z and D hold the scores of w and v. With v = w the line is the ray through w: where only the
direction of weights is good, as on separable rows, its best length costs nothing to find.
"""

from __future__ import annotations

import math

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.bias import crossing
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem, weight


def best_steps(
    problem: Problem,
    scores: tuple[FloatArray, FloatArray],
    biases: tuple[FloatArray, FloatArray],
    products: tuple[FloatArray, FloatArray],
    accuracy: float = 0.0,
) -> FloatArray:
    """Return u (K,): how far to go along a direction, each model on its own.

    scores : Z, D of shape (n, K), without bias; biases : b, c of shape (K,); products : <w, v> and
    <v, v> of shape (K,). `accuracy` bounds how far P may stay above its minimum; 0 asks for
    rounding error. A line without a minimum is not followed.
    """
    (Z, D), (b, c), (across, along) = scores, biases, products
    if problem.bias_scale > 0.0:
        across = across + b * c / problem.bias_scale**2
        along = along + (c / problem.bias_scale) ** 2
    steps = np.zeros(len(b))
    for k in range(len(b)):

        def rise(u: float, k: int = k) -> float:
            loss = slope_along(problem.costs, Z, D, k, (float(b[k]), float(c[k])), u)
            return float(problem.lam * (across[k] + u * along[k]) + loss / problem.S)

        found = crossing(rise, 0.0, accuracy)
        steps[k] = found if math.isfinite(found) else 0.0
    return steps


@compiled
def slope_along(costs, Z, D, k, biases, u):  # type: ignore[no-untyped-def]
    """Return the derivative of sum_i s_i loss(z_i + u d_i) at u, of model k."""
    total, (b, c) = 0.0, biases
    for i in range(Z.shape[0]):
        d = D[i, k] + c
        z = Z[i, k] + b + u * d
        total += weight(costs.weights, i) * slope(costs.loss, z, costs.Y[i, k]) * d
    return total
