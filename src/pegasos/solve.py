"""The one outer loop: advance, certify, record, decide.

Every solver gets from here what no solver does itself: a proven tolerance, limits on epochs and
time, Ctrl-C that keeps the model, history, progress, warm starts, and a run that is plain data
between any two steps: saved, and loaded in another process, it goes on with the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos.around import Around, Decided
from pegasos.certificate.definiteness import definiteness
from pegasos.certificate.judge import Judge
from pegasos.certificate.leads import unknown_biases
from pegasos.certificate.offer import Offer
from pegasos.certificate.predictions import Ball, ball
from pegasos.certificate.schedule import LONG_PAUSE, PAUSE, Schedule, rounding_rules
from pegasos.certificate.stopping import Certificate, Outcome, Stopping
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray, float_type, shape
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.problem.geometry import geometry
from pegasos.problem.objective import Problem
from pegasos.progress import Watch, logger
from pegasos.recorder import Moment, Recording
from pegasos.solvers.auto import Auto, Choice
from pegasos.solvers.present_model import present_model
from pegasos.solvers.protocol import Advance, Solver
from pegasos.state import from_data, to_data

CERTIFYING_MAY_DELAY = 0.3  # seconds that a last certificate may add after Ctrl-C
UNKNOWN_COST = 0.2  # of a first certificate of a kernel, in the time taken so far: for `max_time`
ENOUGH_UNPROVEN = 50  # epochs, where a kernel turned out not to be positive semi-definite
FINEST = 1e-12  # relative gap beyond which no solver is chosen for its accuracy


@dataclass(frozen=True)
class Solution:
    """What a fit leaves behind.

    Weights `W` (d, K) and biases `b` (K,), their certificate, the history, the ball that holds the
    optimum, the solver's state for a warm start, the lam of the problem that was certified, and the
    records of chosen steps.
    """

    W: FloatArray
    b: FloatArray
    certificate: Certificate
    trace: Trace
    ball: Ball
    outcome: Outcome
    state: Any
    lam: float
    moments: list[Moment]


def solve(  # noqa: PLR0913
    problem: Problem,
    solver: Solver | Auto,
    stopping: Stopping,
    *,
    seed: int = 0,
    previous: Any | None = None,
    watch: Watch | None = None,
    decided: Decided | None = None,
    interrupts: Interrupts | None = None,
    recording: Recording | None = None,
) -> Solution:
    """Run a solver until its certificate, or a limit, says stop.

    `decided` takes lower and upper bounds (n, K) on the optimum's decision values and tells which
    labels they settle; by default, those whose interval does not hold 0. `interrupts` says what
    Ctrl-C means; by default, the model so far is kept. `recording` says which steps to record.
    """
    with Around(problem.costs.loss, watch, decided, interrupts, recording) as around:
        run = Run(problem, stopping, around)
        run.start(solver, seed, previous)
        while run.outcome is None:
            run.advance()
        return run.finish()


class Run:
    """One fit: what was done, when the next certificate is due, when to stop.

    All that it holds is data, but for the problem, its limits and what is around it: `save` returns
    the rest, between any two calls of `advance`, and `load` goes on from there.
    """

    choice: Choice
    state: Any
    judge: Judge

    def __init__(self, problem: Problem, stopping: Stopping, around: Around) -> None:
        self.problem, self.stopping, self.around = problem, stopping, around
        self.n, _ = shape(problem.rows)
        self.auto: Auto | None = None
        self.outcome: Outcome | None = None
        self.trace, self.schedule = Trace(), Schedule()
        self.epochs = self.rows_visited = self.rows_of_epoch = 0
        self.earlier = 0.0  # seconds, before the run was loaded
        self.certifying = 0.0  # seconds that the last certificate took
        self.bare_gaps: list[float] = []  # of every certificate, without the room for rounding
        self.checked = (-1, -1)  # rows visited and steps when the last certificate was made
        self.steps, self.recorded = 0, -1  # taken so far; up to which they were recorded
        self.moments: list[Moment] = []
        self.aside = (0.0, 0)  # seconds and kernel values that went into certificates

    @property
    def solver(self) -> Solver:
        """The solver at work."""
        return self.choice.solver

    def seconds(self) -> float:
        """Return the seconds since the start, without those spent compiling."""
        return self.earlier + self.around.seconds()

    def start(self, solver: Solver | Auto, seed: int = 0, previous: Any | None = None) -> None:
        """Decide which solver is to do the work, and have it begin."""
        self.seed, self.judge = seed, Judge(self.problem, seed)
        self.kernel = definiteness(self.problem.rows, seed)
        if isinstance(solver, Auto):
            limits = self.stopping
            aim = max(FINEST, limits.wish) if limits.wish_epochs else limits.tol
            self.auto, self.choice = solver, solver.choose(self.problem, aim)
            self.around.watch.planned(self.choice.why)
        else:
            self.choice = Choice(solver, "")
        self.state = self.solver.start(self.problem, seed, previous)
        self._record_step()

    def save(self) -> dict[str, Any]:
        """Return the run as arrays by name and a string of JSON; see `state`.

        With a kernel, the rows of its matrix that are held are part of it: computed anew, together
        with others, their values may differ in the last bit.
        """
        data = {**vars(self), "earlier": self.seconds()}
        for name in ("problem", "stopping", "around"):
            del data[name]
        data["held"] = geometry(self.problem.rows).held()
        return to_data(data, given_by(self.problem))

    @classmethod
    def load(
        cls, problem: Problem, stopping: Stopping, around: Around, data: Mapping[str, Any]
    ) -> Run:
        """Return a run that goes on where `data` was saved, on the same problem."""
        run, fields = cls(problem, stopping, around), from_data(data, given_by(problem))
        held = fields.pop("held")
        if held is not None:
            problem.rows.hold_again(held)
        vars(run).update(fields)
        return run

    def advance(self) -> None:
        """Have the solver advance; certify if it is time to; decide whether to stop.

        Where kernel values are too coarse, the solver goes on from its models with wider ones;
        where another solver is expected to end sooner, that one does.
        """
        most = min(self.stopping.max_steps, self.around.recording.next_after(self.steps))
        if np.isfinite(most):
            most = max(1, int(most) - self.steps)
            self.after(self.solver.advance_by(self.problem, self.state, most))
        else:
            self.after(self.solver.advance(self.problem, self.state))
        if self.outcome in (Outcome.BLURRED, Outcome.CHANGED):
            if self.outcome is Outcome.BLURRED:
                self._widen()
            self.outcome = None
            self.schedule.forget_estimate(self.epochs)
            self.state = self.solver.start(self.problem, self.seed, self.state)

    def after(self, step: Advance) -> None:
        """Take note of an advance; certify if it is time to; see whether to stop."""
        outcome = None
        self.judge.point = None  # its numbers are others now
        self.rows_visited += step.rows_visited
        self.steps += step.rows_visited if step.steps is None else step.steps
        self.rows_of_epoch = 0 if step.ends_epoch else self.rows_of_epoch + step.rows_visited
        self._record_step()
        self.epochs += step.ends_epoch
        try:
            if step.ends_epoch:
                outcome = self._after_epoch(step.estimate, step.is_current)
            elif step.is_current:
                outcome = self._between_epochs(step.estimate)
        except Interrupted:
            outcome = Outcome.INTERRUPT
        self.outcome = outcome or (Outcome.DONE if step.is_done else self._limit())
        if self.outcome is None:
            passes = self.epochs + min(1.0, self.rows_of_epoch / self.n)
            self.around.watch.advanced(passes, self.seconds)

    def _between_epochs(self, estimate: float) -> Outcome | None:
        """Certify if the solver promises the end; the epoch that it is in then counts as one."""
        is_hinted = estimate <= self._target()  # not if NaN
        if not is_hinted or not self._is_due(estimate, True):
            return None
        self.epochs += 1
        self.certify()
        outcome = self._is_good_enough(estimate)
        self.epochs -= outcome is None
        return outcome

    def _after_epoch(self, estimate: float, is_current: bool) -> Outcome | None:
        """Certify if a certificate is due, or if a watch asks for the model."""
        if self._is_due(estimate, is_current):
            self.certify()
        must_stop = self.around.watch.epoch(self.epochs, self.model)
        outcome = None
        if not self._is_stale():
            outcome = self._is_good_enough(estimate)
            self.schedule.learn_from(estimate, self.trace.records[-1].relative_gap)
            outcome = outcome or self._reconsidered()
        outcome = outcome or self._stalled(estimate)
        return outcome or (Outcome.CALLBACK if must_stop else None)

    def _reconsidered(self) -> Outcome | None:
        """Change the solver if the certificates say that another would end sooner."""
        if self.auto is None:
            return None
        left = self.trace.epochs_to(self.stopping.tol)
        other = self.auto.reconsider(self.choice, self.epochs, left)
        if other is None:
            return None
        self.choice = other
        self.around.watch.planned(other.why)
        return Outcome.CHANGED

    def _stalled(self, estimate: float) -> Outcome | None:
        """End a try for more than `tol` once an exact estimate no longer falls."""
        limits = self.stopping
        if not self.solver.estimates_exactly or self.epochs >= limits.wish_epochs:
            return None
        is_over = self.schedule.has_stalled(self.epochs, estimate, limits.tol)
        if is_over and not self.judge.has_judged:
            self.certify()
        return Outcome.TOLERANCE if is_over and self._is_within_tol() else None

    def _is_within_tol(self) -> bool:
        """Whether all models are proven to be within `tol`."""
        judge = self.judge
        return judge.has_judged and bool(judge.relative_gap().max() <= self.stopping.tol)

    def _is_due(self, estimate: float, is_current: bool) -> bool:
        """Whether a certificate is due."""
        if self.solver.waits_for_estimate and not np.isnan(estimate):
            return estimate <= self._target()
        of = self.epochs, estimate, self._target()
        if is_current and not np.isnan(estimate):
            return self.schedule.is_due_if_current(*of)
        if self.solver.estimates_exactly:
            # Labels may be settled early, and kernel values turn out to be too coarse.
            may_wait = self.stopping.rule == "gap" and not geometry(self.problem.rows).is_expansion
            known = self.judge.has_judged, self._is_within_tol()
            pause = LONG_PAUSE if self.stopping.wish_epochs else PAUSE
            return self.schedule.is_due_if_exact(*of, *known, pause if may_wait else 1)
        return self.schedule.is_due(*of)

    def _limit(self) -> Outcome | None:
        """Return the limit that is reached, if any."""
        limits = self.stopping
        if self.around.interrupts.pending:
            return Outcome.INTERRUPT
        if self.steps >= limits.max_steps:
            return Outcome.STEPS
        if self.epochs >= limits.max_iter:
            return Outcome.EPOCHS
        if self.epochs >= ENOUGH_UNPROVEN and self._is_indefinite():
            return Outcome.INDEFINITE
        if self.seconds() + self._seconds_to_finish() >= limits.max_time:
            return Outcome.TIME
        return None

    def _seconds_to_finish(self) -> float:
        """Return what the last certificate will take; bounds on a free bias cost as much again."""
        certifying = self.certifying
        if not self.judge.has_judged:  # about two passes over the rows
            passes = self.rows_visited / self.n
            is_known = passes > 0.0 and not geometry(self.problem.rows).is_expansion
            share = 2.0 / passes if is_known else UNKNOWN_COST
            share = min(1.0, share) if self.solver.estimates_exactly else share
            certifying = self.seconds() * share
        return (2.5 if self.problem.is_free else 1.2) * certifying

    def model(self) -> tuple[FloatArray, FloatArray]:
        """Return weights and biases, certified no earlier than after the last advance."""
        if self._is_stale():
            self.certify()
        return self.judge.W, self.judge.b

    def _is_stale(self) -> bool:
        """Whether the latest certificate is of an earlier state."""
        return self.checked != (self.rows_visited, self.steps)

    def _record_step(self) -> None:
        """Record the present model, if a chosen step is reached.

        What this takes is no part of the fit: neither its seconds nor its kernel values.
        """
        recording, start = self.around.recording, self.seconds()
        if recording.next_after(self.recorded) > self.steps:
            return
        self.recorded, (proving, values) = self.steps, self.aside
        rows, known = self.problem.rows, geometry(self.problem.rows).evaluations
        counts = None if known is None else (rows.evaluations, rows.hits, rows.misses)
        worth = recording.worth(self.problem, *present_model(self.solver, self.problem, self.state))
        evaluations = None if known is None else known - values
        used = self.solver.kernel_rows(self.state)
        moment = Moment(self.steps, self.rows_visited, start - proving, *worth, evaluations, used)
        self.moments.append(moment)
        if counts is not None:
            rows.evaluations, rows.hits, rows.misses = counts
        self.earlier -= self.seconds() - start

    def certify(self) -> None:
        """Judge the present state, record it and plan the next certificate."""
        start, limits = self.seconds(), self.stopping
        known = geometry(self.problem.rows).evaluations or 0
        self._pose()
        offer = self._offer()
        scale = float(self.judge.primal.min()) if self.judge.has_judged else 1.0
        accuracy = 0.0 if limits.wish_epochs else 1e-3 * limits.tol * scale
        with self.around.interrupts.raising(self.judge.has_judged):
            found = self.judge.evaluations(
                offer, not self.solver.is_dual, accuracy, self._target()
            )  # fmt: skip
        if offer.is_final:
            self.judge.forget_models()
        for evaluation in found:
            self.judge.keep_better(evaluation)
        if self.judge.relative_gap().max() <= limits.tol:
            self._recompute(offer)
        self.certifying, self.checked = self.seconds() - start, (self.rows_visited, self.steps)
        known = (geometry(self.problem.rows).evaluations or 0) - known
        self.aside = self.aside[0] + self.certifying, self.aside[1] + known
        record = self._record()
        self.trace.records.append(record)
        self.bare_gaps.append(float(self.judge.bare_relative_gap().max()))
        seconds_left = self.trace.epochs_to(limits.tol) * record.seconds / max(1, self.epochs)
        self.around.watch.certified(record, seconds_left)
        self.schedule.plan(self.epochs, self.trace.epochs_to(self._target()))
        self.solver.leave_out(self.state, self.judge.relative_gap() <= self._target())

    def _record(self) -> Record:
        """Return what the history keeps of a certificate."""
        judge = self.judge
        return Record(
            self.epochs, self.seconds(), self.rows_visited,
            float(judge.primal.sum()), float(judge.dual.sum()),
            float(judge.certified_gap().sum()), float(judge.relative_gap().max()),
            geometry(self.problem.rows).evaluations, self._is_proven(),
        )  # fmt: skip

    def _offer(self) -> Offer:
        """Return what the solver offers at present."""
        dual = self.solver.dual_point(self.problem, self.state)
        iterate = self.solver.iterate(self.problem, self.state)
        A, scale, scores = (None, 1.0, None) if dual is None else dual
        bias = None if dual is None else self.solver.free_bias(self.problem, self.state)
        weights = self.solver.maintained_weights(self.problem, self.state)
        is_final = self.solver.is_literal and iterate is not None
        return Offer(A, scale, scores, iterate, bias, is_final, weights)

    def _recompute(self, offer: Offer) -> None:
        """Certify the latest offer from the data alone, where that costs little."""
        with self.around.interrupts.raising(True):
            self.judge.recompute(offer, self.stopping.tol)

    def _pose(self) -> None:
        """Judge by the problem that a solver says it solves, if it has one of its own.

        Of a problem with another lam, what was certified before says nothing.
        """
        posed = self.solver.regularized(self.problem, self.state)
        if posed.lam != self.judge.problem.lam:
            self.judge = Judge(posed, self.seed)

    def _target(self) -> float:
        limits = self.stopping
        return limits.wish if self.epochs < limits.wish_epochs else limits.tol

    def _is_good_enough(self, estimate: float) -> Outcome | None:
        limits = self.stopping
        gap = self.judge.relative_gap().max()
        if gap <= limits.tol and (gap <= self._target() or self._is_rounding(estimate)):
            return Outcome.TOLERANCE
        if gap > limits.tol and self.solver.estimates_exactly and self.judge.is_blurred(limits.tol):
            return Outcome.BLURRED
        if gap > limits.tol and self.judge.is_hidden_by_rounding(limits.tol):
            return Outcome.ROUNDING
        if limits.rule == "decisions" and self._settled() >= limits.settled:
            return Outcome.DECISIONS
        return None

    def _widen(self) -> None:
        """Go on with kernel values in double precision."""
        logger.info("kernel values are too coarse for tol: going on in double precision")
        self.problem.rows.widen()

    def _settled(self) -> float:
        """Return the fraction of training labels that can no longer change."""
        known = ball(self.judge.problem, self.judge)
        return float(known.settled(self.problem.rows, self.around.decided).mean())

    def _is_rounding(self, estimate: float) -> bool:
        """Whether the gap, without the room for rounding, is as wished or no longer falls.

        A solver that knows its gap may know it to more digits than the terms of a certificate have.
        """
        is_known = self.solver.estimates_exactly and estimate <= self._target()
        if is_known or self.bare_gaps[-1] <= self._target():
            return True
        return rounding_rules(self.bare_gaps, float(np.finfo(float_type(self.problem.rows)).eps))

    def finish(self) -> Solution:
        """Certify the end and return what the run leaves behind."""
        assert self.outcome is not None
        self.outcome = self._certified_end(self.outcome)
        judge, certificate = self.judge, self.certificate(self.outcome)
        self.around.watch.finished(certificate)
        known = self.ball(self.outcome)
        return Solution(
            judge.W, judge.b, certificate, self.trace, known, self.outcome, self.state,
            judge.problem.lam, self.moments,
        )  # fmt: skip

    def _certified_end(self, outcome: Outcome) -> Outcome:
        """Certify the last state if the latest certificate is of an earlier one."""
        if not self.judge.has_judged or (self._is_stale() and not self._must_hurry(outcome)):
            try:
                self.certify()
            except Interrupted:
                outcome = Outcome.INTERRUPT
        if not self._must_hurry(outcome) and not self._is_stale():
            try:
                self._recompute(self._offer())
            except Interrupted:
                outcome = Outcome.INTERRUPT
        is_good = self.judge.relative_gap().max() <= self.stopping.tol
        is_limit = outcome in (Outcome.EPOCHS, Outcome.STEPS, Outcome.TIME)
        return Outcome.TOLERANCE if is_good and is_limit else outcome

    def ball(self, outcome: Outcome) -> Ball:
        """Return where the optimum lies; in a hurry, a free bias stays unbounded."""
        if not (self.problem.is_free and self._must_hurry(outcome)):
            return ball(self.judge.problem, self.judge)
        known = ball(self.judge.problem._replace(is_free=False), self.judge)
        nowhere = np.full_like(known.low, np.inf)
        pairs = None if known.pairs is None else unknown_biases(known.pairs.b)
        return replace(known, low=-nowhere, high=nowhere, pairs=pairs)

    def _must_hurry(self, outcome: Outcome) -> bool:
        return outcome is Outcome.INTERRUPT and self.certifying > CERTIFYING_MAY_DELAY

    def _is_proven(self) -> bool:
        """Whether a gap proves anything, as far as is known."""
        return self.kernel.is_psd and not self._is_indefinite()

    def _is_indefinite(self) -> bool:
        """Whether the kernel turned out not to be positive semi-definite."""
        is_met = geometry(self.problem.rows).is_indefinite
        return is_met or bool(self.kernel.tested and not self.kernel.is_psd)

    def certificate(self, outcome: Outcome) -> Certificate:
        """Return what is proven; what voids a proof is known by now."""
        judge, audited = self.judge, int(self.judge.audited.max())
        return Certificate(
            primal=float(judge.primal.sum()),
            dual=float(judge.dual.sum()),
            gap=float(judge.certified_gap().sum()),
            relative_gap=float(judge.relative_gap().max()),
            tol=self.stopping.tol,
            reason=outcome.value if self._is_proven() else outcome.value_without_proof,
            epochs=self.epochs,
            seconds=self.seconds(),
            models={
                "primal": judge.primal,
                "dual": judge.dual,
                "gap": judge.certified_gap(),
                "relative_gap": judge.relative_gap(),
            },
            is_proven=self._is_proven(),
            basis=f"audited on {audited} rows" if audited else "recomputed",
            kernel_tested_on=self.kernel.tested,
        )


def given_by(problem: Problem) -> dict[str, Any]:
    """Return what a run does not save: the data, which whoever loads it gives again."""
    loss, Y, weights = problem.costs
    return {"rows": problem.rows, "loss": loss, "Y": Y, "weights": weights}
