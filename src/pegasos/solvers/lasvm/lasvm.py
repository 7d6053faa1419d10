"""LASVM: an online support vector machine, run over the rows until it is at the optimum.

Maximises   D(beta) / lam = sum_i y_i beta_i - 1/2 beta' K beta,   beta_i between 0 and C_i y_i

Every row is PROCESSed once, in random order, with one REPROCESS after each (`process`); then the
model is finished: REPROCESS until no support row violates by more than tau. Kernel values are
needed only between a new row and the support rows S, about n |S| in a pass, and are computed for a
block of coming rows at a time.

After a pass, the responses of all rows, which a certificate needs anyway, tell which rows it has
missed: the next epoch visits these and the support rows. tau falls as the violations do.

[BEWB05]  Bordes, Ertekin, Weston, Bottou. Fast kernel classifiers with online and active learning.
          JMLR 6, 2005. Sec. 3. Differs: no rows are seeded; from the second epoch on, rows are
          visited only if they violate or support the model; see also `process`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.data.order import Draws
from pegasos.data.rows import FloatArray
from pegasos.options import Options
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_flag, check_positive
from pegasos.solvers.decomposition.box import caps
from pegasos.solvers.decomposition.decomposition import dual_numbers
from pegasos.solvers.lasvm.process import process, reprocess
from pegasos.solvers.lasvm.state import (
    STEPS_PER_ROW,
    Block,
    LasvmState,
    assess,
    go_on_from,
    respond,
)
from pegasos.solvers.lasvm.support_set import MOST, new_support_set
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_is_hinge

VALUES_PER_CALL = 50_000_000  # kernel values that one call of REPROCESS reads, at most
SCRATCH_VALUES = 2_000_000  # kernel values of coming rows, at most


@dataclass
class LASVM(Options, Solver):
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
        n, count = problem.costs.Y.shape
        state = LasvmState(
            set=new_support_set(count, problem.rows.precision),
            rows=np.zeros(0, dtype=np.int64),
            place_of=np.full(n, -1, dtype=np.int64),
            F=np.zeros((n, count)),
            b=np.zeros(count),
            tau=np.full(count, float(self.tau)),
            gap=np.full(count, np.inf),
            random=Draws(seed),
            is_due=caps(problem) > 0.0,
            visits=np.zeros(0, dtype=np.int64),
        )
        if previous is not None:
            go_on_from(problem, state, previous.coefficients(problem))
        if state.set.m:  # what rows violate is to be found before the first epoch
            state.begin("look")
        return state

    def advance(self, problem: Problem, state: LasvmState) -> Advance:
        return self.advance_by(problem, state, len(problem.costs.Y))

    def advance_by(self, problem: Problem, state: LasvmState, most: int) -> Advance:
        """Go on with the epoch: a portion of the phase that it is in, or of the next.

        A step is a row that PROCESS looks at; rows that do not violate count when an epoch ends.
        """
        step = None
        while step is None:
            if state.phase == "draw":
                state.draw()                                   # [BEWB05] online: pick k_t
                state.begin("visit")
            elif state.phase == "visit":
                step = visit(problem, state, most)             # PROCESS(k_t), REPROCESS once
                if step is None:
                    state.begin("finish")
            elif state.phase == "finish":                      # REPROCESS until delta <= tau
                step = finish(problem, state) if self.finishing else None
                if step is None:
                    state.set.forget(problem.is_free)
                    state.pack()
                    state.begin("respond")
            else:  # "respond", or "look" before the first epoch
                step = respond(problem, state)
                if step is None:
                    assess(problem, state)
                    if state.phase == "respond":
                        others = len(state.is_due) - len(state.visits)
                        gap = float(state.gap.max())
                        step = Advance(others, True, gap, steps=min(others, most))
                    state.begin("draw")
        return step

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: LasvmState) -> DualPoint:
        return dual_numbers(problem, state.coefficients(problem))


def visit(problem: Problem, state: LasvmState, most: int) -> Advance | None:
    """PROCESS a block of at most so many rows in their order, with one REPROCESS after each.

    None after the last. Where rows of the kernel matrix are lacking, look up first.
    """
    gram = problem.rows
    if state.block is None:
        if state.done == len(state.visits):
            return None
        state.block = next_block(problem, state, most)
    block = state.block
    while block.k < len(state.tau):
        k = block.k
        lacking = process(
            state.matrix(gram), state.set.diagonal, state.set.ascent(k), state.set.box(k),
            problem.is_free, state.tau[k], state.place_of[block.rows], block.progress,
        )  # fmt: skip
        if max(lacking) >= 0:
            state.hold(gram, lacking)
            return Advance(0, False)
        block.k += 1
        block.progress[:] = 0
    state.pack(block.m)
    state.done += len(block.rows)
    state.block = None
    return Advance(len(block.rows), False)


def next_block(problem: Problem, state: LasvmState, most: int) -> Block:
    """Give places to the rows that are visited next."""
    m = state.set.m
    length = min(state.set.block_length(), max(1, SCRATCH_VALUES // (m + MOST)), most)
    some = state.visits[state.done : state.done + length].copy()
    new = some[state.place_of[some] < 0]
    values = problem.rows.values(new, np.concatenate([state.rows, new]))
    state.give_places(problem, new, values)
    return Block(some, m, 0, np.zeros(2, dtype=np.int64))


def finish(problem: Problem, state: LasvmState) -> Advance | None:
    """REPROCESS until no support row violates by more than tau; None after the last model."""
    gram, m, k = problem.rows, state.set.m, state.done
    if m == 0 or k == len(state.tau):
        return None
    length = max(1, VALUES_PER_CALL // m)
    steps, *lacking = reprocess(
        state.matrix(gram), state.set.diagonal, state.set.ascent(k), state.set.box(k),
        problem.is_free, state.tau[k], length,
    )  # fmt: skip
    if max(lacking) >= 0:
        state.hold(gram, lacking)
    state.left -= steps
    if state.left <= 0 or (steps < length and max(lacking) < 0):
        state.done, state.left = k + 1, STEPS_PER_ROW * m
    return Advance(0, False)
