"""Steps on one random row after another, and the rows of the kernel matrix brought in ahead of it.

A method decides on a few rows by their responses alone (`propose`); only a row whose dual number
moves needs its row of the kernel matrix. A compiled loop takes steps in order until it needs one
that is not in the store. That row is then computed in one block with those that the coming steps
would need if they were taken now: matrix products instead of single rows, and little in vain.

A method is a tag: it enters `take_steps` with the arrays it works on and answers

    begin(method, problem, order, first, stop)    a step on order[first:stop] begins; False: skip it
    propose(method, problem, i, j)                decide on row i, in place j of the method's room
    moves(method, problem, i, j)                  whether that needs the row of the kernel matrix
    settle(method, problem, i, j)                 take it on: dual numbers, coefficients, responses
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, kernel
from pegasos.problem.objective import Problem
from pegasos.solvers.kernel.decomposition import KERNEL_VALUES
from pegasos.solvers.kernel.responses import see

ROWS_AHEAD = 256  # of the kernel matrix that are computed together, at most
VALUES_PER_CALL = 100_000_000  # added to responses by one call of `take_steps`
NOT_BEGUN = -1
ENDED, PAUSED, MISSING = 0, 1, 2


@by_tag
def begin(method: Any, problem: Any, order: Any, first: int, stop: int) -> bool:
    """Begin a step on the rows order[first:stop]; return False to skip it."""
    raise NotImplementedError


@by_tag
def propose(method: Any, problem: Any, i: int, j: int) -> None:
    """Write the dual numbers that a step takes on row i to place j of the method's room."""


@by_tag
def moves(method: Any, problem: Any, i: int, j: int) -> bool:
    """Whether the dual numbers in place j move the weights, if taken on by row i."""
    raise NotImplementedError


@by_tag
def settle(method: Any, problem: Any, i: int, j: int) -> None:
    """Take on the dual numbers in place j for row i; its kernel row is there if that `moves`."""


def new_place() -> Any:
    """Return the start of an epoch: where its present step begins, and the next row within it."""
    return np.array([0, NOT_BEGUN])


def walk(method: Any, problem: Problem, F: FloatArray, order: Any, k: int, place: Any) -> None:
    """Take steps of k rows each for a fraction of a second, at most to the end of `order`.

    `place` and all that the method works on change. The method's room has k + 1 places.
    """
    gram = problem.rows
    budget = max(1, VALUES_PER_CALL // F.size)
    chosen = np.empty(max(1, min(ROWS_AHEAD, gram.capacity // 2, KERNEL_VALUES // gram.n)), int)
    computed = 0
    while take_steps(method, see(problem, F), order, k, place, budget) == MISSING:
        if computed >= KERNEL_VALUES:
            return
        count = look_ahead(method, see(problem, F), order, k, place, chosen)
        gram.hold(np.unique(chosen[:count]))
        computed += count * gram.n


@kernel
def take_steps(method, problem, order, k, place, budget):  # type: ignore[no-untyped-def]
    """Take steps until the order ends, `budget` rows moved, or a row is missing; say which."""
    while place[0] < len(order):
        first, stop = place[0], min(place[0] + k, len(order))
        if place[1] == NOT_BEGUN:
            place[1] = stop - first
            if begin(method, problem, order, first, stop):
                place[1] = 0
                for j in range(stop - first):
                    propose(method, problem, order[first + j], j)
        while place[1] < stop - first:
            j = place[1]
            i = order[first + j]
            if moves(method, problem, i, j):
                if problem.rows.slot_of[i] < 0:
                    return MISSING
                if budget == 0:
                    return PAUSED
                budget -= 1
            settle(method, problem, i, j)
            place[1] += 1
        place[0], place[1] = stop, NOT_BEGUN
    return ENDED


@kernel
def look_ahead(method, problem, order, k, place, chosen):  # type: ignore[no-untyped-def]
    """Write the missing row, and those that coming steps need as things stand; count them.

    With independent draws a row may occur twice.
    """
    count, first, done = 0, place[0], place[1]
    for t in range(first + done, len(order)):
        i = order[t]
        if problem.rows.slot_of[i] < 0:
            j = min(t - first, k)  # beyond the present step: the place to spare
            if j == k:
                propose(method, problem, i, j)
            if moves(method, problem, i, j):
                chosen[count] = i
                count += 1
                if count == len(chosen):
                    break
    return count
