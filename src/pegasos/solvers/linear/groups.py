"""Many models: groups of columns, each a run of its own, on threads.

Models of a group share each pass over the rows: a row is read once and serves them all. Groups do
not share it, but run side by side, have rows to leave out of their own, and a group whose models
are all certified is not advanced any more. Which models make a group follows from their number, so
that results do not depend on the number of threads.
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

MODELS = 8  # in a group, at most: a line of cache
LARGE = 2_000_000  # stored values times models from which groups pay


@dataclass
class Group:
    """Some models: which columns, their targets Y (n, columns), the state of their run.

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
    """Cut K models into groups of nearly the same size; one group where data is small."""
    count = max(2, -(-K // MODELS)) if K > 1 and stored_values(rows) * K >= LARGE else 1
    cuts = [g * K // count for g in range(count + 1)]
    return [slice(cuts[g], cuts[g + 1]) for g in range(count)]


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
