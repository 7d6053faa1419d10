"""Pegasos with a kernel: stochastic sub-gradient descent on the primal, over an expansion.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, phi(x_i)> + b, y_i)

A few random rows per step, step size 1/(lam t), so that

    w_{t+1} = 1/(lam t) v,    v = sum_j V_j phi(x_j),    V_j the sum of the s_j a_j taken on so far

The responses <v, phi(x_i)> of all rows are maintained, unscaled (`responses`): a step whose margin
is satisfied costs nothing, one that violates it costs one row of the kernel matrix (`lookahead`).
Steps, bias, averages and dual points are those of the linear solver (`linear.course`, `tail`), for
which V are weights. Differences of responses are the responses of the tail, so the gap is known
after every epoch without a product with the kernel matrix.

Differs from [SSSC11] Fig. 3, whose sum lacks y_j and whose 1/(lam t) must be 1/(lam (t - 1)) to
match Fig. 1: a score at step t is one of w_t.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011.
          Sec. 4, Fig. 3; Fig. 2 (mini-batches), Sec. 6 (bias), Sec. 7.5 (sampling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from pegasos.data.order import Sampling, Stretches, identity
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem, weight
from pegasos.problem.space import combination
from pegasos.solvers.checks import check_choice, check_count
from pegasos.solvers.kernel.lookahead import begin, moves, new_place, propose, settle, walk
from pegasos.solvers.kernel.responses import (
    best_biases,
    constant_scale,
    feasible_duals,
    relative_gap,
    respond,
    write_responses,
)
from pegasos.solvers.linear import primal
from pegasos.solvers.linear.constant import Constant, new_search
from pegasos.solvers.linear.course import (
    Run,
    Scratch,
    Step,
    add_row,
    batch_weight,
    bias,
    factor,
    new_course,
    remember,
    tick,
    write_slopes,
)
from pegasos.solvers.linear.primal import EPOCHS_OF_A_GUEST, Mark, PrimalState
from pegasos.solvers.linear.tail import new_tail
from pegasos.solvers.protocol import Advance, DualPoint

Output = Literal["tail", "last", "average"]


class Descent(NamedTuple):
    """The method as loops see it: all that steps change, and the numbers of the present one."""

    run: Run
    now: FloatArray  # (4,): a `Step`


@dataclass
class KernelPegasosState:
    """A run: coefficients `course.V` (n, K) and everything else a primal method keeps; responses.

    F : ndarray of shape (K, n), responses of V. `marks` remember them where the tail's sums begin.
    """

    course: PrimalState
    F: FloatArray
    marks: list[Mark]
    room: FloatArray  # (batch_size + 1, K): dual numbers of the present step
    now: FloatArray
    place: Any
    b: FloatArray  # the best free biases of the tail, as far as known

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the tail, (n, K): where a warm start goes on from."""
        return combination(problem, self.course.A)


