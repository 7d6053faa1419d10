"""Rows of the kernel matrix, brought in ahead of the steps that need them.

A method takes steps on one random row after another, in a compiled loop of its own, and decides by
the responses alone; only a row that it adds needs its row of the kernel matrix. The loop returns
where that is not in the store. It is then computed in one block with those that the coming steps
would need if they were taken now: matrix products instead of single rows, and little in vain.

A loop has every row that it adds admitted (`admit`). Where it stands is data, a `Walk`, so that it
goes on in the next call, or in another process, as if it had not returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, inlined, kernel
from pegasos.problem.objective import Problem
from pegasos.solvers.responses.responses import VALUES_AT_ONCE, see

FEWEST_AHEAD, MOST_AHEAD = 16, 256  # rows of the kernel matrix that are computed together
VALUES_ENOUGH = 1_000_000  # kernel values after which a call computes no other block
VALUES_PER_CALL = 100_000_000  # added to responses by one call of a loop
FIRST, WITHIN, LEFT = 0, 1, 2  # what a place holds: see `Walk`
NOT_BEGUN = -1  # in place of the row within a step
ENDED, PAUSED, MISSING, ADMITTED = 0, 1, 2, 3  # why a loop returns; the last: it does not


@by_tag
def would_add(method: Any, problem: Any, i: int, j: int) -> bool:
    """Whether row i, j places after the present step's first, would be added as things stand."""
    raise NotImplementedError


@dataclass
class Walk:
    """Where a run is in its epoch, and how far it looks ahead.

    `place` holds where the present step begins in its order (FIRST), the next row in it (WITHIN),
    and how many rows may still be added in this call (LEFT). The last look-ahead was for `ahead`
    rows, which it looked for from `begin` to `end` of the order.
    """

    place: Any = field(default_factory=lambda: np.array([0, NOT_BEGUN, 0]))
    ahead: int = FEWEST_AHEAD
    begin: int = 0
    end: int = 0
    moved: int = 0  # rows that changed the weights so far

    def is_at_start(self) -> bool:
        """Whether an epoch is about to begin."""
        return int(self.place[FIRST]) == 0 and int(self.place[WITHIN]) == NOT_BEGUN

    def is_over(self, order: Any) -> bool:
        """Whether the epoch has ended."""
        return int(self.place[FIRST]) == len(order)

    def start_again(self) -> None:
        """Go back to the beginning of the order."""
        self.place[FIRST], self.place[WITHIN] = 0, NOT_BEGUN
        self.begin = self.end = 0

    def adapt(self, most: int) -> None:
        """Look twice as far ahead as the last look-ahead foresaw all rows that were needed."""
        here = int(self.place[FIRST] + self.place[WITHIN])
        share = (here - self.begin) / (self.end - self.begin) if here < self.end else 1.0
        self.ahead = int(np.clip(2.0 * share * self.ahead, min(FEWEST_AHEAD, most), most))
        self.begin = here


def go_on(
    walk: Walk, steps: Callable[..., int], method: Any, problem: Problem, F: FloatArray, order: Any
) -> int:
    """Take steps for a fraction of a second; return how many rows were done with.

    `steps(problem, order, method, place)` is the compiled loop, which returns ENDED, PAUSED or
    MISSING. The walk and all that the method works on change.
    """
    gram, place, start = problem.rows, walk.place, int(walk.place[FIRST])
    most = max(1, min(MOST_AHEAD, gram.capacity // 2, VALUES_AT_ONCE // gram.n))
    chosen, computed = np.empty(most, dtype=np.int64), 0
    place[LEFT] = allowed = max(1, VALUES_PER_CALL // F.size)
    while steps(see(problem, F), order, method, place) == MISSING:
        if computed >= VALUES_ENOUGH:
            break
        walk.adapt(most)
        some = chosen[: walk.ahead]
        count, walk.end = look_ahead(method, see(problem, F), order, place, some)
        gram.hold(np.unique(some[:count]))
        computed += count * gram.n
    moved = allowed - int(place[LEFT])
    walk.moved += moved
    gram.hits += max(0, moved - computed // gram.n)
    return int(place[FIRST]) - start


@inlined
def admit(rows, i, place):  # type: ignore[no-untyped-def]
    """Say whether row i may be added to the responses now, or why a loop must return first."""
    if rows.slot_of[i] < 0:
        return MISSING
    if place[LEFT] == 0:
        return PAUSED
    place[LEFT] -= 1
    return ADMITTED


@kernel
def look_ahead(method, problem, order, place, chosen):  # type: ignore[no-untyped-def]
    """Write the missing row, and those that coming steps need as things stand, into `chosen`.

    Return how many they are (with independent draws, one may occur twice) and where the look ended.
    """
    count, first = 0, place[FIRST]
    for t in range(first + place[WITHIN], len(order)):
        i = order[t]
        if problem.rows.slot_of[i] < 0 and would_add(method, problem, i, t - first):
            chosen[count] = i
            count += 1
            if count == len(chosen):
                return count, t + 1
    return count, len(order)
