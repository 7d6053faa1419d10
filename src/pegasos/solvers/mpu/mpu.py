"""MPU, the margin perceptron with unlearning: unit steps up and down in the box of the dual.

Maximises   D(beta) = 1/S sum_i s_i beta_i - lam/2 ||w||^2,   w = 1/(lam S) sum_i s_i beta_i y_i x_i

A row has been learnt beta_i = 0, h, 2h, ... 1 times. With u_i = 1 - y_i <w, x_i>, how far it is
below its margin, and q_i = s_i ||x_i||^2 / (lam S), what a unit of it adds to its own margin:

    learn     beta_i <- beta_i + h    if u_i >  h q_i / 2 and beta_i < 1
    unlearn   beta_i <- beta_i - h    if u_i < -h q_i / 2 and beta_i > 0

The cited paper is not at hand; the rule is derived: a step of +-h changes D by
s_i/S h (+-u_i - h q_i/2), so these are exactly the unit steps that gain. The grid is finite: after
finitely many steps none is left. Then every row has

    g_i = (1 - beta_i) max(0, u_i) + beta_i max(0, -u_i)  <=  h q_i / 2

for u_i > h q_i/2 only where beta_i = 1, and u_i < -h q_i/2 only where beta_i = 0. The mean of the
g_i is the duality gap (docs/mathematics.md), so a fixed point is within

    P(w) - D(beta)  <=  h/2  1/S sum_i s_i q_i

of the optimum: optimality to the step's size. A perceptron would end there. Here h is halved
when a pass has made no step, or has met a gap (the g_i as rows are visited) that is well within
this bound; the beta_i stay on the finer grid, and the gap goes to 0.

A free bias is a constant feature around a centre that moves onto the bias after every pass, as
in `sdca`.

[PT10]  Panagiotakopoulos, Tsampouka. The margin perceptron with unlearning. ICML 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.centre import settle, weight_count
from pegasos.data.order import NEVER_IDLE, Stretches, identity, permute, stretches_of
from pegasos.data.rows import AHEAD, Centre, FloatArray, add, fetch, scores, shape
from pegasos.dispatch import inlined, kernel
from pegasos.options import Options
from pegasos.problem.objective import (
    Problem,
    blocks,
    combination,
    flat,
    typical_length,
    weight,
)
from pegasos.solvers.checks import check_flag
from pegasos.solvers.offsets import centred, seen, starting_biases
from pegasos.solvers.primal.bias import FREE_SCALE
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_is_hinge

NEAR = 0.03  # of the bound on a fixed point's gap: h is halved when a pass meets no more
FINEST = 2.0**-40  # h is not halved further: rounding rules
GUEST = 2.0**-6  # h of a run that begins at the dual point of another


class MpuRun(NamedTuple):
    """What steps change: A (n, K), W, the weights beta (K,) of the constant.

    `met` (2, K) counts the steps of a pass and adds up s_i g_i as rows are visited. h (K,) is the
    size of a unit step; `z` and `step` (K,) are overwritten.
    """

    A: FloatArray
    W: FloatArray
    beta: FloatArray
    offset: FloatArray
    scale: float
    h: FloatArray
    met: FloatArray
    z: FloatArray
    step: FloatArray


@dataclass
class MpuState:
    """A run: dual numbers A = y beta (n, K), weights W (d, K), the bias, the unit steps h (K,)."""

    A: FloatArray
    W: FloatArray
    beta: FloatArray
    offset: FloatArray
    scale: float
    h: FloatArray
    met: FloatArray
    square_norms: FloatArray
    order: Any
    idle: Any
    random: Any
    stretches: Stretches
    centre: Centre
    position: int = 0


@dataclass
class MPU(Options, Solver):
    """The margin perceptron with unlearning, for the hinge loss.

    Parameters
    ----------
    halving : bool, default=True
        Halve the unit step when it is too large to come nearer. Without, h = 1/8 throughout, as a
        perceptron would: the run goes to a fixed point, near the optimum to the step's size.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=MPU(), tol=1e-3, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    halving: bool = True
    name: ClassVar[str] = "mpu"
    is_dual: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_flag(self, "halving")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> MpuState:
        check_is_hinge(self.name, problem.costs.loss)
        problem, squares = centred(problem)
        (n, _), K, scale = shape(problem.rows), problem.costs.Y.shape[1], problem.bias_scale
        if problem.is_free:
            scale = FREE_SCALE * typical_length(problem, squares)
        state = MpuState(
            A=np.zeros((n, K)), W=np.zeros((weight_count(problem.rows), K)), beta=np.zeros(K),
            offset=np.zeros(K), scale=scale, h=np.full(K, 1.0 if self.halving else 0.125),
            met=np.zeros((2, K)), square_norms=squares, order=identity(n),
            idle=np.zeros(n, dtype=np.uint8), random=np.array([seed], dtype=np.uint64),
            stretches=stretches_of(problem.rows, in_turn=False), centre=problem.rows.centre,
        )  # fmt: skip
        if previous is not None and previous.A is not None:
            go_on_from(problem, state, previous.A)
        if problem.is_free:
            state.offset[:] = starting_biases(problem, state.W) - scale * state.beta
        return state

    def advance(self, problem: Problem, state: MpuState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: MpuState, most: int) -> Advance:
        first, problem = state.position, seen(problem, state.centre)
        if first == 0:
            permute(state.order, state.stretches, state.idle, NEVER_IDLE, state.random)
            state.met[:] = 0.0
        _, length = blocks(problem.rows)[0]
        order = state.order[first : first + min(length, most)]
        mpu_pass(problem, order, state.square_norms, run_of(state))
        state.position += len(order)
        if state.position < len(state.order):
            return Advance(len(order), False)
        state.position = 0
        settle(state.centre, state.W)
        if problem.is_free:
            state.offset += state.scale * state.beta
        if self.halving:
            halve(problem, state)
        return Advance(len(order), True)

    def iterate(self, problem: Problem, state: MpuState) -> None:
        return None

    def dual_point(self, problem: Problem, state: MpuState) -> DualPoint:
        return DualPoint(state.A, 1.0)


