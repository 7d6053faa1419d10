"""The outer loop of structured problems: advance, certify, record, decide, as `solve` does.

A run needs of its solver a way to go on, and of its problem a way to certify where that leads:

    advance(state) -> Advance        certify(state) -> Evaluation

Objectives and bounds of any two certificates can be combined: the best of each is kept. All that a
run holds beside its task and its limits is data: it can be saved between any two steps, and goes on
with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.around import Around
from pegasos.certificate.schedule import Schedule
from pegasos.certificate.sequences import Evaluation
from pegasos.certificate.stopping import Certificate, Outcome, Stopping, relative
from pegasos.certificate.trace import Record, Trace
from pegasos.interrupt import Interrupted
from pegasos.solvers.protocol import Advance
from pegasos.state import from_data, to_data

STALLED = 4  # certificates in which the gap must fall where rounding is near
ROUNDING_BEGINS = 1e-11  # relative gap below which rounding may rule
UNITS = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class StructuredSolution:
    """What a fit leaves behind: a model, its certificate, the history, the solver's state.

    The optimum is within `radius` of the model.
    """

    model: Any
    radius: float
    certificate: Certificate
    trace: Trace
    outcome: Outcome
    state: Any


@dataclass(frozen=True)
class Task:
    """What a loop has to know of a solver and its problem; `n` is the number of examples."""

    advance: Callable[[Any], Advance]
    certify: Callable[[Any], Evaluation]
    n: int


def solve(
    task: Task, start: Callable[[], Any], stopping: Stopping, around: Around
) -> StructuredSolution:
    """Have a solver advance until its certificate, or a limit, says stop."""
    with around:
        run = StructuredRun(task, stopping, around, start())
        while run.outcome is None:
            run.advance()
        return run.finish()


class StructuredRun:
    """One fit: what was done, when the next certificate is due, when to stop."""

    def __init__(self, task: Task, stopping: Stopping, around: Around, state: Any) -> None:
        self.task, self.stopping, self.around, self.state = task, stopping, around, state
        self.outcome: Outcome | None = None
        self.trace, self.schedule = Trace(), Schedule()
        self.epochs = self.visited = self.visited_of_epoch = 0
        self.checked = -1  # examples visited when the last certificate was made
        self.earlier = 0.0  # seconds, before the run was loaded
        self.certifying = 0.0  # seconds that the last certificate took
        self.model: Any = None
        self.primal, self.dual, self.radius = np.inf, -np.inf, np.inf

    def save(self) -> dict[str, Any]:
        """Return the run as arrays by name and a string of JSON; see `state`."""
        data = {**vars(self), "earlier": self.seconds()}
        for name in ("task", "stopping", "around"):
            del data[name]
        return to_data(data, {})

    @classmethod
    def load(
        cls, task: Task, stopping: Stopping, around: Around, data: Mapping[str, Any]
    ) -> StructuredRun:
        """Return a run that goes on where `data` was saved, on the same problem."""
        run = cls(task, stopping, around, None)
        vars(run).update(from_data(data, {}))
        return run

    def seconds(self) -> float:
        """Return the seconds since the start, without those spent compiling."""
        return self.earlier + self.around.seconds()

    def gap(self) -> float:
        """Return what is left between the best objective and the best bound, and their rounding."""
        return float(max(0.0, self.primal - self.dual) + UNITS * abs(self.primal))

    def relative_gap(self) -> float:
        """Return the fraction of the optimum that the objective is proven to be within."""
        gap, primal, dual = (np.array(x) for x in (self.gap(), self.primal, self.dual))
        return float(relative(gap, primal, dual))

    def advance(self) -> None:
        """Have the solver advance; certify if it is time to; see whether to stop."""
        step, outcome = self.task.advance(self.state), None
        self.visited += step.rows_visited
        self.visited_of_epoch = 0 if step.ends_epoch else self.visited_of_epoch + step.rows_visited
        if step.ends_epoch:
            self.epochs += 1
            try:
                outcome = self._after_epoch(step.estimate)
            except Interrupted:
                outcome = Outcome.INTERRUPT
        self.outcome = outcome or self._limit()
        if self.outcome is None:
            part = min(1.0, self.visited_of_epoch / self.task.n)
            self.around.watch.advanced(self.epochs + part, self.seconds)

    def _after_epoch(self, estimate: float) -> Outcome | None:
        """Certify if a certificate is due, or if a watch asks for the model."""
        if self.schedule.is_due(self.epochs, estimate, self.stopping.tol):
            self.certify()
        must_stop = self.around.watch.epoch(self.epochs, self.certified_model)
        if self.checked == self.visited:
            self.schedule.learn_from(estimate, self.relative_gap())
            if self.relative_gap() <= self.stopping.tol:
                return Outcome.TOLERANCE
            if self._is_rounding():
                return Outcome.ROUNDING
        return Outcome.CALLBACK if must_stop else None

    def _is_rounding(self) -> bool:
        """Whether the gap no longer falls where rounding may be the reason."""
        recent = [record.relative_gap for record in self.trace.records[-STALLED:]]
        return len(recent) == STALLED and 0.5 * recent[0] < recent[-1] <= ROUNDING_BEGINS

    def certified_model(self) -> tuple[Any, ...]:
        """Return the parts of the model, certified no earlier than after the last advance."""
        if self.checked != self.visited:
            self.certify()
        return self.model if isinstance(self.model, tuple) else (self.model,)

    def certify(self) -> None:
        """Judge the present state, record it and plan the next certificate."""
        start = self.seconds()
        with self.around.interrupts.raising(self.model is not None):
            found = self.task.certify(self.state)
        if self.model is None or found.primal < self.primal:
            self.model, self.primal, self.radius = found.model, found.primal, found.radius
        self.dual = max(self.dual, found.dual)
        self.certifying, self.checked = self.seconds() - start, self.visited
        record = Record(
            self.epochs, self.seconds(), self.visited, self.primal, self.dual, self.gap(),
            self.relative_gap(),
        )  # fmt: skip
        self.trace.records.append(record)
        epochs_left = self.trace.epochs_to(self.stopping.tol)
        self.around.watch.certified(record, epochs_left * record.seconds / max(1, self.epochs))
        self.schedule.plan(self.epochs, epochs_left)

    def _limit(self) -> Outcome | None:
        """Return the limit that is reached, if any."""
        if self.around.interrupts.pending:
            return Outcome.INTERRUPT
        if self.epochs >= self.stopping.max_iter:
            return Outcome.EPOCHS
        epoch = self.seconds() * self.task.n / max(1, self.visited)
        to_finish = 1.2 * (self.certifying or epoch)
        return Outcome.TIME if self.seconds() + to_finish >= self.stopping.max_time else None

    def finish(self) -> StructuredSolution:
        """Certify the last state if the latest certificate is of an earlier one; return it all."""
        assert self.outcome is not None
        hurries = self.outcome is Outcome.INTERRUPT and self.model is not None
        if self.checked != self.visited and not hurries:
            try:
                self.certify()
            except Interrupted:
                self.outcome = Outcome.INTERRUPT
        is_limit = self.outcome in (Outcome.EPOCHS, Outcome.TIME)
        if is_limit and self.relative_gap() <= self.stopping.tol:
            self.outcome = Outcome.TOLERANCE
        certificate = self.certificate(self.outcome)
        self.around.watch.finished(certificate)
        return StructuredSolution(
            self.model, self.radius, certificate, self.trace, self.outcome, self.state
        )

    def certificate(self, outcome: Outcome) -> Certificate:
        """Return the certificate of the model that is handed out."""
        values = (self.primal, self.dual, self.gap(), self.relative_gap())
        names = ("primal", "dual", "gap", "relative_gap")
        models = {name: np.array([x]) for name, x in zip(names, values, strict=True)}
        return Certificate(
            *values, self.stopping.tol, outcome.value, self.epochs, self.seconds(), models
        )
