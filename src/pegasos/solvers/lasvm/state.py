"""What a run of LASVM knows: its support rows, and now and then the responses of all rows.

The kernel values of all pairs of support rows are kept where they fit the memory that the store of
the Gram matrix leaves over. Where they do not, whole rows of the matrix in that store serve
instead, as many as it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pegasos.data.order import Draws
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.gram import Gram
from pegasos.parallel import ranges
from pegasos.problem.bias import best_bias
from pegasos.problem.gap import GAIN, GAP, add_gap
from pegasos.problem.objective import Problem
from pegasos.solvers.decomposition.box import caps
from pegasos.solvers.decomposition.smo import set_prices
from pegasos.solvers.lasvm.process import Held, Square, bias
from pegasos.solvers.lasvm.support_set import MOST, R, SupportSet, balanced, enlarged
from pegasos.solvers.protocol import Advance

FINER = 0.1  # factor of tau once the violations of all rows are of its size
FINEST = 1e-14
KERNEL_VALUES = 16_000_000  # computed at a time, so that Ctrl-C is obeyed
STEPS_PER_ROW = 1000  # of finishing, at most: rounding may keep tau out of reach

Phase = Literal["look", "draw", "visit", "finish", "respond"]


@dataclass
class Block:
    """Some `rows` that are looked at together, the first with place `m`; see `process`.

    Models before k are done with it, `progress` is that of model k.
    """

    rows: Any
    m: int
    k: int
    progress: Any


@dataclass
class LasvmState:
    """A run: the support set, which `rows` have its places, and what is known of all rows.

    `place_of` (n,) tells the place of a row, -1 if it has none; F (n, K) are responses, b (K,)
    biases, tau (K,) the violations left alone, gap (K,) the relative gaps as the responses tell.
    `is_due` (n,) are the rows that the next epoch is to visit, `visits` the rows of this one, in
    their order.
    """

    set: SupportSet
    rows: Any
    place_of: Any
    F: FloatArray
    b: FloatArray
    tau: FloatArray
    gap: FloatArray
    random: Draws
    is_due: Any
    visits: Any
    phase: Phase = "draw"
    done: int = 0  # in this phase: visits, models, or portions
    left: int = 0  # steps of finishing for the present model
    block: Block | None = None  # of visits

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, K): where a warm start goes on from."""
        B = np.zeros_like(self.F)
        B[self.rows] = self.set.beta.T
        return B

    def begin(self, phase: Phase) -> None:
        """Go on to another phase of the epoch."""
        self.phase, self.done, self.left = phase, 0, STEPS_PER_ROW * self.set.m

    def draw(self) -> None:
        """Choose the rows that the next epoch visits, and their order."""
        self.is_due[self.rows] = True
        self.visits = self.random.permutation(np.flatnonzero(self.is_due))

    def matrix(self, gram: Gram) -> Square | Held:
        """Return where kernel values are read."""
        if self.set.square is not None:
            return Square(self.set.square)
        return Held(gram.store, gram.slot_of, self.rows)

    def hold(self, gram: Gram, lacking: Any) -> None:
        """Bring whole rows of the kernel matrix into the store for the places that lack them."""
        gram.hold(self.rows[[place for place in lacking if place >= 0]])

    def give_places(self, problem: Problem, new: Any, values: Any) -> None:
        """Let the support set look at new rows; `values` as in `SupportSet.append`."""
        gram, m = problem.rows, self.set.m
        if m + len(new) > square_rows(gram):
            self.set.square = None
        self.set.append(
            values, problem.costs.Y[new], caps(problem, new), gram.diagonal[new]
        )  # fmt: skip
        self.rows = np.concatenate([self.rows, new])
        self.place_of[new] = np.arange(m, self.set.m)

    def pack(self, first: int = 0) -> None:
        """Take the places from rows that support no model; see `SupportSet.pack`."""
        keep = self.set.pack(first)
        self.place_of[self.rows] = -1
        self.rows = self.rows[keep]
        self.place_of[self.rows] = np.arange(len(keep))


def whole_budget(gram: Gram) -> float:
    """Return the kernel values that fit the memory budget, of which blocks have a quarter."""
    return 4.0 * gram.block_rows**2


