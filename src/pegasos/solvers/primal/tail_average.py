"""Dual points of primal methods: the average of the slopes met on each row over recent epochs.

After complete epochs the average of the dual numbers that a primal method took on row i is
feasible, and w of these averages is the method's iterate ([PT13] Prop. 2, for every convex loss:
docs/mathematics.md, section 6).
The average over the later epochs only is tighter, for the first epochs are far from the optimum.
Two sums hold it: `older` since epoch `first`, `newer` since epoch `middle`; whenever the epochs
have grown GROWTH-fold, `newer` becomes `older`. So the tail is the last 3/4 to 15/16 of all epochs:
shorter ones (half, as is usual) gave looser certificates on real data, being noisier.

Rows drawn independently are not met equally often: each then averages over its own visits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, scores
from pegasos.dispatch import compiled, inlined
from pegasos.problem.objective import Problem, blocks, flat
from pegasos.problem.row_slopes import write_minus_slopes

GROWTH = 4


class Sums(NamedTuple):
    """Sums of dual numbers, shape (n, K), and the visits of each row where these differ.

    `visits` is (n, 2), for `older` and `newer`, or (0, 2) where every row is met once per epoch.
    """

    older: FloatArray
    newer: FloatArray
    visits: Any


@dataclass
class Tail:
    """The sums of a run and the epochs they cover."""

    sums: Sums
    epochs: int = 0
    first: int = 0  # epochs before `older` begins
    middle: int = 0  # epochs before `newer` begins
    is_whole: bool = False  # the sums are over all epochs, as in [PT13]

    def end_epoch(self, times: int = 1) -> bool:
        """Count an epoch (in which each row was presented `times` times); say if the tail turns."""
        self.epochs += times
        if self.is_whole or self.epochs < GROWTH * self.middle:
            return False
        older, newer, visits = self.sums
        older[:], newer[:] = newer, 0.0
        visits[:, 0], visits[:, 1] = visits[:, 1], 0
        self.first, self.middle = self.middle, self.epochs
        return True

    def length(self) -> int:
        """Return the epochs that the dual point averages."""
        return self.epochs - self.first


def new_tail(n: int, K: int, is_independent: bool) -> Tail:
    """Return the empty sums of a run; `is_independent` says that rows are drawn independently."""
    visits = np.zeros((n if is_independent else 0, 2), dtype=np.uint32)
    return Tail(Sums(np.zeros((n, K)), np.zeros((n, K)), visits))


def own_averages(problem: Problem, tail: Tail, W: FloatArray, b: FloatArray) -> FloatArray:
    """Return the average of each row over its visits; minus the slope at W, b without a visit."""
    older, _, visits = tail.sums
    A = older / np.maximum(visits[:, :1], 1)
    for start, stop in blocks(problem.rows):
        fill_unvisited(problem, start, stop, visits, flat(W), b, A)
    return A


@inlined
def add_dual(sums, i, k, a):  # type: ignore[no-untyped-def]
    """Add a dual number to both sums."""
    sums.older[i, k] += a
    sums.newer[i, k] += a


@inlined
def count_visit(sums, i):  # type: ignore[no-untyped-def]
    """Count a visit of row i, where visits are counted."""
    if len(sums.visits) > 0:
        sums.visits[i, 0] += np.uint32(1)
        sums.visits[i, 1] += np.uint32(1)


@compiled
def fill_unvisited(problem, start, stop, visits, W, b, A):  # type: ignore[no-untyped-def]
    """Write minus the slope at W, b into the rows of A that were not visited."""
    costs, K = problem.costs, A.shape[1]
    z = np.empty(K)
    for i in range(start, stop):
        if visits[i, 0] == 0:
            scores(problem.rows, i, W, z)
            for k in range(K):
                z[k] += b[k]
            write_minus_slopes(costs.loss, costs, i, z, A[i])
