"""Many small pairs of classes, trained and certified side by side.

A pair of some tens of rows is solved in microseconds; what is done around it, once per pair, would
take hundreds of times as long. So pairs are stacked: one loop ascends on all of them, one
certificate has a column for each. Those that are not proven to be within `tol` after a few rounds
are left to be trained alone.

All pairs have the same C, and with the same S in all of them, the largest, the same lam too: their
objectives are then those of the pairs times S_k / S.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.predictions import Ball, ball
from pegasos.certificate.stopping import Certificate, Outcome
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.stack import SmallPairs, Stack, bytes_of_stacks
from pegasos.one_vs_one.models import Task
from pegasos.parallel import each, limited_to
from pegasos.problem.kernels import is_psd
from pegasos.problem.objective import Costs, OwnWeights, Problem
from pegasos.problem.scaling import lam_of
from pegasos.solve import Solution
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.decomposition.stack import Ascents, ascend, dual_point, new_ascents
from pegasos.solvers.decomposition.working_set import FINEST

ROWS = 100  # of the largest class: twice as many are a small pair
LEAST = 8  # pairs, below which training each alone takes no longer
ROUNDS, FIRST, FINER = 4, 0.5, 0.05  # accuracy of ascents, in units of `tol`; times so much each
AT_ONCE = 8  # pairs that ascend between two looks at whether the fit is to end: 0.1 s, at most


def are_small(task: Task, members: list[Any]) -> bool:
    """Whether pairs are to be stacked: small, many, and with nothing asked for on their way."""
    solver, stopping, K = task.solver, task.stopping, len(members)
    is_plain = isinstance(solver, Decomposition) and solver.working_set == "auto"
    is_unlimited = stopping.max_steps == np.inf and stopping.max_iter >= ROUNDS
    return (
        is_plain and stopping.rule == "gap" and is_unlimited
        and task.previous is None and is_psd(task.kernel) is True
        and max(len(some) for some in members) <= ROWS and K * (K - 1) // 2 >= LEAST
        and bytes_of_stacks(members) <= task.budget
    )  # fmt: skip


def small_solutions(
    task: Task, members: list[Any], seconds: Callable[[], float], must_end: Callable[[], bool]
) -> Iterator[tuple[dict[tuple[int, int], Solution], int]]:
    """Yield what was found of some pairs after others, and the kernel values computed for them."""
    small, known = SmallPairs(task.kernel, task.rows, members), 0
    for pairs, stack in small.stacks():
        stack.evaluations = small.evaluations
        found = Stacked(task, members, pairs, stack).solutions(seconds, must_end)
        yield found, small.evaluations - known
        known = small.evaluations


class Stacked:
    """A stack of pairs, and the problem over it that has a column for each."""

    def __init__(
        self, task: Task, members: list[Any], pairs: list[tuple[int, int]], stack: Stack
    ) -> None:
        self.task, self.pairs = task, pairs
        self.sizes = [(len(members[a]), len(members[b])) for a, b in pairs]
        Y, s = np.ones_like(stack.diagonal), np.zeros_like(stack.diagonal)
        for k, ((a, b), (m, more)) in enumerate(zip(pairs, self.sizes, strict=True)):
            Y[m:, k] = -1.0
            chosen = np.concatenate([members[a], members[b]])
            s[: m + more, k] = 1.0 if task.weights is None else task.weights[chosen]
        self.S = s.sum(axis=0)
        S, costs = float(self.S.max()) or 1.0, Costs(task.loss, Y, OwnWeights(s))
        self.lam = np.array([lam_of(task.C, None, own or 1.0)[1] for own in self.S.tolist()])
        self.problem = Problem(costs, stack, S, 1.0 / (task.C * S), 0.0, task.bias == "free")

    def solutions(
        self, seconds: Callable[[], float], must_end: Callable[[], bool]
    ) -> dict[tuple[int, int], Solution]:
        """Return the solutions of those pairs that are proven to be within `tol`."""
        stopping, judge, is_asked = self.task.stopping, Judge(self.problem), self.S > 0.0
        ascents, rounds = new_ascents(self.problem), np.zeros(len(self.S), dtype=int)
        accuracy = FINEST if stopping.wish_epochs else FIRST * stopping.tol
        for _ in range(ROUNDS):
            which = np.flatnonzero(is_asked & ~(judge.relative_gap() <= stopping.tol))
            if len(which) == 0 or must_end():
                break
            self._ascend(ascents, which, accuracy, rounds, must_end)
            with limited_to(1):  # there is too little to do to hand it over
                A, scale, _ = dual_point(self.problem, ascents)
                (found,) = judge.evaluations(Offer(A, scale), False, 0.0)
                judge.keep_better(found)
            accuracy = max(FINEST, FINER * accuracy)
        if not judge.has_judged:
            return {}
        with limited_to(1):
            known, facts, now = ball(self.problem, judge), self._facts(judge), seconds()
        return {
            self.pairs[k]: self._solution(int(k), judge, known, facts, int(rounds[k]), now)
            for k in np.flatnonzero(is_asked & (judge.relative_gap() <= stopping.tol))
        }

    def _ascend(
        self,
        ascents: Ascents,
        which: Any,
        accuracy: float,
        rounds: Any,
        must_end: Callable[[], bool],
    ) -> None:
        """Ascend on some of the pairs, a few at a time; on no more once the fit is to end."""

        def work(few: Any) -> None:
            if not must_end():
                rounds[few] += 1
                ascend(self.problem, ascents, few, accuracy)

        each(work, np.array_split(which, -(-len(which) // AT_ONCE)))

    def _facts(self, judge: Judge) -> dict[str, FloatArray]:
        """Return the facts of a certificate, (K,), each on the scale of its own pair."""
        S = np.divide(self.problem.S, self.S, out=np.zeros_like(self.S), where=self.S > 0.0)
        return {
            "primal": S * judge.primal,
            "dual": S * judge.dual,
            "gap": S * judge.certified_gap(),
            "relative_gap": judge.relative_gap(),
        }

    def _solution(
        self,
        k: int,
        judge: Judge,
        known: Ball,
        facts: dict[str, FloatArray],
        epochs: int,
        now: float,
    ) -> Solution:
        """Return what a fit of pair k leaves behind."""
        (m, more), one, tol = self.sizes[k], slice(k, k + 1), self.task.stopping.tol
        n, outcome = m + more, Outcome.TOLERANCE
        models = {name: numbers[one] for name, numbers in facts.items()}
        primal, dual, gap, relative_gap = (float(numbers[0]) for numbers in models.values())
        certificate = Certificate(
            primal, dual, gap, relative_gap, tol, outcome.value, epochs, now, models
        )  # fmt: skip
        record = Record(epochs, now, epochs * n, primal, dual, gap, relative_gap, m * more)
        assert known.expansion is not None
        size, adding = known.expansion
        place = Ball(
            judge.W[:n, one], known.radius[one], known.low[one], known.high[one],
            None if known.origin is None else known.origin[:n, k],
            float(known.square[k]) if known.origin is not None else known.square,
            (size[one], adding[one]),
        )  # fmt: skip
        return Solution(
            place.centre, judge.b[one], certificate, Trace([record]), place, outcome,
            None, float(self.lam[k]), [],
        )  # fmt: skip
