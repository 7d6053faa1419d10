"""Passes over the rows for one model, split among threads in a fixed way: the same bits on any."""

from __future__ import annotations

from functools import cache

import numpy as np

from pegasos.data.centre import in_parts, settle, weight_count
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
from pegasos.solvers.newton.line_search import Function, Line

PARTS = 16  # at most so many parts of the rows,
PART = 200_000  # of at least so many values each


def parts_of(problem: Problem, values: int) -> list[tuple[int, int]]:
    """Split the rows for a pass that reads so many values."""
    return _split(len(problem.costs.Y), min(PARTS, max(1, values // PART)))


@cache
def _split(n: int, count: int) -> list[tuple[int, int]]:
    return ranges(n, max(1, -(-n // count)))


def write_scores(problem: Problem, w: FloatArray, b: float, Z: FloatArray) -> None:
    """Write the scores <w, x_i - m> + b into Z (n, 1)."""
    if not w.any():
        Z[:] = b
        return
    whole = in_parts(problem.rows, w)[:, 0]

    def write(part: tuple[int, int]) -> None:
        all_scores(problem.rows, *part, whole, Z)
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
    change = settle(problem.rows.centre, added(changes))
    return added(sums)[:, 0], change[: shape(problem.rows)[1]]


def added(sums: FloatArray) -> FloatArray:
    """Return the sum of what the parts found."""
    return sums[0] if len(sums) == 1 else sums.sum(axis=0)


def line_of(
    problem: Problem,
    smoothing: Smoothing,
    Z: FloatArray,
    D: FloatArray,
    penalty: tuple[float, float],
) -> Line | Function:
    """Return the smoothed objective along D as a line search takes it; see `Line`."""
    parts = parts_of(problem, len(Z))
    if len(parts) == 1:
        return Line(problem.costs, smoothing, Z, D, problem.S, penalty)
    sums = np.zeros((len(parts), 2))

    def rise(u: float) -> tuple[float, float]:
        def add(number: int) -> None:
            sums[number] = slopes_along(problem.costs, smoothing, Z, D, u, parts[number])

        each(add, range(len(parts)))
        slope, bend = sums.sum(axis=0) / problem.S
        return penalty[0] + u * penalty[1] + float(slope), penalty[1] + float(bend)

    return Function(rise)


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