def square_rows(gram: Gram) -> float:
    """Return how many rows may have their mutual kernel values kept: what the store left over."""
    left = max(0.0, whole_budget(gram) - gram.kept.used * gram.n)
    return max(float(gram.block_rows), left**0.5)


def go_on_from(problem: Problem, state: LasvmState, B: FloatArray) -> None:
    """Begin with another run's expansion, made feasible; `respond` finds its residuals."""
    C, Y = caps(problem), problem.costs.Y
    B = Y * np.clip(B * Y, 0.0, C[:, None])
    B = balanced(B) if problem.is_free else B
    rows = np.flatnonzero(B.any(axis=1))
    if len(rows) + MOST <= square_rows(problem.rows):
        values = problem.rows.square_block(rows)
    else:
        state.set.square, values = None, np.broadcast_to(np.zeros(1), (len(rows), len(rows)))
    state.give_places(problem, rows, values)
    state.set.beta[:] = B[rows].T
    for k in range(Y.shape[1]):
        set_prices(state.set.ascent(k), state.set.box(k))


def respond(problem: Problem, state: LasvmState) -> Advance | None:
    """Compute the responses of all rows, a portion at a time; None when they are complete.

    Rows of the kernel matrix that belong to support rows are kept if there is room for all, so that
    a certificate finds them there.
    """
    gram, m = problem.rows, state.set.m
    portions = ranges(m, max(1, KERNEL_VALUES // gram.n))
    if state.done == 0:
        state.F[:] = 0.0
    if state.done == len(portions):
        return None
    some, B = state.rows[slice(*portions[state.done])], state.coefficients(problem)
    if m <= gram.capacity and m * (m + gram.n) <= whole_budget(gram):
        gram.add_held(some, B[some], state.F)
    else:
        part = np.zeros_like(B)
        part[some] = B[some]
        gram.add_scores(part, state.F)
    state.done += 1
    return Advance(0, False)


def assess(problem: Problem, state: LasvmState) -> None:
    """By the responses of all rows, mark those that violate; set biases, gaps and tau."""
    gram, m, B = problem.rows, state.set.m, state.coefficients(problem)
    is_due = state.is_due
    state.set.numbers[R, :, :m] = (problem.costs.Y[state.rows] - state.F[state.rows]).T
    if state.set.square is None and m + MOST <= square_rows(gram):
        state.set.square = enlarged(gram.square_block(state.rows), state.set.numbers.shape[2])
    is_due[:] = False
    for k in range(len(state.tau)):
        centre = 0.0
        if problem.is_free:
            state.b[k] = best_bias(problem, state.F, k, float(state.b[k]), 1e-16)
            centre = bias(state.set.ascent(k))
        beta, f, tau = B[:, k], state.F[:, k], state.tau[k]
        sums = np.zeros((3, len(state.tau)))
        add_gaps_of(problem.costs, beta, f, k, state.b[k], caps(problem), sums)
        dual = sums[GAIN, k] - 0.5 * problem.lam * problem.S * float(beta @ f)
        state.gap[k] = sums[GAP, k] / dual if dual > 0.0 else np.inf
        violations = find_violations(problem, k, beta, f + centre)
        is_due |= violations > 0.5 * tau  # of a pair that violates by tau, either does by half
        if violations.max() < 3.0 * tau:
            state.tau[k] = max(FINEST, FINER * tau)


def find_violations(problem: Problem, k: int, beta: FloatArray, z: FloatArray) -> FloatArray:
    """Return how much moving each coefficient of model k pays, given the scores z.

    The bias to measure by is the one between the support rows: the best one for the weights may be
    elsewhere as long as they are not optimal.
    """
    y, C = problem.costs.Y[:, k], caps(problem)
    u = 1.0 - y * z  # the hinge: what raising y beta pays, and lowering it costs
    rises, falls = np.where(y * beta < C, u, 0.0), np.where(y * beta > 0.0, -u, 0.0)
    return np.where(C > 0.0, np.maximum(rises, falls), 0.0)


@compiled
def add_gaps_of(costs, beta, f, k, b, C, sums):  # type: ignore[no-untyped-def]
    """Add the gaps of all rows of model k, with coefficients beta, responses f and bias b."""
    for i in range(len(beta)):
        if C[i] > 0.0:
            add_gap(costs, i, k, f[i] + b, beta[i] / C[i], sums)
