"""LASVM: an online support vector machine, run over the rows until it is at the optimum.

Maximises   D(beta) / lam = sum_i y_i beta_i - 1/2 beta' K beta,   beta_i between 0 and C_i y_i

Every row is PROCESSed once, in random order, with one REPROCESS after each (`process`); then the
model is finished: REPROCESS until no support row violates by more than tau. Kernel values are
needed only between a new row and the support rows S, about n |S| in a pass, and are computed for a
block of coming rows at a time.

After a pass, the responses of all rows, which a certificate needs anyway, tell which rows it has
missed: the next epoch visits these and the support rows. tau falls as the violations do.

[BEWB05]  Bordes, Ertekin, Weston, Bottou. Fast kernel classifiers with online and active learning.
          JMLR 6, 2005. Sec. 3. Differs: from the second epoch on, rows are visited only if they
          violate or support the model; see also `process`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.options import Options
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_flag, check_positive
from pegasos.solvers.kernel.box import caps
from pegasos.solvers.kernel.decomposition import dual_numbers
from pegasos.solvers.kernel.lasvm_state import LasvmState, go_on_from, respond
from pegasos.solvers.kernel.process import process, reprocess
from pegasos.solvers.kernel.support import MOST, new_support_set
from pegasos.solvers.protocol import Advance, DualPoint
from pegasos.solvers.refusals import check_is_hinge

STEPS_PER_ROW = 1000  # of finishing, at most: rounding may keep tau out of reach
VALUES_PER_CALL = 50_000_000  # kernel values that one call of REPROCESS reads, at most
SCRATCH_VALUES = 2_000_000  # kernel values of coming rows, at most


@dataclass
class LASVM(Options):
    """Online support vector machine: row after row, keeping only those that support the model.

    Parameters
    ----------
    finishing : bool, default=True
        Bring the support rows to their optimum after every pass. Without, passes are cheaper, and a
        few more of them are needed.
    tau : float, default=1e-3
        Violation, in units of the margin, that the first epoch leaves alone; later ones less.
    """

    finishing: bool = True
    tau: float = 1e-3
    name: ClassVar[str] = "lasvm"
    is_dual: ClassVar[bool] = True
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_flag(self, "finishing")
        check_positive(self, "tau")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> LasvmState:
        check_is_hinge(self.name, problem.costs.loss)
        n, K = problem.costs.Y.shape
        state = LasvmState(
            set=new_support_set(K, problem.rows.precision),
            rows=np.zeros(0, dtype=np.int64),
            place_of=np.full(n, -1, dtype=np.int64),
            F=np.zeros((n, K)),
            b=np.zeros(K),
            tau=np.full(K, float(self.tau)),
            gap=np.full(K, np.inf),
            random=np.random.default_rng(seed),
        )
        if previous is not None:
            go_on_from(problem, state, previous.coefficients(problem))
        return state

    def advance(self, problem: Problem, state: LasvmState) -> Advance:
        if state.rounds is None:
            state.rounds = rounds(problem, state, self.finishing)
        return next(state.rounds)

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: LasvmState) -> DualPoint:
        return dual_numbers(problem, state.coefficients(problem))


def rounds(problem: Problem, state: LasvmState, finishes: bool) -> Iterator[Advance]:
    """Go on for ever; every yield is a moment to look up, and tells whether an epoch has ended."""
    is_due = caps(problem) > 0.0
    if state.set.m:  # of an earlier run
        yield from respond(problem, state, is_due)
    while True:
        is_due[state.rows] = True
        visits = state.random.permutation(np.flatnonzero(is_due))
        yield from visit(problem, state, visits)
        if finishes:
            yield from finish(problem, state)
        state.set.forget(problem.is_free)
        state.pack()
        yield from respond(problem, state, is_due)
        yield Advance(len(is_due) - len(visits), True, float(state.gap.max()))


def visit(problem: Problem, state: LasvmState, visits: Any) -> Iterator[Advance]:
    """PROCESS rows in their order, with one REPROCESS after each."""
    gram, done = problem.rows, 0
    while done < len(visits):
        m = state.set.m
        length = min(state.set.block_length(), max(1, SCRATCH_VALUES // (m + MOST)))
        some = visits[done : done + length]
        new = some[state.place_of[some] < 0]
        state.give_places(problem, new, gram.values(new, np.concatenate([state.rows, new])))
        for k in range(len(state.tau)):
            progress, lacking = np.zeros(2, dtype=np.int64), (-1, -1)
            while progress[0] < len(some):
                lacking = process(
                    state.matrix(gram), state.set.diagonal, state.set.ascent(k), state.set.box(k),
                    problem.is_free, state.tau[k], state.place_of[some], progress,
                )  # fmt: skip
                if max(lacking) >= 0:
                    state.hold(gram, lacking)
                    yield Advance(0, False)
        state.pack(m)
        done += len(some)
        yield Advance(len(some), False)


def finish(problem: Problem, state: LasvmState) -> Iterator[Advance]:
    """REPROCESS until no support row violates by more than tau."""
    gram, m = problem.rows, state.set.m
    length = max(1, VALUES_PER_CALL // max(1, m))
    for k in range(len(state.tau)):
        left, lacking, steps = STEPS_PER_ROW * m, (-1, -1), length
        while left > 0 and (steps == length or max(lacking) >= 0):
            steps, *lacking = reprocess(
                state.matrix(gram), state.set.diagonal, state.set.ascent(k), state.set.box(k),
                problem.is_free, state.tau[k], length,
            )  # fmt: skip
            if max(lacking) >= 0:
                state.hold(gram, lacking)
            left -= steps
            yield Advance(0, False)
