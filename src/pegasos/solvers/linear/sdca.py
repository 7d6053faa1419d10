"""Stochastic dual coordinate ascent (SDCA): maximise the dual exactly, one row at a time.

Maximises   D(a) = 1/S sum_i s_i gain(a_i) - lam/2 ||w(a)||^2,   w(a) = 1/(lam S) sum_i s_i a_i x_i

Rows come in a new random permutation per epoch. w = w(a) is maintained, so a step costs one
product with x_i and, if a_i moves, one addition of x_i. No step size: each step is the exact
maximum along its coordinate (`costs.losses.dual_step`).

Free bias: the score is <w, x_i> + c + beta, where the coordinate beta is penalised around a centre
c that moves onto the present bias after every epoch (proximal point, or method of multipliers; c is
the multiplier of sum_i s_i a_i = 0).

Shrinking: rows that sit at a bound and did not move at two visits running are left out of extra
passes over the others; every epoch ends with a pass over all rows, so a certificate never sees a
row that was left out.

[HCLKS08]  Hsieh, Chang, Lin, Keerthi, Sundararajan. A dual coordinate descent method for
           large-scale linear SVM. ICML 2008. Algorithm 3.
[SZ13]     Shalev-Shwartz, Zhang. Stochastic dual coordinate ascent methods for regularized loss
           minimization. JMLR 14, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.order import identity, shuffle
from pegasos.data.rows import FloatArray, add, fetch, scores, shape, square_norms
from pegasos.dispatch import compiled
from pegasos.options import Options
from pegasos.problem.losses import dual_step, lower, upper
from pegasos.problem.objective import Problem, blocks, combination, flat, weight
from pegasos.solvers.protocol import Advance, DualPoint

IDLE_VISITS = 2  # visits without a move after which a row at a bound is left out
FREE_BIAS_SCALE = 0.3  # constant feature of the proximal step, in root mean square row lengths
AHEAD = 4  # rows between the one being read and the one being fetched


class Constant(NamedTuple):
    """The bias, offset + scale * beta: beta is the weight of a feature that is always `scale`."""

    scale: float
    beta: FloatArray
    offset: FloatArray


@dataclass
class SdcaState:
    """A run of SDCA: duals A (n, K), weights W (d, K), the bias as a constant feature."""

    A: FloatArray
    W: FloatArray
    constant: Constant
    square_norms: FloatArray
    order: Any
    idle: Any
    random: Any
    active: int  # rows in the present pass: order[:active]
    position: int = 0  # next place in the present pass
    extra_passes: int = 0  # passes over active rows still to come before the full one


@dataclass
class SDCA(Options):
    """Dual coordinate ascent in random permutations.

    Parameters
    ----------
    shrinking : bool, default=True
        Leave rows that are stuck at a bound out of two passes in three.
    """

    shrinking: bool = True
    name: ClassVar[str] = "sdca"
    is_dual: ClassVar[bool] = True

    def start(self, problem: Problem, seed: int, previous: Any | None) -> SdcaState:
        (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
        state = SdcaState(
            A=np.zeros((n, K)) if previous is None else previous.A,
            W=np.zeros((d, K)),
            constant=Constant(problem.bias_scale, np.zeros(K), np.zeros(K)),
            square_norms=np.empty(n),
            order=identity(n),
            idle=np.zeros(n, dtype=np.uint8),
            random=np.array([seed], dtype=np.uint64),
            active=n,
        )
        for start, stop in blocks(problem.rows):
            square_norms(problem.rows, start, stop, state.square_norms)
        if problem.is_free:
            scale = FREE_BIAS_SCALE * float(np.sqrt(state.square_norms.mean())) or 1.0
            state.constant = state.constant._replace(scale=scale)
        if previous is not None:
            state.constant.offset[:] = previous.constant.offset
            state.W[:] = combination(problem, state.A)
            s = problem.costs.weights.values[:, None]
            total = (s * state.A).sum(axis=0) / (problem.lam * problem.S)
            state.constant.beta[:] = state.constant.scale * total
        return state

    def advance(self, problem: Problem, state: SdcaState) -> Advance:
        n = len(state.order)
        if state.position == 0:
            shuffle(state.order[: state.active], state.random)
        _, length = blocks(problem.rows)[0]
        stop = min(state.active, state.position + length)
        order = state.order[state.position : stop]
        sdca_pass(
            problem, order, state.square_norms, state.A, flat(state.W), state.idle,
            state.constant,
        )  # fmt: skip
        state.position = stop
        ends_pass = stop == state.active
        ends_epoch = ends_pass and state.active == n and state.extra_passes == 0
        if ends_pass:
            state.position = 0
            if problem.is_free:
                state.constant.offset[:] += state.constant.scale * state.constant.beta
            self._plan_next_pass(state, n, ends_epoch)
        return Advance(len(order), ends_epoch)

    def _plan_next_pass(self, state: SdcaState, n: int, ends_epoch: bool) -> None:
        """Choose the rows of the next pass: an epoch is two passes over active rows, then all."""
        if not self.shrinking:
            return
        if ends_epoch:
            active = gather_active(state.order, state.idle)
            if active < 0.9 * n:
                state.active, state.extra_passes = max(1, active), 2
        elif state.extra_passes > 0:
            state.extra_passes -= 1
            if state.extra_passes == 0:
                state.active = n

    def iterate(
        self, problem: Problem, state: SdcaState
    ) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: SdcaState) -> DualPoint:
        return DualPoint(state.A, 1.0)


@compiled
def sdca_pass(problem, order, square_norms, A, W, idle, constant):  # type: ignore[no-untyped-def]
    """Maximise over each row of `order` in turn; A, W, idle and constant.beta change."""
    costs, K, last = problem.costs, A.shape[1], len(order) - 1
    z, step = np.empty(K), np.empty(K)
    inverse = 1.0 / (problem.lam * problem.S)
    scale, beta, offset = constant
    for t in range(len(order)):  # [HCLKS08] Alg. 3: for i in a random permutation
        i = order[t]
        fetch(problem.rows, order[min(t + AHEAD, last)])
        s = weight(costs.weights, i)
        scores(problem.rows, i, W, z)
        q = s * (square_norms[i] + scale * scale) * inverse
        moves, rests = False, s > 0.0
        for k in range(K):
            y, a = costs.Y[i, k], A[i, k]
            score = z[k] + offset[k] + scale * beta[k]
            c = dual_step(costs.loss, score, a, q, y)  # [SZ13]: argmax along coordinate i
            step[k] = s * (c - a) * inverse
            moves |= step[k] != 0.0
            rests &= c == a and (a == lower(costs.loss, y) or a == upper(costs.loss, y))
            A[i, k] = c
        if moves:
            add(problem.rows, i, step, W)  # w(a) follows a
            for k in range(K):
                beta[k] += scale * step[k]
        idle[i] = min(idle[i] + 1, 255) if rests else 0


@compiled
def gather_active(order, idle):  # type: ignore[no-untyped-def]
    """Move the rows that are not idle to the front of `order`; return how many they are."""
    active = 0
    for t in range(len(order)):
        i = order[t]
        if idle[i] < IDLE_VISITS:
            order[t], order[active] = order[active], i
            active += 1
    return active
