"""The present model of a run, as its solver has it, whatever was better before."""

from __future__ import annotations

import copy
from typing import Any

from pegasos.data.rows import FloatArray
from pegasos.problem.geometry import geometry
from pegasos.problem.objective import Problem
from pegasos.solvers.protocol import Solver


def present_model(
    solver: Solver, problem: Problem, state: Any
) -> tuple[FloatArray, FloatArray | None]:
    """Return weights (d, K) and biases (K,); a bias of None stands for the best one.

    A copy of the state is asked, so that looking changes nothing. Where a solver hands out its dual
    point's weights, they are w(a) as it is, not made feasible.
    """
    state = copy.deepcopy(state)
    found = solver.iterate(problem, state)
    if found is not None:
        return found
    dual = solver.dual_point(problem, state)
    assert dual is not None  # of a solver that has neither there is nothing to hand out
    A = dual.scale * dual.A
    W = geometry(problem.rows).combination(problem, A)
    known = solver.free_bias(problem, state)
    if known is not None:
        return W, known[0] - known[1] @ W
    if problem.is_free:
        return W, None
    s = problem.costs.weights.values[:, None]
    return W, problem.bias_scale**2 * (s * A).sum(axis=0) / (problem.lam * problem.S)
