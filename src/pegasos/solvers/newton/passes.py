"""Passes over the rows for one model, split among threads in a fixed way: the same bits on any.

A model has one output, or one per class for a joint loss (`joint_envelope`).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pegasos.data.centre import in_parts, settle, weight_count
from pegasos.data.rows import FloatArray, shape, stored_values
from pegasos.parallel import each, ranges
from pegasos.problem.joint_losses import is_joint
from pegasos.problem.objective import Problem
from pegasos.solvers.newton import envelope, joint_envelope
from pegasos.solvers.newton.block_products import add_sums, put_scores
from pegasos.solvers.newton.envelope import ROWS_OF_SUMS, Smoothing
from pegasos.solvers.newton.line_search import Function, Line
from pegasos.solvers.newton.small_step import is_small, small_move

PARTS = 16  # at most so many parts of the rows,
PART = 200_000  # of at least so many values each,
PRODUCTS = 4  # or as many products for several outputs, in the time that one value takes,
JOINT = 4  # or scores of a joint loss: one takes the time of so many values


def parts_of(problem: Problem, values: int) -> list[tuple[int, int]]:
    """Split the rows for a pass that reads so many values."""
    return _split(len(problem.costs.Y), min(PARTS, max(1, values // PART)))


def parts_of_products(problem: Problem) -> list[tuple[int, int]]:
    """Split the rows for a pass that multiplies all values, for every output."""
    (n, K), values = problem.costs.Y.shape, stored_values(problem.rows)
    return parts_of(problem, values if K == 1 else values * K // PRODUCTS + JOINT * n * K)


def parts_of_scores(problem: Problem) -> list[tuple[int, int]]:
    """Split the rows for a pass over their scores."""
    size = problem.costs.Y.size
    return parts_of(problem, JOINT * size if is_joint(problem.costs.loss) else size)


@cache
def _split(n: int, count: int) -> list[tuple[int, int]]:
    return ranges(n, max(1, -(-n // count)))


def write_scores(problem: Problem, w: FloatArray, b: FloatArray, Z: FloatArray) -> None:
    """Write the scores <w_k, x_i - m> + b_k into Z (n, K)."""
    if not w.any():
        Z[:] = b
        return
    whole = in_parts(problem.rows, w)

    def write(part: tuple[int, int]) -> None:
        put_scores(problem, part, whole, Z)
        Z[slice(*part)] += b

    each(write, parts_of_products(problem))


def move_rows(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, A: FloatArray, D: FloatArray, u: float
) -> tuple[FloatArray, FloatArray]:
    """Do `move` on all rows; return its sums, and sum_i s_i (change of a_i) (x_i - m), (d, K)."""
    K = Z.shape[1]
    parts = parts_of_products(problem)
    if len(parts) == 1 and is_small(problem):
        total, change = np.zeros((ROWS_OF_SUMS, 1)), np.zeros((shape(problem.rows)[1], 1))
        small_move(problem, smoothing, (Z, A, D), u, parts[0], total, change)
        return total, change
    move = joint_envelope.move if is_joint(problem.costs.loss) else envelope.move
    sums = np.zeros((len(parts), ROWS_OF_SUMS, K))
    changes = np.zeros((len(parts), weight_count(problem.rows), K))

    def go(number: int) -> None:
        move(problem.costs, smoothing, Z, A, D, u, parts[number], sums[number])
        add_sums(problem, parts[number], D, changes[number])

    each(go, range(len(parts)))
    change = settle(problem.rows.centre, added(changes))
    return added(sums), change[: shape(problem.rows)[1]]


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
    joint = is_joint(problem.costs.loss)
    slopes_along = joint_envelope.slopes_along if joint else envelope.slopes_along
    parts = parts_of_scores(problem)
    if len(parts) == 1 and not joint:
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
    """Return s_i times the curvature of every row, (n,); of a joint loss s_i t_i, (n, K)."""
    joint = is_joint(problem.costs.loss)
    h = np.empty(Z.shape if joint else len(Z))

    def write(part: tuple[int, int]) -> None:
        if joint:
            joint_envelope.curvatures(problem.costs, smoothing, A, part, h)
        else:
            envelope.curvatures(problem.costs, smoothing, Z, A, part, h)

    each(write, parts_of_scores(problem))
    return h


def secants_of(
    problem: Problem, smoothing: Smoothing, Z: FloatArray, A: FloatArray, D: FloatArray, u: float
) -> FloatArray:
    """Return s_i times the mean curvature of every row on the way to Z + u D, (n,) or (n, K)."""
    if is_joint(problem.costs.loss):
        h = curvatures_of(problem, smoothing, Z, A)
    else:
        h = np.empty(len(Z))

    def write(part: tuple[int, int]) -> None:
        if is_joint(problem.costs.loss):
            joint_envelope.add_curvatures_onward(problem.costs, smoothing, Z, D, u, part, h)
        else:
            envelope.secants(problem.costs, smoothing, Z, A, D, u, part, h)

    each(write, parts_of_scores(problem))
    return h
