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
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from pegasos.data.order import draw, identity, shuffle
from pegasos.data.rows import FloatArray, scores, square_norm
from pegasos.dispatch import inlined, kernel
from pegasos.kernel_matrix.geometry import combination
from pegasos.options import Options
from pegasos.problem.losses import dual_step
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.checks import check_choice
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.responses.lookahead import (
    ADMITTED,
    ENDED,
    FIRST,
    NOT_BEGUN,
    WITHIN,
    Walk,
    admit,
    go_on,
    would_add,
)
from pegasos.solvers.responses.responses import (
    best_biases,
    constant_scale,
    feasible_duals,
    relative_gap,
    respond,
    write_responses,
)
from pegasos.solvers.sdca.coordinate import DualBias


class CoordinateAscent(NamedTuple):
    """What the loop works on: duals A (n, models), the bias; new duals and scores of one row."""

    A: FloatArray
    bias: DualBias
    room: FloatArray
    z: FloatArray


@dataclass
class KernelSdcaState:
    """A run: duals A (n, models), responses F (models, n), the bias as a constant feature."""

    A: FloatArray
    F: FloatArray
    bias: DualBias
    order: Any
    random: Any
    walk: Walk
    b: FloatArray  # the best free biases, as far as known

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, models): where a warm start goes on from."""
        return combination(problem, self.A)


@dataclass
class KernelSDCA(Options, Solver):
    """Dual coordinate ascent in random permutations.

    Parameters
    ----------
    sampling : {"epoch", "iid"}, default="epoch"
        A new permutation per epoch, or independent draws, as in the analysis of the method.
    """

    sampling: Literal["epoch", "iid"] = "epoch"
    name: ClassVar[str] = "sdca"
    is_dual: ClassVar[bool] = True
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_choice(self, "sampling", ("epoch", "iid"))

    def start(self, problem: Problem, seed: int, previous: Any | None) -> KernelSdcaState:
        self.check()
        n, count = problem.costs.Y.shape
        state = KernelSdcaState(
            A=np.zeros((n, count)),
            F=np.zeros((count, n)),
            bias=DualBias(constant_scale(problem), np.zeros(count), np.zeros(count)),
            order=identity(n),
            random=np.array([seed], dtype=np.uint64),
            walk=Walk(),
            b=np.zeros(count),
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
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: KernelSdcaState, most: int) -> Advance:
        if state.walk.is_at_start() and self.sampling == "iid":
            draw(state.order, len(state.order), state.random)
        elif state.walk.is_at_start():
            shuffle(state.order, state.random)
        room, z = np.empty_like(state.b), np.empty_like(state.b)
        ascent = CoordinateAscent(state.A, state.bias, room, z)
        order = state.order[: state.walk.place[FIRST] + most]
        visited = go_on(state.walk, sdca_steps, ascent, problem, state.F, order)
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

    def kernel_rows(self, state: KernelSdcaState) -> int:
        """Return how many rows changed the model: each needs its row of the kernel matrix."""
        return state.walk.moved


@kernel
def sdca_steps(problem, order, ascent, place):  # type: ignore[no-untyped-def]
    """Take one step per row of `order`, from `place` on; `ascent` and `place` change.

    Return ENDED, or before a row is added: PAUSED after many, MISSING if it is not in the store.
    """
    A, (scale, beta, _), room, _ = ascent
    while place[FIRST] < len(order):                       # [HCLKS08] for i in a random order
        i, place[WITHIN] = order[place[FIRST]], 0
        write_best(problem, i, ascent)                     #   the best alpha_i, others fixed
        if is_moved(problem, i, ascent):                   #   if that is another
            why = admit(problem.rows, i, place)
            if why != ADMITTED:
                return why
        s = weight(problem.costs.weights, i) / (problem.lam * problem.S)
        for k in range(A.shape[1]):
            step = s * (room[k] - A[i, k])
            A[i, k] = room[k]                              #     alpha_i <- the best
            if step != 0.0:                                #     w <- w + its change times phi(x_i)
                respond(problem.rows, i, k, step)
                beta[k] += scale * step
        place[FIRST], place[WITHIN] = place[FIRST] + 1, NOT_BEGUN
    return ENDED


@inlined
def write_best(problem, i, ascent):  # type: ignore[no-untyped-def]
    """Write the dual numbers of row i that are best, all others fixed, to `room`."""
    A, (scale, beta, offset), room, z = ascent
    loss, Y, weights = problem.costs
    scores(problem.rows, i, A, z)
    q = weight(weights, i) * (square_norm(problem.rows, i) + scale**2) / (problem.lam * problem.S)
    for k in range(len(z)):                                # [SZ13] for any loss
        score = z[k] + offset[k] + scale * beta[k]
        room[k] = dual_step(loss, score, A[i, k], q, Y[i, k])


@inlined
def is_moved(problem, i, ascent):  # type: ignore[no-untyped-def]
    """Whether any dual number of row i is not the best, which `room` holds."""
    is_any = False
    for k in range(ascent.A.shape[1]):
        is_any |= ascent.room[k] != ascent.A[i, k]
    return is_any and weight(problem.costs.weights, i) > 0.0


@would_add.register(CoordinateAscent)
def _(ascent, problem, i, j):  # type: ignore[no-untyped-def]
    write_best(problem, i, ascent)
    return is_moved(problem, i, ascent)
