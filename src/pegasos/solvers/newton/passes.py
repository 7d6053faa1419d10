"""Passes over the rows for one model, split among threads in a fixed way: the same bits on any."""

from __future__ import annotations

import numpy as np

from pegasos.data.centre import as_from_centre, settle, weight_count
from pegasos.data.rows import FloatArray, all_scores, shape, stored_values
from pegasos.parallel import each, ranges
from pegasos.problem.objective import Problem, add_combination
from pegasos.solvers.newton.envelope import (
    ROWS_OF_SUMS,
    Smoothing,
    curvatures,
    move,
    secants,
    slopes_along,
)

PARTS = 16  # at most so many parts of the rows,
PART = 200_000  # of at least so many values each


def parts_of(problem: Problem, values: int) -> list[tuple[int, int]]:
    """Split the rows for a pass that reads so many values."""
    n, _ = shape(problem.rows)
    count = min(PARTS, max(1, values // PART))
    return ranges(n, max(1, -(-n // count)))


def write_scores(problem: Problem, w: FloatArray, b: float, Z: FloatArray) -> None:
    """Write the scores <w, x_i - m> + b into Z (n, 1)."""
    if not w.any():
        Z[:] = b
        return
    whole, _ = as_from_centre(problem.rows, w, np.zeros(1))

    def write(part: tuple[int, int]) -> None:
        all_scores(problem.rows, *part, whole[:, 0], Z)
        Z[slice(*part)] += b

    each(write, parts_of(problem, stored_values(problem.rows)))


def move_rows(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, A: FloatArray, D: FloatArray, u: float
) -> tuple[FloatArray, FloatArray]:
    """Do `move` on all rows; return its sums, and sum_i s_i (change of a_i) (x_i - m), (d, 1)."""
    parts = parts_of(problem, stored_values(problem.rows))
    sums = np.zeros((len(parts), ROWS_OF_SUMS, 1))
    changes = np.zeros((len(parts), weight_count(problem.rows), 1))

    def go(number: int) -> None:
        move(problem.costs, smoothing, Z, A, D, u, parts[number], sums[number])
        add_combination(
            problem.rows, problem.costs.weights, *parts[number], D, changes[number][:, 0]
        )

    each(go, range(len(parts)))
    change = settle(problem.rows.centre, changes.sum(axis=0))
    return sums.sum(axis=0)[:, 0], change[: shape(problem.rows)[1]]


def slopes(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, D: FloatArray, u: float
) -> FloatArray:
    """Return the first and second derivative along D of the smoothed losses, at Z + u D."""
    parts = parts_of(problem, len(Z))
    sums = np.zeros((len(parts), 2))

    def add(number: int) -> None:
        sums[number] = slopes_along(problem.costs, smoothing, Z, D, u, parts[number])

    each(add, range(len(parts)))
    return sums.sum(axis=0) / problem.S


def curvatures_of(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, A: FloatArray
) -> FloatArray:
    """Return s_i times the curvature of every row, (n,)."""
    h = np.empty(len(Z))

    def write(part: tuple[int, int]) -> None:
        curvatures(problem.costs, smoothing, Z, A, part, h)

    each(write, parts_of(problem, len(Z)))
    return h


def secants_of(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, A: FloatArray, D: FloatArray, u: float
) -> FloatArray:
    """Return s_i times the mean curvature of every row on the way to Z + u D, (n,)."""
    h = np.empty(len(Z))

    def write(part: tuple[int, int]) -> None:
        secants(problem.costs, smoothing, Z, A, D, u, part, h)

    each(write, parts_of(problem, len(Z)))
    return h
