"""The one outer loop: advance, certify, record, decide.

Every solver gets from here what no solver does itself: a proven tolerance, limits on epochs and
time, Ctrl-C that keeps the model, history, progress and warm starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos.certificate.definiteness import definiteness
from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.predictions import Ball, ball
from pegasos.certificate.stopping import Certificate, Outcome, Stopping
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray, float_type, shape
from pegasos.disk_cache import how_often
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.problem.gram import Kernelized
from pegasos.problem.objective import Problem
from pegasos.progress import Compilation, Log, Watch, logger
from pegasos.solvers.auto import Auto, Choice
from pegasos.solvers.protocol import Solver

FIRST_CHECK = 4  # epochs before the first certificate that no estimate asks for
MILESTONE = 0.03  # fall of an exact estimate since the last certificate that is worth another
LAG = 0.8  # epochs by which a solver's estimate is behind
EPOCHS_PER_CERTIFICATE = 5  # where there is a choice; a certificate costs about two epochs
CERTIFYING_MAY_DELAY = 0.3  # seconds that a last certificate may add after Ctrl-C
UNKNOWN_COST = 0.2  # of a first certificate of a kernel, in the time taken so far
ENOUGH_UNPROVEN = 50  # epochs, where a kernel turned out not to be positive semi-definite
ROUNDING_BEGINS = 1e4  # relative gap, in units of the last place, below which rounding may rule
FINEST = 1e-12  # relative gap beyond which no solver is chosen for its accuracy
STALLED_EPOCHS = 15  # in which an exact estimate must halve, or it is as small as it gets
AT_ROUNDING, STALLED_AT_ROUNDING = 1e-13, 3  # the same for estimates below: epochs
STALLED_CERTIFICATES = 4  # in which the gap must halve, or rounding does rule
COMPILES = "compiling for this kind of data (about 10 s), {}"
COMPILES_OWN_LOSS = "compiling for a loss of your own (about 10 s), once per session"

Decided = Callable[[FloatArray, FloatArray], Any]


@dataclass(frozen=True)
class Solution:
    """What a fit leaves behind.

    Weights `W` (d, K) and biases `b` (K,), their certificate, the history, the ball that holds the
    optimum, the solver's state for a warm start, and the lam of the problem that was certified.
    """

    W: FloatArray
    b: FloatArray
    certificate: Certificate
    trace: Trace
    ball: Ball
    outcome: Outcome
    state: Any
    lam: float


def solve(
    problem: Problem,
    solver: Solver | Auto,
    stopping: Stopping,
    *,
    seed: int = 0,
    previous: Any | None = None,
    watch: Watch | None = None,
    decided: Decided | None = None,
    interrupts: Interrupts | None = None,
) -> Solution:
    """Run a solver until its certificate, or a limit, says stop.

    `decided` takes lower and upper bounds (n, K) on the optimum's decision values and tells which
    labels they settle; by default, those whose interval does not hold 0. `interrupts` says what
    Ctrl-C means; by default, the model so far is kept.
    """
    run = _Run(problem, stopping, watch or Log(), decided or has_settled_sign, seed)
    run.interrupts = interrupts or Interrupts()
    with run.interrupts, run.watch, run.compilation:
        run.choose(solver)
        state, outcome = run.advance_to_end(run.solver.start(problem, seed, previous), seed)
        certificate = run.certificate(outcome)
        run.watch.finished(certificate)
        judge = run.judge
        ball, lam = run.ball(outcome), judge.problem.lam
        return Solution(judge.W, judge.b, certificate, run.trace, ball, outcome, state, lam)


def has_settled_sign(low: FloatArray, high: FloatArray) -> Any:
    """Tell which decision values keep their sign, given bounds on them."""
    return (low > 0.0) | (high < 0.0)


def compilation_for(loss: Any, watch: Watch) -> Compilation:
    """Return what measures compiling for a loss, and announces it."""
    is_own = getattr(loss, "is_of_this_process", False)
    text = COMPILES_OWN_LOSS if is_own else COMPILES.format(how_often())
    return Compilation(watch.announce, text)


class _Run:
    """Bookkeeping of one fit: what was done, when the next certificate is due, when to stop."""

    interrupts: Interrupts
    choice: Choice
    auto: Auto | None = None

    def __init__(
        self,
        problem: Problem,
        stopping: Stopping,
        watch: Watch,
        decided: Decided,
        seed: int,
    ) -> None:
        self.problem, self.stopping, self.watch = problem, stopping, watch
        self.decided = decided
        self.compilation = compilation_for(problem.costs.loss, watch)
        self.judge, self.trace = Judge(problem, seed), Trace()
        self.kernel = definiteness(problem.rows, seed)
        self.begin = time.perf_counter()
        self.n, _ = shape(problem.rows)
        self.epochs = self.rows_visited = self.rows_of_epoch = 0
        self.next_check, self.next_hint = FIRST_CHECK, 1  # epochs: due, and due if hinted at
        self.hint = 2.0  # the solver's estimate may be this many times `tol` to be worth checking
        self.estimate = np.inf  # the solver's last one
        self.least, self.least_at = np.inf, 0  # the smallest, and the epoch it was of
        self.certifying = 0.0
        self.bare_gaps: list[float] = []  # of every certificate, without the room for rounding
        self.checked_rows = -1  # rows visited when the last certificate was made

    @property
    def solver(self) -> Solver:
        """The solver at work."""
        return self.choice.solver

    def choose(self, solver: Solver | Auto) -> None:
        """Decide which solver is to do the work."""
        if not isinstance(solver, Auto):
            self.choice = Choice(solver, "")
            return
        limits = self.stopping
        aim = max(FINEST, limits.wish) if limits.wish_epochs else limits.tol
        self.auto, self.choice = solver, solver.choose(self.problem, aim)
        self.watch.planned(self.choice.why)

    def seconds(self) -> float:
        """Return the seconds since the start, without those spent compiling."""
        return time.perf_counter() - self.begin - self.compilation.seconds

    def advance_to_end(self, state: Any, seed: int) -> tuple[Any, Outcome]:
        """Have the solver advance until something says stop; certify the end.

        Where kernel values are too coarse, the solver goes on from its models with wider ones;
        where another solver is expected to end sooner, that one does.
        """
        outcome = None
        try:
            while outcome is None:
                step = self.solver.advance(self.problem, state)
                outcome = self.after(step, state)
            goes_on = outcome in (Outcome.BLURRED, Outcome.CHANGED)
            outcome = outcome if goes_on else self.finish(state, outcome)
        finally:
            if hasattr(state, "rounds"):  # a generator that holds the state that holds it
                state.rounds = None
        if not goes_on:
            return state, outcome
        if outcome is Outcome.BLURRED:
            self._widen()
        self.estimate, self.next_hint = np.inf, self.epochs + 1
        return self.advance_to_end(self.solver.start(self.problem, seed, state), seed)

    def after(self, step: Any, state: Any) -> Outcome | None:
        """Take note of an advance; certify if it is time to; say whether to stop."""
        outcome = None
        self.judge.point = None  # its numbers are others now
        self.rows_visited += step.rows_visited
        self.rows_of_epoch = 0 if step.ends_epoch else self.rows_of_epoch + step.rows_visited
        if step.ends_epoch:
            self.epochs += 1
            try:
                outcome = self._after_epoch(step.estimate, state)
            except Interrupted:
                outcome = Outcome.INTERRUPT
        outcome = outcome or (Outcome.DONE if step.is_done else self._limit())
        if outcome is None:
            self.watch.advanced(self.epochs + min(1.0, self.rows_of_epoch / self.n), self.seconds)
        return outcome

    def _after_epoch(self, estimate: float, state: Any) -> Outcome | None:
        """Certify if a certificate is due, or if a watch asks for the model."""
        if self._is_due(estimate):
            self.certify(state)
        must_stop = self.watch.epoch(self.epochs, lambda: self.model(state))
        outcome = None
        if self.checked_rows == self.rows_visited:
            outcome = self._is_good_enough()
            self._learn_from(estimate)
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
        self.watch.planned(other.why)
        return Outcome.CHANGED

    def _stalled(self, estimate: float) -> Outcome | None:
        """End a try for more than `tol` once an exact estimate no longer falls."""
        if not self._knows_better() or self.epochs >= self.stopping.wish_epochs:
            return None
        if not estimate >= 0.5 * self.least:
            self.least, self.least_at = estimate, self.epochs
        patience = STALLED_AT_ROUNDING if self.least <= AT_ROUNDING else STALLED_EPOCHS
        is_over = self.epochs - self.least_at >= patience and self.least <= self.stopping.tol
        return Outcome.TOLERANCE if is_over and self._is_within_tol() else None

    def _is_within_tol(self) -> bool:
        """Whether all models are proven to be within `tol`."""
        is_within = self.judge.relative_gap().max() <= self.stopping.tol
        return bool(self.judge.has_judged and is_within)

    def _is_due(self, estimate: float) -> bool:
        """Whether a certificate is due, by the solver's own estimate or by the epochs behind.

        A solver that knows its gap as well as a certificate does is asked for one when it is done
        and, for the history, once in a while before.
        """
        if self._knows_better():
            waits = self.judge.has_judged and self.epochs < self.next_hint
            fell = estimate <= MILESTONE * self.estimate < np.inf
            due = fell or (estimate <= 0.9 * self._target() and not waits)
            if due or not np.isfinite(self.estimate):
                self.estimate = estimate
            return due
        return self.epochs >= (self.next_hint if self._is_hinted(estimate) else self.next_check)

    def _limit(self) -> Outcome | None:
        """Return the limit that is reached, if any."""
        limits = self.stopping
        if self.interrupts.pending:
            return Outcome.INTERRUPT
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
            is_known = passes > 0.0 and not isinstance(self.problem.rows, Kernelized)
            share = 2.0 / passes if is_known else UNKNOWN_COST
            certifying = self.seconds() * (min(1.0, share) if self._knows_better() else share)
        return (2.5 if self.problem.is_free else 1.2) * certifying

    def model(self, state: Any) -> tuple[FloatArray, FloatArray]:
        """Return weights and biases, certified no earlier than after the last advance."""
        if self.checked_rows != self.rows_visited:
            self.certify(state)
        return self.judge.W, self.judge.b

    def certify(self, state: Any) -> None:
        """Judge the present state, record it and plan the next certificate."""
        start = self.seconds()
        limits = self.stopping
        self._pose(state)
        offer = self._offer(state)
        scale = float(self.judge.primal.min()) if self.judge.has_judged else 1.0
        accuracy = 0.0 if limits.wish_epochs else 1e-3 * limits.tol * scale
        with self.interrupts.raising(self.judge.has_judged):
            found = self.judge.evaluations(
                offer, not self.solver.is_dual, accuracy, self._target()
            )  # fmt: skip
        for evaluation in found:
            self.judge.keep_better(evaluation)
        if self.judge.relative_gap().max() <= limits.tol:
            self._recompute(offer)
        self.certifying, self.checked_rows = self.seconds() - start, self.rows_visited
        record = Record(
            self.epochs, self.seconds(), self.rows_visited,
            float(self.judge.primal.sum()), float(self.judge.dual.sum()),
            float(self.judge.certified_gap().sum()), float(self.judge.relative_gap().max()),
            getattr(self.problem.rows, "evaluations", None), self._is_proven(),
        )  # fmt: skip
        self.trace.records.append(record)
        self.bare_gaps.append(float(self.judge.bare_relative_gap().max()))
        seconds_left = self.trace.epochs_to(limits.tol) * record.seconds / max(1, self.epochs)
        self.watch.certified(record, seconds_left)
        self.next_check = self.epochs + self._patience()
        self.next_hint = self.epochs + 1 + self.epochs // 10
        if hasattr(self.solver, "leave_out"):
            self.solver.leave_out(state, self.judge.relative_gap() <= self._target())

    def _offer(self, state: Any) -> Offer:
        """Return what the solver offers at present."""
        dual = self.solver.dual_point(self.problem, state)
        iterate = self.solver.iterate(self.problem, state)
        return Offer(None, iterate=iterate) if dual is None else Offer(*dual, iterate)

    def _recompute(self, offer: Offer) -> None:
        """Certify the latest offer from the data alone, where that costs little."""
        with self.interrupts.raising(True):
            self.judge.recompute(offer, self.stopping.tol)

    def _pose(self, state: Any) -> None:
        """Judge by the problem that a solver says it solves, if it has one of its own.

        Of a problem with another lam, what was certified before says nothing.
        """
        if hasattr(self.solver, "regularized"):
            posed = self.solver.regularized(self.problem, state)
            if posed.lam != self.judge.problem.lam:
                self.judge = Judge(posed, self.judge.seed)

    def _patience(self) -> int:
        """Return the epochs until the next certificate.

        Half of what the forecast says, but enough that certificates take a small share of the time,
        and at most half of what is behind. The clock has no say: equal seeds give equal answers.
        """
        forecast = self.trace.epochs_to(self._target())
        wanted = max(0.5 * forecast if np.isfinite(forecast) else 1.0, EPOCHS_PER_CERTIFICATE)
        return int(np.clip(wanted, 1.0, 1.0 + 0.5 * self.epochs))

    def _is_hinted(self, estimate: float) -> bool:
        """Whether the solver's own estimate suggests that the target is reached.

        An estimate is of the middle of its epoch; one that falls fast is behind the truth.
        """
        fall = estimate / self.estimate if self.estimate > 0.0 else 1.0
        self.estimate = estimate
        now = estimate * fall**LAG if 0.0 < fall < 1.0 else estimate
        return 0.0 <= min(estimate / self.hint, now) <= self._target()

    def _learn_from(self, estimate: float) -> None:
        """Calibrate the solver's own estimate by the certificate it was just followed by."""
        proven = self.trace.records[-1].relative_gap
        if estimate > 0.0 and np.isfinite(estimate) and proven > 0.0:
            self.hint = float(np.clip(0.9 * estimate / proven, 0.1, 10.0))

    def _target(self) -> float:
        limits = self.stopping
        return limits.wish if self.epochs < limits.wish_epochs else limits.tol

    def _is_good_enough(self) -> Outcome | None:
        limits = self.stopping
        gap = self.judge.relative_gap().max()
        if gap <= limits.tol and (gap <= self._target() or self._is_rounding()):
            return Outcome.TOLERANCE
        if gap > limits.tol and self._knows_better() and self.judge.is_blurred(limits.tol):
            return Outcome.BLURRED
        if gap > limits.tol and self.judge.is_hidden_by_rounding(limits.tol):
            return Outcome.ROUNDING
        if limits.rule == "decisions" and self._settled() >= limits.settled:
            return Outcome.DECISIONS
        return None

    def _knows_better(self) -> bool:
        """Whether the solver goes to the optimum of the kernel values it is given."""
        return bool(getattr(self.solver, "estimates_exactly", False))

    def _widen(self) -> None:
        """Go on with kernel values in double precision."""
        logger.info("kernel values are too coarse for tol: going on in double precision")
        self.problem.rows.widen()

    def _settled(self) -> float:
        """Return the fraction of training labels that can no longer change."""
        low, high = ball(self.judge.problem, self.judge).bounds(self.problem.rows)
        return float(self.decided(low, high).mean())

    def _is_rounding(self) -> bool:
        """Whether the gap, without the room for rounding, is as wished or no longer falls."""
        if self.bare_gaps[-1] <= self._target():
            return True
        unit = np.finfo(float_type(self.problem.rows)).eps
        recent = self.bare_gaps[-1 - STALLED_CERTIFICATES :]
        is_known = len(recent) > STALLED_CERTIFICATES
        return is_known and recent[0] <= ROUNDING_BEGINS * unit and recent[-1] > 0.5 * recent[0]

    def finish(self, state: Any, outcome: Outcome) -> Outcome:
        """Certify the last state if the latest certificate is of an earlier one."""
        is_stale = self.checked_rows != self.rows_visited
        if not self.judge.has_judged or (is_stale and not self._must_hurry(outcome)):
            try:
                self.certify(state)
            except Interrupted:
                outcome = Outcome.INTERRUPT
        if not self._must_hurry(outcome) and self.checked_rows == self.rows_visited:
            try:
                self._recompute(self._offer(state))
            except Interrupted:
                outcome = Outcome.INTERRUPT
        is_good = self.judge.relative_gap().max() <= self.stopping.tol
        is_limit = outcome in (Outcome.EPOCHS, Outcome.TIME)
        return Outcome.TOLERANCE if is_good and is_limit else outcome

    def ball(self, outcome: Outcome) -> Ball:
        """Return where the optimum lies; in a hurry, a free bias stays unbounded."""
        if not (self.problem.is_free and self._must_hurry(outcome)):
            return ball(self.judge.problem, self.judge)
        known = ball(self.judge.problem._replace(is_free=False), self.judge)
        nowhere = np.full_like(known.low, np.inf)
        return replace(known, low=-nowhere, high=nowhere)

    def _must_hurry(self, outcome: Outcome) -> bool:
        return outcome is Outcome.INTERRUPT and self.certifying > CERTIFYING_MAY_DELAY

    def _is_proven(self) -> bool:
        """Whether a gap proves anything, as far as is known."""
        return self.kernel.is_psd and not self._is_indefinite()

    def _is_indefinite(self) -> bool:
        """Whether the kernel turned out not to be positive semi-definite."""
        is_met = isinstance(self.problem.rows, Kernelized) and self.problem.rows.is_indefinite
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