@dataclass
class KernelPegasos(Options):
    """Stochastic sub-gradient descent with step 1/(lam t), no step size to choose.

    Parameters
    ----------
    batch_size : int, default=1
        Rows per step, from 1 to the number of rows; with all rows the method is deterministic. No
        row occurs twice in a batch.
    sampling : {"epoch", "iid", "fixed"}, default="epoch"
        A new permutation per epoch, independent draws (as the paper's analysis asks; slower, and
        certified less tightly), or one permutation for all epochs.
    output : {"tail", "last", "average"}, default="tail"
        Which model to hand out: the average over the later epochs, which the certificate is
        tightest for; the last; or the average of all.
    """

    batch_size: int = 1
    sampling: Sampling = "epoch"
    output: Output = "tail"
    name: ClassVar[str] = "pegasos"
    is_dual: ClassVar[bool] = False

    @property
    def estimates_exactly(self) -> bool:
        """Whether the responses tell the gap of what is handed out."""
        return self.output == "tail" and self.sampling != "iid"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_count(self, "batch_size", " to the number of rows")
        check_choice(self, "sampling", ("epoch", "iid", "fixed"))
        check_choice(self, "output", ("tail", "last", "average"))

    def start(self, problem: Problem, seed: int, previous: Any | None) -> KernelPegasosState:
        self.check()
        n, K = problem.costs.Y.shape
        if self.batch_size > n:
            raise InvalidParameter(
                f"batch_size must be at most the number of rows, {n}; got {self.batch_size}."
            )
        state = KernelPegasosState(
            course=new_course_of(problem, seed, self.sampling == "iid"),
            F=np.zeros((K, n)),
            marks=[Mark(np.zeros((K, n)), 0.0)] * 2,
            room=np.zeros((int(self.batch_size) + 1, K)),
            now=np.zeros(4),
            place=new_place(),
            b=np.zeros(K),
        )
        if previous is not None:
            go_on_from(problem, state, previous)
        if self.output == "average":
            W, b = primal.last_weights(problem, state.course)
            N = state.course.course.N[0]  # an earlier run counts with its outcome
            state.course.R = -W * N
            state.course.course.biases[:] = b * N
        return state

    def advance(self, problem: Problem, state: KernelPegasosState) -> Advance:
        course, k, first = state.course, int(self.batch_size), int(state.place[0])
        if first == 0 and state.place[1] < 0:
            primal.draw_epoch(course, self.sampling, k)
        K = len(state.b)
        scratch = Scratch(state.room, np.empty(K), np.empty(K))
        run = Run(course.course, course.V, course.R, course.tail.sums, course.constant, scratch)
        walk(Descent(run, state.now), problem, state.F, course.order, k, state.place)
        visited = int(state.place[0]) - first
        if first + visited < len(course.order):
            return Advance(visited, False)
        end_epoch(problem, state)
        return Advance(visited, True, self._estimate(problem, state))

    def _estimate(self, problem: Problem, state: KernelPegasosState) -> float:
        """Return the relative gap as the responses tell it, nan if they do not."""
        if not self.estimates_exactly:
            return float("nan")
        F, tail = tail_responses(problem, state), state.course.tail
        if problem.is_free:
            state.b = best_biases(problem, F, state.b)
        return relative_gap(problem, tail.sums.older, 1.0 / tail.length(), F, state.b)

    def iterate(
        self, problem: Problem, state: KernelPegasosState
    ) -> tuple[FloatArray, FloatArray] | None:
        course = state.course
        N = course.course.N[0]
        if self.output == "tail" and course.tail.epochs > 0:
            if self.sampling != "iid" and not problem.is_free:
                return None
            return tail_model(problem, state)
        if self.output == "average" and N > 0.0:
            primal.refold(course)
            return -course.R / N, course.course.biases / N
        return primal.last_weights(problem, course)

    def dual_point(self, problem: Problem, state: KernelPegasosState) -> DualPoint | None:
        course, tail = state.course, state.course.tail
        if tail.epochs == 0:
            return None
        if self.sampling != "iid":  # every row was met once per epoch
            return DualPoint(tail.sums.older, 1.0 / tail.length())
        visits = tail.sums.visits
        A = tail.sums.older / np.maximum(visits[:, :1], 1)
        b = bias(problem, course.course, course.constant)
        fill_unvisited(problem.costs, state.F, factor(problem, course.course), b, visits, A)
        return DualPoint(A, 1.0)


def new_course_of(problem: Problem, seed: int, is_independent: bool) -> PrimalState:
    """Return a run at w = 0 whose weights are coefficients."""
    n, K = problem.costs.Y.shape
    return PrimalState(
        V=np.zeros((n, K)),
        R=np.zeros((0, K)),
        marks=[],
        course=new_course(K),
        constant=Constant(constant_scale(problem), np.zeros(K), np.zeros(K), 0.0),
        search=new_search(problem),
        tail=new_tail(n, K, is_independent),
        order=identity(n),
        idle=np.zeros(n, dtype=np.uint8),
        pool=identity(n if is_independent else 0),
        random=np.array([seed], dtype=np.uint64),
        stretches=Stretches(1, 1, False),
        met=np.zeros((2, K)),
    )


