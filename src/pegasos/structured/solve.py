"""The outer loop of structured problems: advance, certify, record, decide, as `solve` does.

A run needs of its solver a way to go on, and of its problem a way to certify where that leads:

    advance(state) -> Advance        certify(state) -> Evaluation

Objectives and bounds of any two certificates can be combined: the best of each is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.certificate.sequences import Evaluation
from pegasos.certificate.stopping import Certificate, Outcome, Stopping, relative
from pegasos.certificate.trace import Record, Trace
from pegasos.disk_cache import how_often
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.progress import Compilation, Watch

FIRST_CHECK = 4  # epochs before the first certificate that no estimate asks for
EPOCHS_PER_CERTIFICATE = 5  # where there is a choice; a certificate costs about one epoch
HINT = 1.5  # times `tol` that an estimate, which is behind, may be to be worth a certificate
STALLED = 4  # certificates in which the gap must fall where rounding is near
ROUNDING_BEGINS = 1e-11  # relative gap below which rounding may rule
UNITS = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class StructuredSolution:
    """What a fit leaves behind: a model, its certificate, the history, the solver's state."""

    model: Any
    certificate: Certificate
    trace: Trace
    outcome: Outcome
    state: Any


@dataclass(frozen=True)
class Task:
    """What a loop has to know of a solver and its problem; `n` is the number of examples.

    `compiles` is what to say when Numba compiles for long, up to how often that happens.
    """

    advance: Callable[[Any], Any]
    certify: Callable[[Any], Evaluation]
    n: int
    compiles: str


def solve(
    run: Task,
    start: Callable[[], Any],
    stopping: Stopping,
    watch: Watch,
    interrupts: Interrupts,
) -> StructuredSolution:
    """Have a solver advance until its certificate, or a limit, says stop."""
    compilation = Compilation(watch.announce, f"{run.compiles}, {how_often()}")
    with interrupts, watch, compilation:
        loop = _Loop(run, stopping, watch, interrupts, compilation)
        state, outcome = start(), None
        while outcome is None:
            outcome = loop.after(run.advance(state), state)
        outcome = loop.finish(state, outcome)
        certificate = loop.certificate(outcome)
        watch.finished(certificate)
    return StructuredSolution(loop.model, certificate, loop.trace, outcome, state)


