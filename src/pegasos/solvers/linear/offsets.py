"""Offsets of columns and targets, which a free bias makes harmless.

Rows whose mean is longer than their spread around it are seen from the mean (`data.centre`), and a
run starts at the best bias of its first weights: shifting columns or targets then changes neither
the steps nor their number. Rows around the origin, as texts are, stay as they are: the mean
would gain them nothing, and rows of several models lose the zeros that are skipped.

Any centre and any start are right, so both are found on a few rows where there are many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.centre import seen_from
from pegasos.data.rows import FloatArray, shape
from pegasos.problem.bias import best_bias
from pegasos.problem.objective import (
    Problem,
    Weights,
    combination,
    row_square_norms,
    typical_length,
)
from pegasos.problem.space import write_scores
from pegasos.solvers.linear.course import add_losses_at

FEW = 4096  # rows that a decision, or a start at w = 0, is made on
LONG = 0.5  # of the mean square length of the rows, in ||m||^2: more is an offset
SAME = 1e-20  # of ||m||^2, in the mean square distance: less is rounding
CLOSE = 1e-6  # of the mean loss of w = 0: how exact a bias is to start from


def centred(problem: Problem, squares: FloatArray) -> tuple[Problem, FloatArray]:
    """Return a problem with a free bias as solvers are to see it, and its square row lengths.

    `squares` holds the square lengths of the rows as they are.
    """
    rows = some_rows(problem)
    m, s = mean_row(problem, rows), weights_of(problem, rows)
    if not m @ m > LONG * (s @ squares[rows]) / s.sum():
        return problem, squares
    if len(rows) == FEW:
        m = mean_row(problem, np.arange(len(squares)))
    seen = problem._replace(rows=seen_from(problem.rows, m))
    distances = row_square_norms(seen)
    if typical_length(seen, distances) ** 2 <= SAME * (m @ m):
        return problem, squares  # all rows are the same
    return seen, distances


def starting_biases(problem: Problem, W: FloatArray) -> FloatArray:
    """Return the best free bias of every model for the weights that a run starts from."""
    rows, K = some_rows(problem), W.shape[1]
    few = part(problem, rows)
    zeros, losses = np.zeros((len(rows), K)), np.zeros(K)
    b = np.array([best_bias(few, zeros, k) for k in range(K)])
    if not W.any():
        return b
    add_losses_at(few.costs, b, losses)
    Z = np.empty_like(problem.costs.Y)
    write_scores(problem.rows, W, Z)
    accuracy = CLOSE * losses / few.S
    return np.array([best_bias(problem, Z, k, b[k], accuracy[k]) for k in range(K)])


def some_rows(problem: Problem) -> Any:
    """Return at most FEW numbers of rows that have a weight, spread over all."""
    n, _ = shape(problem.rows)
    weights = problem.costs.weights
    rows = np.flatnonzero(weights.values) if weights.mask else np.arange(n)
    return rows[np.arange(FEW) * len(rows) // FEW] if len(rows) > FEW else rows


def weights_of(problem: Problem, rows: Any) -> FloatArray:
    """Return the weights of some rows."""
    weights = problem.costs.weights
    return weights.values[rows] if weights.mask else np.ones(len(rows))


def part(problem: Problem, rows: Any) -> Problem:
    """Return the costs of some rows as a problem of their own; its features are not to be read."""
    s = weights_of(problem, rows)
    costs = problem.costs._replace(Y=problem.costs.Y[rows], weights=Weights(s, -1))
    return problem._replace(costs=costs, S=float(s.sum()))


def mean_row(problem: Problem, rows: Any) -> FloatArray:
    """Return the weighted mean of some rows, shape (d,)."""
    chosen = np.zeros((shape(problem.rows)[0], 1))
    chosen[rows] = 1.0
    total = combination(problem, chosen)[:, 0] * (problem.lam * problem.S)
    return np.asarray(total / weights_of(problem, rows).sum())