def go_on_from(problem: Problem, state: MpuState, A: FloatArray) -> None:
    """Begin at an earlier dual point, on the grid of a fine unit step."""
    state.h[:] = np.minimum(state.h, GUEST)
    Y = problem.costs.Y
    state.A[:] = Y * np.clip(np.round(Y * A / GUEST) * GUEST, 0.0, 1.0)
    state.W[:] = combination(problem, state.A)
    s = problem.costs.weights.values[:, None]
    state.beta[:] = state.scale * (s * state.A).sum(axis=0) / (problem.lam * problem.S)


def halve(problem: Problem, state: MpuState) -> None:
    """Halve the unit steps of models that are as near the optimum as these let them be."""
    s, (steps, gap) = problem.costs.weights.values, state.met
    mean_q = np.sum(s * s * (state.square_norms + state.scale**2)) / (problem.lam * problem.S**2)
    is_near = (steps == 0.0) | (gap / problem.S <= NEAR * 0.5 * state.h * mean_q)
    state.h[is_near & (state.h > FINEST)] *= 0.5


def run_of(state: MpuState) -> MpuRun:
    """Return what kernels change."""
    K = len(state.h)
    return MpuRun(
        state.A, flat(state.W), state.beta, state.offset, state.scale, state.h, state.met,
        np.empty(K), np.empty(K),
    )  # fmt: skip


@kernel
def mpu_pass(problem, order, square_norms, run):  # type: ignore[no-untyped-def]
    """Present each row of `order` once; `run` changes."""
    costs, last = problem.costs, len(order) - 1
    inverse, scale = 1.0 / (problem.lam * problem.S), run.scale
    for p in range(len(order)):
        i = order[p]
        fetch(problem.rows, order[min(p + AHEAD, last)])
        s, moves = weight(costs.weights, i), False
        scores(problem.rows, i, run.W, run.z)
        q = s * (square_norms[i] + scale * scale) * inverse
        for k in range(len(run.z)):
            y = costs.Y[i, k]
            u = 1.0 - y * (run.z[k] + run.offset[k] + scale * run.beta[k])
            beta = y * run.A[i, k]
            run.met[1, k] += s * ((1.0 - beta) * max(0.0, u) + beta * max(0.0, -u))
            change = unit_step(u, beta, run.h[k], q)
            run.A[i, k] += y * change
            run.step[k] = s * y * change * inverse
            if change != 0.0:
                run.met[0, k] += 1.0
                moves = True
        if moves:
            add(problem.rows, i, run.step, run.W)              # w follows beta
            for k in range(len(run.z)):
                run.beta[k] += scale * run.step[k]


@inlined
def unit_step(u, beta, h, q):  # type: ignore[no-untyped-def]
    """Return +h, -h or 0: what a row that is u below its margin is to move by."""
    if u > 0.5 * h * q and beta < 1.0:
        return min(h, 1.0 - beta)                              # learn
    if u < -0.5 * h * q and beta > 0.0:
        return -min(h, beta)                                   # unlearn
    return 0.0
