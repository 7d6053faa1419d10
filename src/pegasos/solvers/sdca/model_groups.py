"""Several models on large data: each a run of its own, on threads.

Models that share a pass read each row once, which pays where they are many. Up to a dozen fare
better alone: side by side, each with rows of its own to leave out, and none is advanced any more
once it is certified (30,000 text-like rows, C = 1, 3 and 10 classes: 8.2 and 8.6 passes a model
instead of 10 and 11). Which models run alone follows from the data, so that results do not depend
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, stored_values
from pegasos.parallel import each
from pegasos.problem.objective import Problem
from pegasos.solvers.protocol import Advance

FEW = 12  # models that fare better alone
LARGE = 2_000_000  # stored values times models from which threads pay


@dataclass
class Group:
    """Models that share their passes: which columns, their targets Y, the state of their run.

    `is_done` says that they are as good as they are to be; `has_ended`, that they wait for other
    groups to end their epoch; `estimate` is the run's own, of its last epoch.
    """

    columns: slice
    Y: FloatArray
    state: Any
    is_done: bool = False
    has_ended: bool = False
    estimate: float = float("nan")
    rows_visited: int = 0  # in the latest advance


@dataclass
class Groups:
    """A run of many models."""

    groups: list[Group]

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Return the dual numbers of all models, (n, K)."""
        return np.hstack([group.state.A for group in self.groups])

    def leave_out(self, is_done: Any) -> None:
        """Advance no group any more whose models are all done, unless all groups' are."""
        for group in self.groups:
            group.is_done = bool(is_done[group.columns].all())
        if all(group.is_done for group in self.groups):
            for group in self.groups:
                group.is_done = False


def columns_of_groups(rows: Rows, K: int) -> list[slice]:
    """Return which of K models share their passes."""
    if 1 < K <= FEW and stored_values(rows) * K >= LARGE:
        return [slice(k, k + 1) for k in range(K)]
    return [slice(0, K)]


def of_columns(problem: Problem, Y: FloatArray) -> Problem:
    """Return the problem of some models only, whose targets are Y."""
    return problem._replace(costs=problem.costs._replace(Y=Y))


def advance_groups(
    advance: Callable[[Problem, Any], Advance], problem: Problem, run: Groups
) -> Advance:
    """Advance every group that is in the middle of its epoch; the run's ends with the last."""
    waiting = [group for group in run.groups if not (group.is_done or group.has_ended)]

    def work(group: Group) -> None:
        step = advance(of_columns(problem, group.Y), group.state)
        group.rows_visited, group.has_ended = step.rows_visited, step.ends_epoch
        group.estimate = step.estimate

    each(work, waiting)
    K = problem.costs.Y.shape[1]
    visited = sum(group.rows_visited * group.Y.shape[1] for group in waiting)
    ends_epoch = all(group.is_done or group.has_ended for group in run.groups)
    estimates = [group.estimate for group in run.groups if group.has_ended]
    if ends_epoch:
        for group in run.groups:
            group.has_ended = False
    estimate = float(np.max(estimates)) if ends_epoch else float("nan")
    return Advance(max(1, visited // K), ends_epoch, estimate)