def go_on_from(problem: Problem, state: KernelPegasosState, previous: Any) -> None:
    """Let a new run go on from an earlier one on the same rows, of this or another solver.

    The earlier dual point counts as the epochs behind it: a = (E_0 a_0 + sum_e a_e) / (E_0 + E).
    """
    is_own = isinstance(previous, KernelPegasosState)
    epochs = max(1, previous.course.tail.epochs) if is_own else EPOCHS_OF_A_GUEST
    A, course = feasible_duals(problem, previous), state.course
    N = course.course.N[0] = epochs * problem.S
    course.V[:] = combination(problem, A) * (problem.lam * N)
    tail = course.tail
    tail.sums.older[:], tail.sums.visits[:, 0] = A * epochs, epochs
    tail.epochs = tail.middle = epochs
    write_responses(problem.rows, course.V, state.F)
    state.marks[1] = Mark(state.F.copy(), N)
    if problem.is_free:
        state.b = best_biases(problem, tail_responses(problem, state), state.b)
        course.constant.offset[:] = state.b
    elif problem.bias_scale > 0.0:
        course.constant.total[:] = course.V.sum(axis=0)


def end_epoch(problem: Problem, state: KernelPegasosState) -> None:
    """Count a complete epoch; where the tail turns, remember the responses."""
    tail, middle = state.course.tail, state.course.tail.middle
    primal.end_epoch(problem, state.course, "free")
    state.place = new_place()
    if tail.middle != middle:
        state.marks = [state.marks[1], Mark(state.F.copy(), float(state.course.course.N[0]))]


def tail_responses(problem: Problem, state: KernelPegasosState) -> FloatArray:
    """Return the responses (K, n) of the weights averaged over the later epochs."""
    mark, N = state.marks[0], state.course.course.N[0]
    return (state.F - mark.V) / (problem.lam * (N - mark.N))


def tail_model(problem: Problem, state: KernelPegasosState) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients averaged over the later epochs, and the present biases."""
    course = state.course
    length = (course.course.N[0] - state.marks[0].N) / problem.S
    b = bias(problem, course.course, course.constant)
    return combination(problem, course.tail.sums.older) / length, b


@begin.register(Descent)
def _(method, problem, order, first, stop):  # type: ignore[no-untyped-def]
    s = batch_weight(problem.costs.weights, order, first, stop)
    if s == 0.0:
        return False
    step = tick(method.run.course, problem.lam, s)             # eta_t = 1 / (lam t)
    if len(method.run.R) > 0:
        remember(step, method.run)
    for m in range(4):
        method.now[m] = step[m]
    return True


@propose.register(Descent)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    s, before, eta, shrink = method.now
    write_slopes(problem, i, j, Step(s, before, eta, shrink), method.run)


@moves.register(Descent)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    A, is_moved = method.run.scratch.A, False
    for m in range(A.shape[1]):
        is_moved |= A[j, m] != 0.0                             # [SSSC11] Fig. 3: y_i <w_t, x_i> < 1
    return is_moved and weight(problem.costs.weights, i) > 0.0


@settle.register(Descent)
def _(method, problem, i, j):  # type: ignore[no-untyped-def]
    A, s = method.run.scratch.A, weight(problem.costs.weights, i)
    step = Step(method.now[0], method.now[1], method.now[2], method.now[3])
    add_row(problem, i, j, step, method.run)                   # alpha[i] <- alpha[i] + 1
    for m in range(A.shape[1]):
        if s * A[j, m] != 0.0:
            respond(problem.rows, i, m, s * A[j, m])


@compiled
def fill_unvisited(costs, F, a, b, visits, A):  # type: ignore[no-untyped-def]
    """Write minus the slope at the scores a F + b into the rows of A that were not visited."""
    for i in range(A.shape[0]):
        if visits[i, 0] == 0:
            for k in range(A.shape[1]):
                A[i, k] = -slope(costs.loss, a[k] * F[k, i] + b[k], costs.Y[i, k])
