"""An expansion that grows step by step: the run of kernel Pegasos, its tail and what it hands out.

    w = 1/(lam N) v,    v = sum_j V_j phi(x_j),    V_j the sum of the s_j a_j taken on so far

To everything that the linear primal methods share (`primal.run`), the coefficients V are weights
of n features, and all of it serves here: time N, bias, sums of dual numbers, the average. Only
scores differ: the responses F = K V of all rows are kept, and remembered where the tail's sums
begin. Their differences are the responses of the tail, so that its gap is known after every epoch
without a product with the kernel matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.order import Stretches, identity
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.geometry import combination
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.bias import PrimalBias, new_search
from pegasos.solvers.primal.run import EPOCHS_OF_A_GUEST, Mark, PrimalState
from pegasos.solvers.primal.scaled_weights import (
    PrimalRun,
    Scratch,
    factor,
    new_scaling,
    present_bias,
)
from pegasos.solvers.primal.tail_average import new_tail
from pegasos.solvers.responses.lookahead import Walk
from pegasos.solvers.responses.responses import (
    best_biases,
    constant_scale,
    feasible_duals,
    write_responses,
)


@dataclass
class KernelPegasosState:
    """A run: the path of coefficients `path.V` (n, models), and their responses F (models, n).

    `marks` hold the responses and the time at which the tail's two sums begin.
    """

    path: PrimalState
    F: FloatArray
    marks: list[Mark]
    room: FloatArray  # (batch_size + 1, models): dual numbers of the present step
    b: FloatArray  # the best free biases of the tail, as far as known
    now: FloatArray = field(default_factory=lambda: np.zeros(4))  # numbers of the present step
    walk: Walk = field(default_factory=Walk)

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the tail, (n, models): where a warm start goes on from."""
        return combination(problem, self.path.A)


def new_state(problem: Problem, seed: int, size: int, is_independent: bool) -> KernelPegasosState:
    """Return a run at w = 0, for steps of `size` rows."""
    n, count = problem.costs.Y.shape
    path = PrimalState(
        V=np.zeros((n, count)),
        R=np.zeros((0, count)),
        marks=[],
        scaling=new_scaling(count),
        bias=PrimalBias(constant_scale(problem), np.zeros(count), np.zeros(count), 0.0),
        search=new_search(problem),
        tail=new_tail(n, count, is_independent),
        order=identity(n),
        idle=np.zeros(n, dtype=np.uint8),
        pool=identity(n if is_independent else 0),
        random=np.array([seed], dtype=np.uint64),
        stretches=Stretches(1, 1, False),
        met=np.zeros((2, count)),
    )
    F, room = np.zeros((count, n)), np.zeros((size + 1, count))
    marks = [Mark(np.zeros_like(F), 0.0)] * 2
    return KernelPegasosState(path, F, marks, room, np.zeros(count))


def go_on_from(problem: Problem, state: KernelPegasosState, previous: Any) -> None:
    """Let a new run go on from an earlier one on the same rows, of this or another solver.

    The earlier dual point counts as the epochs behind it: a = (E_0 a_0 + sum_e a_e) / (E_0 + E).
    """
    is_own = isinstance(previous, KernelPegasosState)
    epochs = max(1, previous.path.tail.epochs) if is_own else EPOCHS_OF_A_GUEST
    A, path, tail = feasible_duals(problem, previous), state.path, state.path.tail
    N = epochs * problem.S
    path.scaling.N[0] = N
    path.V[:] = combination(problem, A) * (problem.lam * N)
    tail.sums.older[:], tail.sums.visits[:, 0] = A * epochs, epochs
    tail.epochs = tail.middle = epochs
    write_responses(problem.rows, path.V, state.F)
    state.marks[1] = Mark(state.F.copy(), N)
    if problem.is_free:
        state.b = best_biases(problem, tail_responses(problem, state), state.b)
        path.bias.offset[:] = state.b
    elif problem.bias_scale > 0.0:
        path.bias.total[:] = path.V.sum(axis=0)


def keep_average(problem: Problem, state: KernelPegasosState) -> None:
    """Begin to average all coefficients; an earlier run counts with its outcome."""
    W, b = primal.last_weights(problem, state.path)
    N = state.path.scaling.N[0]
    state.path.R = -W * N
    state.path.scaling.biases[:] = b * N
    primal.refold(state.path)


def run_of(state: KernelPegasosState) -> PrimalRun:
    """Return what loops change."""
    path = state.path
    scratch = Scratch(state.room, np.empty_like(state.b), np.empty_like(state.b))
    return PrimalRun(path.scaling, path.V, path.R, path.tail.sums, path.bias, scratch)


def end_epoch(problem: Problem, state: KernelPegasosState) -> None:
    """Count a complete epoch; where the tail turns, remember the responses."""
    path, middle = state.path, state.path.tail.middle
    primal.end_epoch(problem, path, "free")
    state.walk.start_again()
    if path.tail.middle != middle:
        state.marks = [state.marks[1], Mark(state.F.copy(), float(path.scaling.N[0]))]


def tail_responses(problem: Problem, state: KernelPegasosState) -> FloatArray:
    """Return the responses (models, n) of the weights averaged over the later epochs."""
    mark = state.marks[0]
    return (state.F - mark.V) / (problem.lam * (state.path.scaling.N[0] - mark.N))


def tail_length(problem: Problem, state: KernelPegasosState) -> float:
    """Return the epochs that the tail's sums cover; inside one, by the weight of the rows met."""
    if state.walk.is_at_start():
        return state.path.tail.length()
    return float(state.path.scaling.N[0] - state.marks[0].N) / problem.S


def tail_model(problem: Problem, state: KernelPegasosState) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients averaged over the later epochs, and the present biases."""
    path = state.path
    epochs = (path.scaling.N[0] - state.marks[0].N) / problem.S
    b = present_bias(problem, path.scaling, path.bias)
    return combination(problem, path.tail.sums.older) / epochs, b


def own_averages(problem: Problem, state: KernelPegasosState) -> FloatArray:
    """Return the average dual numbers of each row over its visits; without one, minus the slope."""
    path = state.path
    older, _, visits = path.tail.sums
    A = older / np.maximum(visits[:, :1], 1)
    b = present_bias(problem, path.scaling, path.bias)
    fill_unvisited(problem.costs, state.F, factor(problem, path.scaling), b, visits, A)
    return A


@compiled
def fill_unvisited(costs, F, a, b, visits, A):  # type: ignore[no-untyped-def]
    """Write minus the slope at the scores a F + b into the rows of A that were not visited."""
    for i in range(A.shape[0]):
        if visits[i, 0] == 0:
            for k in range(A.shape[1]):
                A[i, k] = -slope(costs.loss, a[k] * F[k, i] + b[k], costs.Y[i, k])
