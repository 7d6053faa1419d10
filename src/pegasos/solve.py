"""The one outer loop: advance, certify, record, decide.

Every solver gets from here what no solver does itself: a proven tolerance, limits on epochs and
time, Ctrl-C that keeps the model, history, progress and warm starts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.certificate.judge import Judge
from pegasos.certificate.predictions import Ball, ball
from pegasos.certificate.stopping import Certificate, Outcome, Stopping
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.problem.objective import Problem
from pegasos.progress import Watch
from pegasos.solvers.protocol import Solver

CERTIFYING_SHARE = 0.3  # seconds of certificates per second of solving, where there is a choice
CERTIFYING_MAY_DELAY = 0.3  # seconds that a last certificate may add after Ctrl-C


@dataclass(frozen=True)
class Solution:
    """What a fit leaves behind.

    Weights `W` (d, K) and biases `b` (K,), their certificate, the history, the ball that holds the
    optimum, and the solver's state for a warm start.
    """

    W: FloatArray
    b: FloatArray
    certificate: Certificate
    trace: Trace
    ball: Ball
    outcome: Outcome
    state: Any


def solve(
    problem: Problem,
    solver: Solver,
    stopping: Stopping,
    *,
    seed: int = 0,
    previous: Any | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Run a solver until its certificate, or a limit, says stop."""
    run = _Run(problem, solver, stopping, watch or Watch())
    with Interrupts() as interrupts, run.watch:
        run.interrupts = interrupts
        state = solver.start(problem, seed, previous)
        outcome = None
        while outcome is None:
            step = solver.advance(problem, state)
            outcome = run.after(step, state)
        run.finish(state, outcome)
    judge, trace = run.judge, run.trace
    certificate = Certificate(
        primal=float(judge.primal.sum()),
        dual=float(judge.dual.sum()),
        gap=float(judge.certified_gap().sum()),
        relative_gap=float(judge.relative_gap().max()),
        tol=stopping.tol,
        reason=outcome.value,
        epochs=run.epochs,
        seconds=run.seconds(),
        models={
            "primal": judge.primal,
            "dual": judge.dual,
            "gap": judge.certified_gap(),
            "relative_gap": judge.relative_gap(),
        },
    )
    return Solution(judge.W, judge.b, certificate, trace, run.ball(), outcome, state)


class _Run:
    """Bookkeeping of one fit: what was done, when the next certificate is due, when to stop."""

    interrupts: Interrupts

    def __init__(self, problem: Problem, solver: Solver, stopping: Stopping, watch: Watch) -> None:
        self.problem, self.solver, self.stopping, self.watch = problem, solver, stopping, watch
        self.judge, self.trace = Judge(problem), Trace()
        self.begin = time.perf_counter()
        self.epochs = self.rows_visited = 0
        self.next_check = 1
        self.certifying = self.all_certifying = 0.0
        self.checked_epoch = -1

    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def after(self, step: Any, state: Any) -> Outcome | None:
        """Take note of an advance; certify if it is time to; say whether to stop."""
        limits = self.stopping
        self.rows_visited += step.rows_visited
        if step.ends_epoch:
            self.epochs += 1
            is_hinted = step.estimate <= max(limits.tol, 0.0)
            if self.epochs >= self.next_check or is_hinted:
                try:
                    self.certify(state)
                except Interrupted:
                    return Outcome.INTERRUPT
                if (outcome := self._is_good_enough()) is not None:
                    return outcome
            if self.watch.epoch(self.epochs, self.judge, self.seconds):
                return Outcome.CALLBACK
        if self.interrupts.pending:
            return Outcome.INTERRUPT
        if self.epochs >= limits.max_iter:
            return Outcome.EPOCHS
        if self.seconds() + 1.2 * self.certifying >= limits.max_time:
            return Outcome.TIME
        return None

    def certify(self, state: Any) -> None:
        """Judge the present state, record it and plan the next certificate."""
        start = time.perf_counter()
        limits = self.stopping
        dual = self.solver.dual_point(self.problem, state)
        iterate = self.solver.iterate(self.problem, state)
        scale = float(self.judge.primal.min()) if self.judge.has_judged else 1.0
        accuracy = 0.0 if limits.wish_epochs else 1e-3 * limits.tol * scale
        with self.interrupts.raising(self.judge.has_judged):
            self.judge.assess(dual, iterate, not self.solver.is_dual, accuracy)
        self.certifying, self.checked_epoch = time.perf_counter() - start, self.epochs
        self.all_certifying += self.certifying
        record = Record(
            self.epochs, self.seconds(), self.rows_visited,
            float(self.judge.primal.sum()), float(self.judge.dual.sum()),
            float(self.judge.certified_gap().sum()), float(self.judge.relative_gap().max()),
        )  # fmt: skip
        self.trace.records.append(record)
        forecast = self.trace.epochs_to(self._target())
        self.watch.certified(record, forecast * record.seconds / max(1, self.epochs))
        self.next_check = self.epochs + self._patience(forecast)

    def _patience(self, forecast: float) -> int:
        """Return the epochs until the next certificate.

        Half of what the forecast says, at most half of what is behind; and where certificates are
        dear, enough epochs that they take a small share of the time.
        """
        per_epoch = (self.seconds() - self.all_certifying) / max(1, self.epochs)
        share = CERTIFYING_SHARE * per_epoch
        affordable = self.certifying / share if share > 0.0 else 1.0
        wanted = max(0.5 * forecast if np.isfinite(forecast) else 1.0, affordable)
        return int(np.clip(wanted, 1.0, 1.0 + 0.5 * self.epochs))

    def _target(self) -> float:
        limits = self.stopping
        return limits.wish if self.epochs < limits.wish_epochs else limits.tol

    def _is_good_enough(self) -> Outcome | None:
        limits = self.stopping
        if self.judge.relative_gap().max() <= min(limits.tol, self._target()):
            return Outcome.TOLERANCE
        if limits.rule == "decisions" and self._settled() >= limits.settled:
            return Outcome.DECISIONS
        return None

    def _settled(self) -> float:
        """Return the fraction of training labels that can no longer change."""
        low, high = ball(self.problem, self.judge).bounds(self.problem.rows)
        return float(((low > 0.0) | (high < 0.0)).mean())

    def finish(self, state: Any, outcome: Outcome) -> None:
        """Certify the last state if the latest certificate is of an earlier one."""
        is_stale = self.checked_epoch != self.epochs or outcome is Outcome.TIME
        must_hurry = outcome is Outcome.INTERRUPT and self.certifying > CERTIFYING_MAY_DELAY
        if not self.judge.has_judged or (is_stale and not must_hurry):
            self.certify(state)

    def ball(self) -> Ball:
        return ball(self.problem, self.judge)
