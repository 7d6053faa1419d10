"""The best point on a line of weights, from scores at hand: no pass over the features.

Minimises   P(w + u v, b + u c)   over u

where Z and D hold the scores of w and v. With v = w the line is the ray through w: where only the
direction of weights is good, as on separable rows, its best length costs nothing to find.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled
from pegasos.problem.bias import crossing
from pegasos.problem.joint_losses import for_joint_losses, own_class, summed, write_joint_slope
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem, weight


def best_steps(
    problem: Problem,
    scores: tuple[FloatArray, FloatArray],
    biases: tuple[FloatArray, FloatArray],
    products: tuple[FloatArray, FloatArray],
    accuracy: float = 0.0,
) -> FloatArray:
    """Return u (models,): how far to go along a direction, each model on its own.

    scores : Z, D of shape (n, K), without bias; biases : b, c of shape (K,); products : <w, v> and
    <v, v> of shape (models,). `accuracy` bounds how far P may stay above its minimum; 0 asks for
    rounding error. A line without a minimum is not followed.
    """
    (Z, D), (b, c), (across, along) = scores, biases, products
    if problem.bias_scale > 0.0:
        tag = problem.costs.loss
        across = across + summed(tag, b * c / problem.bias_scale**2)
        along = along + summed(tag, (c / problem.bias_scale) ** 2)
    steps = np.zeros(len(along))
    for k in range(len(along)):

        def rise(u: float, k: int = k) -> float:
            loss = slope_along(problem.costs, Z, D, k, (b, c), u)
            return float(problem.lam * (across[k] + u * along[k]) + loss / problem.S)

        found = crossing(rise, 0.0, accuracy)
        steps[k] = found if math.isfinite(found) else 0.0
    return steps


@compiled
def slope_along(costs, Z, D, k, biases, u):  # type: ignore[no-untyped-def]
    """Return the derivative of sum_i s_i loss(z_i + u d_i) at u, of model k."""
    total, row = 0.0, np.empty((2, Z.shape[1]))
    for i in range(Z.shape[0]):
        total += row_slope(costs.loss, costs, i, (Z, D, k, biases), u, row)
    return total


@by_tag
def row_slope(loss: Any, costs: Any, i: int, line: Any, u: float, row: Any) -> float:
    """Return what row i has of the derivative along a line; `row` (2, K) is room to work in."""


@row_slope.otherwise
def _(loss, costs, i, line, u, row):  # type: ignore[no-untyped-def]
    Z, D, k, (b, c) = line
    d = D[i, k] + c[k]
    z = Z[i, k] + b[k] + u * d
    return weight(costs.weights, i) * slope(loss, z, costs.Y[i, k]) * d


@for_joint_losses(row_slope)
def _(loss, costs, i, line, u, row):  # type: ignore[no-untyped-def]
    Z, D, _, (b, c) = line
    z, a, total = row[0], row[1], 0.0
    for k in range(len(z)):
        z[k] = Z[i, k] + b[k] + u * (D[i, k] + c[k])
    write_joint_slope(loss, z, own_class(costs.Y, i), a)
    for k in range(len(z)):
        total -= a[k] * (D[i, k] + c[k])
    return weight(costs.weights, i) * total
