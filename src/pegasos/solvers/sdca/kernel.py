"""Stochastic dual coordinate ascent (SDCA) with a kernel: one random row at a time, exactly.

Maximises   D(a) = 1/S sum_i s_i gain(a_i) - lam/2 ||w(a)||^2
            w(a) = 1/(lam S) sum_i s_i a_i phi(x_i)

Rows come in a new random permutation per epoch. The responses <w, phi(x_i)> of all rows are
maintained (`responses`), so a row that stays where it is costs nothing, and one that moves costs
one row of the kernel matrix (`lookahead`). For the same reason there is no shrinking: rows that sit
at a bound are passed over in no time.

Free bias: a constant feature, penalised around a centre that moves onto the present bias after
every epoch, as in `solvers.sdca.linear`.

[CSS12]    Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
           Sec. 4.4.
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
from pegasos.data.rows import FloatArray, scores, square_norm
from pegasos.kernel_matrix.geometry import combination
from pegasos.options import Options
from pegasos.problem.losses import dual_step
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.responses.lookahead import Walk, begin, go_on, moves, propose, settle
from pegasos.solvers.responses.responses import (
    best_biases,
    constant_scale,
    feasible_duals,
    relative_gap,
    respond,
    write_responses,
)
from pegasos.solvers.sdca.linear import DualBias


class Coordinates(NamedTuple):
    """The method as loops see it: duals A (n, K), the bias, and room for two rows' new duals."""

    A: FloatArray
    bias: DualBias
    room: FloatArray  # (2, K)
    z: FloatArray  # (K,), overwritten with every row


@dataclass
class KernelSdcaState:
    """A run: duals A (n, K), responses F (K, n), the bias as a constant feature."""

    A: FloatArray
    F: FloatArray
    bias: DualBias
    order: Any
    random: Any
    room: FloatArray
    walk: Walk
    b: FloatArray  # the best free biases, as far as known

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, K): where a warm start goes on from."""
        return combination(problem, self.A)


@dataclass
class KernelSDCA(Options, Solver):
    """Dual coordinate ascent in random permutations; no options."""

    name: ClassVar[str] = "sdca"
    is_dual: ClassVar[bool] = True
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""

    def start(self, problem: Problem, seed: int, previous: Any | None) -> KernelSdcaState:
        n, K = problem.costs.Y.shape
        state = KernelSdcaState(
            A=np.zeros((n, K)),
            F=np.zeros((K, n)),
            bias=DualBias(constant_scale(problem), np.zeros(K), np.zeros(K)),
            order=identity(n),
            random=np.array([seed], dtype=np.uint64),
            room=np.zeros((2, K)),
            walk=Walk(),
            b=np.zeros(K),
        )
        if previous is not None:
            state.A[:] = feasible_duals(problem, previous)
            write_responses(problem.rows, combination(problem, state.A), state.F)
            scale, beta, offset = state.bias
            beta[:] = scale * combination(problem, state.A).sum(axis=0)
            if problem.is_free:
                state.b = best_biases(problem, state.F, state.b)
                offset[:] = state.b - scale * beta
        return state

    def advance(self, problem: Problem, state: KernelSdcaState) -> Advance:
        if state.walk.is_at_start():
            shuffle(state.order, state.random)
        method = Coordinates(state.A, state.bias, state.room, np.empty(len(state.b)))
        visited = go_on(state.walk, method, problem, state.F, state.order, 1)
        if not state.walk.is_over(state.order):
            return Advance(visited, False)
        state.walk.start_again()
        if problem.is_free:
            state.bias.offset[:] += state.bias.scale * state.bias.beta
            state.b = best_biases(problem, state.F, state.b)
        return Advance(visited, True, relative_gap(problem, state.A, 1.0, state.F, state.b))

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: KernelSdcaState) -> DualPoint:
        return DualPoint(state.A, 1.0, state.F.T)


@begin.register(Coordinates)
def _(method, problem, order, first, stop):  # type: ignore[no-untyped-def]
    return True


@propose.register(Coordinates)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    A, (scale, beta, offset), room, z = method
    loss, Y, weights = problem.costs
    scores(problem.rows, i, A, z)
    q = weight(weights, i) * (square_norm(problem.rows, i) + scale**2) / (problem.lam * problem.S)
    for k in range(len(z)):                            # [HCLKS08] Alg. 3, for any loss [SZ13]
        score = z[k] + offset[k] + scale * beta[k]
        room[j, k] = dual_step(loss, score, A[i, k], q, Y[i, k])


@moves.register(Coordinates)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    is_moved = False
    for k in range(method.A.shape[1]):
        is_moved |= method.room[j, k] != method.A[i, k]
    return is_moved and weight(problem.costs.weights, i) > 0.0


@settle.register(Coordinates)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    A, (scale, beta, _), room, _ = method
    s = weight(problem.costs.weights, i) / (problem.lam * problem.S)
    for k in range(A.shape[1]):
        step = s * (room[j, k] - A[i, k])
        A[i, k] = room[j, k]
        if step != 0.0:                                # w(a) follows a
            respond(problem.rows, i, k, step)
            beta[k] += scale * step
