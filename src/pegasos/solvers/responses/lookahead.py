"""Steps on one random row after another, and rows of the kernel matrix brought in ahead of them.

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

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, kernel
from pegasos.problem.objective import Problem
from pegasos.solvers.responses.responses import VALUES_AT_ONCE, see

FEWEST_AHEAD, MOST_AHEAD = 16, 256  # rows of the kernel matrix that are computed together
VALUES_ENOUGH = 1_000_000  # kernel values after which a call computes no other block
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


@dataclass
class Walk:
    """Where a run is in its epoch, and how far it looks ahead.

    `place` holds where the present step begins in the order, the next row within it, and how many
    rows may still move in this call. The last look-ahead was for `ahead` rows, which it looked for
    between two places of the order.
    """

    place: Any = field(default_factory=lambda: np.array([0, NOT_BEGUN, 0]))
    ahead: int = FEWEST_AHEAD
    begin: int = 0
    end: int = 0
    moved: int = 0  # rows that changed the weights so far

    def is_at_start(self) -> bool:
        """Whether an epoch is about to begin."""
        return int(self.place[0]) == 0 and int(self.place[1]) == NOT_BEGUN

    def is_over(self, order: Any) -> bool:
        """Whether the epoch has ended."""
        return int(self.place[0]) == len(order)

    def start_again(self) -> None:
        """Go back to the beginning of the order."""
        self.place[:2] = 0, NOT_BEGUN
        self.begin = self.end = 0

    def adapt(self, most: int) -> None:
        """Look twice as far ahead as the last look-ahead foresaw all rows that were needed."""
        here = int(self.place[:2].sum())
        share = (here - self.begin) / (self.end - self.begin) if here < self.end else 1.0
        self.ahead = int(np.clip(2.0 * share * self.ahead, min(FEWEST_AHEAD, most), most))
        self.begin = here


def go_on(walk: Walk, method: Any, problem: Problem, F: FloatArray, order: Any, k: int) -> int:
    """Take steps of k rows for a fraction of a second; return how many rows were done with.

    The walk and all that the method works on change. The method's room has k + 1 places.
    """
    gram, place, start = problem.rows, walk.place, int(walk.place[0])
    most = max(1, min(MOST_AHEAD, gram.capacity // 2, VALUES_AT_ONCE // gram.n))
    chosen, computed = np.empty(most, dtype=np.int64), 0
    place[2] = allowed = max(1, VALUES_PER_CALL // F.size)
    while take_steps(method, see(problem, F), order, k, place) == MISSING:
        if computed >= VALUES_ENOUGH:
            break
        walk.adapt(most)
        some = chosen[: walk.ahead]
        count, walk.end = look_ahead(method, see(problem, F), order, k, place, some)
        gram.hold(np.unique(some[:count]))
        computed += count * gram.n
    moved = allowed - int(place[2])
    walk.moved += moved
    gram.hits += max(0, moved - computed // gram.n)
    return int(place[0]) - start


@kernel
def take_steps(method, problem, order, k, place):  # type: ignore[no-untyped-def]
    """Take steps until the order ends, enough rows have moved, or a row is missing; say which."""
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
                if place[2] == 0:
                    return PAUSED
                place[2] -= 1
            settle(method, problem, i, j)
            place[1] += 1
        place[0], place[1] = stop, NOT_BEGUN
    return ENDED


@kernel
def look_ahead(method, problem, order, k, place, chosen):  # type: ignore[no-untyped-def]
    """Write the missing row, and those that coming steps need as things stand, into `chosen`.

    Return how many they are (with independent draws, one may occur twice) and where the look ended.
    """
    count, first = 0, place[0]
    for t in range(first + place[1], len(order)):
        i = order[t]
        if problem.rows.slot_of[i] < 0:
            j = min(t - first, k)  # beyond the present step: the place to spare
            if j == k:
                propose(method, problem, i, j)
            if moves(method, problem, i, j):
                chosen[count] = i
                count += 1
                if count == len(chosen):
                    return count, t + 1
    return count, len(order)