class _Loop:
    """Bookkeeping of one fit."""

    def __init__(
        self,
        run: Task,
        stopping: Stopping,
        watch: Watch,
        interrupts: Interrupts,
        compilation: Compilation,
    ) -> None:
        self.run, self.stopping, self.watch = run, stopping, watch
        self.interrupts, self.compilation, self.trace = interrupts, compilation, Trace()
        self.begin = time.perf_counter()
        self.epochs = self.visited = self.visited_of_epoch = 0
        self.checked = -1  # examples visited when the last certificate was made
        self.next_check, self.next_hint = FIRST_CHECK, 1
        self.certifying = 0.0
        self.model: Any = None
        self.primal, self.dual = np.inf, -np.inf

    def seconds(self) -> float:
        """Return the seconds since the start, without those spent compiling."""
        return time.perf_counter() - self.begin - self.compilation.seconds

    def gap(self) -> float:
        """Return what is left between the best objective and the best bound, and their rounding."""
        return max(0.0, self.primal - self.dual) + UNITS * abs(self.primal)

    def relative_gap(self) -> float:
        """Return the fraction of the optimum that the objective is proven to be within."""
        gap, primal, dual = (np.array(x) for x in (self.gap(), self.primal, self.dual))
        return float(relative(gap, primal, dual))

    def after(self, step: Any, state: Any) -> Outcome | None:
        """Take note of an advance; certify if it is time to; say whether to stop."""
        outcome = None
        self.visited += step.rows_visited
        self.visited_of_epoch = 0 if step.ends_epoch else self.visited_of_epoch + step.rows_visited
        if step.ends_epoch:
            self.epochs += 1
            try:
                outcome = self._after_epoch(step.estimate, state)
            except Interrupted:
                outcome = Outcome.INTERRUPT
        outcome = outcome or self._limit()
        if outcome is None:
            part = min(1.0, self.visited_of_epoch / self.run.n)
            self.watch.advanced(self.epochs + part, self.seconds)
        return outcome

    def _after_epoch(self, estimate: float, state: Any) -> Outcome | None:
        is_hinted = 0.0 <= estimate <= HINT * self.stopping.tol
        if self.epochs >= (self.next_hint if is_hinted else self.next_check):
            self.certify(state)
        must_stop = self.watch.epoch(self.epochs, lambda: self.certified_model(state))
        if self.checked == self.visited:
            if self.relative_gap() <= self.stopping.tol:
                return Outcome.TOLERANCE
            if self._is_rounding():
                return Outcome.ROUNDING
        return Outcome.CALLBACK if must_stop else None

    def _is_rounding(self) -> bool:
        """Whether the gap no longer falls where rounding may be the reason."""
        recent = [record.relative_gap for record in self.trace.records[-STALLED:]]
        return len(recent) == STALLED and 0.5 * recent[0] < recent[-1] <= ROUNDING_BEGINS

    def certified_model(self, state: Any) -> Any:
        """Return the model, certified no earlier than after the last advance."""
        if self.checked != self.visited:
            self.certify(state)
        return self.model

    def certify(self, state: Any) -> None:
        """Judge the present state, record it and plan the next certificate."""
        start = self.seconds()
        with self.interrupts.raising(self.model is not None):
            found = self.run.certify(state)
        if self.model is None or found.primal < self.primal:
            self.model, self.primal = found.model, found.primal
        self.dual = max(self.dual, found.dual)
        self.certifying, self.checked = self.seconds() - start, self.visited
        record = Record(
            self.epochs, self.seconds(), self.visited, self.primal, self.dual, self.gap(),
            self.relative_gap(),
        )  # fmt: skip
        self.trace.records.append(record)
        epochs_left = self.trace.epochs_to(self.stopping.tol)
        self.watch.certified(record, epochs_left * record.seconds / max(1, self.epochs))
        wanted = max(0.5 * epochs_left if np.isfinite(epochs_left) else 1.0, EPOCHS_PER_CERTIFICATE)
        self.next_check = self.epochs + int(np.clip(wanted, 1.0, 1.0 + 0.5 * self.epochs))
        self.next_hint = self.epochs + 1 + self.epochs // 10

    def _limit(self) -> Outcome | None:
        """Return the limit that is reached, if any."""
        if self.interrupts.pending:
            return Outcome.INTERRUPT
        if self.epochs >= self.stopping.max_iter:
            return Outcome.EPOCHS
        epoch = self.seconds() * self.run.n / max(1, self.visited)
        to_finish = 1.2 * (self.certifying or epoch)
        return Outcome.TIME if self.seconds() + to_finish >= self.stopping.max_time else None

    def finish(self, state: Any, outcome: Outcome) -> Outcome:
        """Certify the last state if the latest certificate is of an earlier one."""
        hurries = outcome is Outcome.INTERRUPT and self.model is not None
        if self.checked != self.visited and not hurries:
            try:
                self.certify(state)
            except Interrupted:
                outcome = Outcome.INTERRUPT
        is_limit = outcome in (Outcome.EPOCHS, Outcome.TIME)
        is_good = self.relative_gap() <= self.stopping.tol
        return Outcome.TOLERANCE if is_limit and is_good else outcome

    def certificate(self, outcome: Outcome) -> Certificate:
        """Return the certificate of the model that is handed out."""
        values = (self.primal, self.dual, self.gap(), self.relative_gap())
        names = ("primal", "dual", "gap", "relative_gap")
        models = {name: np.array([x]) for name, x in zip(names, values, strict=True)}
        return Certificate(
            *values, self.stopping.tol, outcome.value, self.epochs, self.seconds(), models
        )
