"""One-vs-one: a model per pair of classes, each over the rows of its two classes only.

All pairs have the same C, so pair p minimises  lam_p/2 ||f||^2 + mean loss  over its rows, with
lam_p = 1 / (C S_p). Pairs are independent of each other: they run side by side on threads, and what
comes out does not depend on how many. Each is certified on its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos.around import compilation_for
from pegasos.certificate.stopping import Outcome
from pegasos.data.rows import FloatArray
from pegasos.interrupt import Interrupts
from pegasos.kernel_matrix.class_blocks import ClassBlocks
from pegasos.one_vs_one.models import Pairs, Task, new_pairs
from pegasos.one_vs_one.small_pairs import are_small, small_solutions
from pegasos.one_vs_one.together import Together, known_together, record_of
from pegasos.parallel import each, one_blas_thread
from pegasos.problem.class_pairs import pairs_of
from pegasos.problem.losses import is_margin_loss, value
from pegasos.problem.objective import make_problem
from pegasos.problem.scaling import lam_of
from pegasos.progress import Watch
from pegasos.solve import Solution, solve
from pegasos.solvers.warm_start import Expansion


def train(
    task: Task, watch: Watch, interrupts: Interrupts, one_by_one: bool
) -> tuple[Pairs, Together]:
    """Train all pairs; return them, and what is known of them together."""
    compilation, begin = compilation_for(task.loss, watch), time.perf_counter()

    def seconds() -> float:
        return time.perf_counter() - begin - compilation.seconds

    def note(training: Training) -> None:
        done, n_pairs, models = course.done, training.pairs.n_pairs, training.pairs
        now = seconds()
        watch.certified(record_of(models, done, now), now * (n_pairs - done) / done)
        course.must_stop |= watch.epoch(done, lambda: (models.B, models.b))
        if done < n_pairs and not course.must_stop:
            watch.advanced(done, seconds)

    course = SharedInterrupts(interrupts, seconds)
    with interrupts, watch, compilation, one_blas_thread:
        pairs = Training(task, course, note).run(one_by_one)
        known = known_together(pairs, task.stopping.tol, seconds())
        watch.finished(known.certificate)
    return pairs, known


class SharedInterrupts(Interrupts):
    """What pairs under way have in common: Ctrl-C and other ends, and the time.

    To the runs of pairs it is the handler of Ctrl-C, and does nothing but pass on what the fit's
    own has heard.
    """

    def __init__(self, interrupts: Interrupts, clock: Callable[[], float]) -> None:
        self.interrupts, self.clock = interrupts, clock
        self.must_stop, self.lock, self.done = False, threading.Lock(), 0

    @property
    def pending(self) -> bool:  # type: ignore[override]
        return self.interrupts.pending or self.must_stop

    def __enter__(self) -> SharedInterrupts:
        return self

    def __exit__(self, *details: Any) -> None:
        pass

    @contextmanager
    def raising(self, allowed: bool) -> Iterator[None]:
        yield


class Training:
    """Train all pairs of a task; `note` is told whenever some are done."""

    def __init__(
        self, task: Task, course: SharedInterrupts, note: Callable[[Training], None]
    ) -> None:
        self.task, self.course, self.note = task, course, note
        self.members = [np.flatnonzero(task.codes == c) for c in range(task.n_classes)]
        self.pairs, self.order = new_pairs(task), pairs_of(task.n_classes)
        self.sizes = np.array([len(self.members[a]) + len(self.members[b]) for a, b in self.order])
        self.waiting = 0.0  # work that is left

    def run(self, one_by_one: bool) -> Pairs:
        """Train the pairs: small ones in stacks, then the others."""
        if not one_by_one and are_small(self.task, self.members):
            self._train_small()
        left = [p for p in range(self.pairs.n_pairs) if self.pairs.certificates[p] is None]
        if left:
            self._train_others(left, one_by_one)
        return self.pairs

    def _train_small(self) -> None:
        """Train small pairs in stacks, unless the fit is to end."""
        number = {pair: p for p, pair in enumerate(self.order)}
        task, pairs, course = self.task, self.pairs, self.course

        def must_end() -> bool:
            return course.pending or course.clock() >= task.stopping.max_time

        stacks = small_solutions(task, self.members, course.clock, must_end)
        while not must_end():
            found, evaluations = next(stacks, ({}, 0))
            if evaluations == 0:
                break
            pairs.evaluations += evaluations
            for pair, solution in found.items():
                self._keep(number[pair], solution, solution.W)
            course.done += len(found)
            if found:
                self.note(self)

    def _train_others(self, left: list[int], one_by_one: bool) -> None:
        """Train the pairs that need much memory alone, then the others side by side.

        The first of the others is alone, too: what has to be compiled is compiled once. Under a
        time limit every pair has its part of the time; what is left in the end is for those that
        needed more.
        """
        task = self.task
        self.blocks = ClassBlocks(task.kernel, task.rows, self.members, task.budget)
        self.waiting = float((self.sizes[left].astype(float) ** 2).sum())
        *places, at_once = self.blocks.schedule([self.order[p] for p in left])
        alone, together = ([left[i] for i in some] for some in places)
        at_once = 1 if one_by_one else at_once
        for p in alone + together[:1]:
            self.train(p)
        each(self.train, together[1:], at_once)
        late = [p for p, outcome in enumerate(self.pairs.outcomes) if outcome is Outcome.TIME]
        self.waiting = float((self.sizes[late].astype(float) ** 2).sum())
        each(self.train, late, 1 if set(alone) & set(late) else at_once)
        self.pairs.evaluations += self.blocks.evaluations

    def train(self, p: int) -> None:
        """Train one pair, unless the fit is to end."""
        a, b = self.order[p]
        task, pairs = self.task, self.pairs
        chosen = np.concatenate([self.members[a], self.members[b]])
        weights = None if task.weights is None else task.weights[chosen]
        S = float(len(chosen)) if weights is None else float(weights.sum())
        Y = np.ones((len(chosen), 1))
        Y[len(self.members[a]) :] = -1.0
        seconds = self._seconds_for(p)
        if S == 0.0:  # nothing to decide
            pairs.outcomes[p], pairs.ends[:, p] = Outcome.TOLERANCE, 0.0
        elif self.course.pending or seconds <= 0.0:
            if pairs.certificates[p] is None:
                self._leave(p, Y, weights, S)
        else:
            self._solve(p, Y, weights, S, seconds)
        with self.course.lock:
            self.course.done = min(self.course.done + 1, pairs.n_pairs)
            self.waiting -= float(self.sizes[p]) ** 2
            self.note(self)

    def _seconds_for(self, p: int) -> float:
        """Return the time that a pair may take: its part of what is left, on all threads."""
        limit = self.task.stopping.max_time
        if not np.isfinite(limit):
            return limit
        left = limit - self.course.clock()
        return left * min(1.0, self.blocks.at_once * float(self.sizes[p]) ** 2 / self.waiting)

    def _leave(self, p: int, Y: FloatArray, weights: FloatArray | None, S: float) -> None:
        """Note of a pair that was not begun what its model 0 costs."""
        s = np.ones(len(Y)) if weights is None else weights
        signs = (1.0, -1.0)
        total = sum(float(s[Y[:, 0] == y].sum()) * value(self.task.loss, 0.0, y) for y in signs)
        ended = Outcome.CALLBACK if self.course.must_stop else Outcome.INTERRUPT
        self.pairs.outcomes[p] = ended if self.course.pending else Outcome.TIME
        primal = total / S
        is_ours = is_margin_loss(self.task.loss)  # never negative
        dual = 0.0 if is_ours else -np.inf
        facts = {"primal": primal, "dual": dual, "gap": primal - dual, "relative_gap": np.inf}
        for name, number in facts.items():
            self.pairs.facts[name][p] = number

    def _solve(
        self, p: int, Y: FloatArray, weights: FloatArray | None, S: float, seconds: float
    ) -> None:
        task, (a, b) = self.task, self.order[p]
        gram = self.blocks.gram(a, b)
        lam = lam_of(task.C, None, S)[1]
        problem = make_problem(task.loss, gram, Y, weights, lam, task.bias)
        start = task.previous if self.pairs.certificates[p] is None else self.pairs.B
        previous = None if start is None else Expansion(self._of_pair(start, a, b)[:, None])
        solution = solve(
            problem, task.solver, replace(task.stopping, max_time=seconds),
            seed=int(task.seeds[p]), previous=previous, watch=Watch(),
            interrupts=self.course,
        )  # fmt: skip
        with self.course.lock:
            self.pairs.evaluations += gram.evaluations
            self.pairs.hits += gram.hits
            self.pairs.misses += gram.misses
            self.pairs.is_indefinite |= gram.is_indefinite
        known = self.pairs.certificates[p]
        if known is None or solution.certificate.relative_gap <= known.relative_gap:
            last = None if self.pairs.last is None else solution.state.coefficients(problem)
            if solution.lam != lam:  # the solver was given another measure of the penalty
                self.pairs.C[p] = task.C * lam / solution.lam
            self._keep(p, solution, last)
        self.blocks.release(gram)

    def _keep(self, p: int, solution: Solution, last: FloatArray | None) -> None:
        """Take what a pair's run leaves behind into the models of all pairs."""
        pairs, (a, b), ball = self.pairs, self.order[p], solution.ball
        self._put(pairs.B, a, b, solution.W[:, 0])
        if ball.origin is not None:
            self._put(pairs.origin, a, b, ball.origin)
        if pairs.last is not None and last is not None:
            self._put(pairs.last, a, b, last[:, 0])
        pairs.b[p] = solution.b[0]
        pairs.radius[p], pairs.square[p] = ball.radius[0], ball.square
        pairs.ends[:, p] = ball.low[0], ball.high[0]
        if ball.expansion is not None:
            pairs.expansion[:, p] = ball.expansion[0][0], ball.expansion[1][0]
        for name, numbers in pairs.facts.items():
            numbers[p] = solution.certificate.models[name][0]
        outcome = solution.outcome
        if outcome is Outcome.INTERRUPT and self.course.must_stop:
            outcome = Outcome.CALLBACK
        pairs.outcomes[p], pairs.traces[p] = outcome, solution.trace
        pairs.records[p] = replace(solution.trace.records[-1], seconds=self.course.clock())
        pairs.certificates[p] = solution.certificate

    def _put(self, matrix: FloatArray, a: int, b: int, numbers: FloatArray) -> None:
        m = len(self.members[a])
        matrix[self.members[a], b - 1], matrix[self.members[b], a] = numbers[:m], numbers[m:]

    def _of_pair(self, matrix: FloatArray, a: int, b: int) -> FloatArray:
        return np.append(matrix[self.members[a], b - 1], matrix[self.members[b], a])
