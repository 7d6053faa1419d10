"""The length of weights of which only the direction was learned.

Predictions do not depend on it, but objectives, certificates and the best free bias do.
"""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.geometry import geometry
from pegasos.problem.line import best_steps
from pegasos.problem.objective import Problem


def at_best_length(
    problem: Problem, W: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return weights and biases at their best length, each model on its own.

    Weights that are no better than none at any length are returned as they are.
    """
    space, Z = geometry(problem.rows), np.empty_like(problem.costs.Y)
    space.write_scores(W, Z)
    square = space.square_norms(W, Z)
    t = 1.0 + best_steps(problem, (Z, Z), (b, b), (square, square))
    t = np.where(t > 0.0, t, 1.0)
    return W * t, b * t
