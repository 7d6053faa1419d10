"""Pegasos with a kernel: stochastic sub-gradient descent on the primal, over an expansion.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, phi(x_i)> + b, y_i)

A few random rows per step, step size 1/(lam t). The weights are 1/(lam t) times a growing sum of
rows (`expansion`), and the responses of all rows to that sum are maintained (`responses`): a step
whose margin is satisfied costs nothing, one that violates it costs one row of the kernel matrix,
computed in a block with those of coming steps (`lookahead`).

The loop of Fig. 3 is `pegasos_steps`. Its row is a batch of k rows, its alpha and its sums one per
model; where it lacks a row of the kernel matrix it returns, and goes on in the middle of the step.

Losses of unbounded slope take implicit steps, a margin exactly at the kink counts as satisfied, a
free bias is found by moving a centre, and the later epochs certify the run: all as in
`solvers.pegasos.linear`.

Differs from [SSSC11] Fig. 3, whose sum lacks y_j and whose 1/(lam t) must be 1/(lam (t - 1)) for a
score at w_t, as in Fig. 1.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011.
          Sec. 4, Fig. 3; Fig. 2 (mini-batches), Sec. 6 (bias), Sec. 7.5 (sampling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from pegasos.data.order import INDEPENDENT, SAMPLINGS, Sampling
from pegasos.data.rows import FloatArray
from pegasos.dispatch import inlined, kernel
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.checks import check_choice, check_count
from pegasos.solvers.pegasos import expansion
from pegasos.solvers.pegasos.expansion import KernelPegasosState
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.scaled_weights import (
    PrimalRun,
    Step,
    add_row,
    batch_weight,
    remember,
    tick,
    write_slopes,
)
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.responses.lookahead import (
    ADMITTED,
    ENDED,
    FIRST,
    NOT_BEGUN,
    WITHIN,
    admit,
    go_on,
    would_add,
)
from pegasos.solvers.responses.responses import best_biases, relative_gap, respond

Output = Literal["tail", "last", "average"]


@dataclass
class KernelPegasos(Options, Solver):
    """Stochastic sub-gradient descent with step 1/(lam t), no step size to choose.

    Parameters
    ----------
    batch_size : int, default=1
        Rows per step, from 1 to the number of rows; with all rows the method is deterministic. No
        row occurs twice in a batch, but for sampling="multiset".
    sampling : {"epoch", "permutation", "fixed", "iid", "multiset"}, default="epoch"
        A new permutation per epoch, on large data one that reads memory in stretches; one of all
        permutations, each as likely, per epoch, or for all epochs. Or independent draws, as the
        analysis asks, slower and certified less tightly: "iid" of sets (2011), "multiset" row by
        row (2007), so that a batch may have a row twice.
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
        return self.output == "tail" and self.sampling not in INDEPENDENT

    @property
    def is_literal(self) -> bool:
        """Whether users ask for the last model of the way, or for the average of all."""
        return self.output != "tail"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_count(self, "batch_size", " to the number of rows")
        check_choice(self, "sampling", SAMPLINGS)
        check_choice(self, "output", ("tail", "last", "average"))

    def start(self, problem: Problem, seed: int, previous: Any | None) -> KernelPegasosState:
        self.check()
        n, k = len(problem.costs.Y), int(self.batch_size)
        if k > n:
            raise InvalidParameter(
                f"batch_size must be at most the number of rows, {n}; got {self.batch_size}."
            )
        state = expansion.new_state(problem, seed, k, self.sampling in INDEPENDENT)
        if previous is not None:
            expansion.go_on_from(problem, state, previous)
        if self.output == "average":
            expansion.keep_average(problem, state)
        return state

    def advance(self, problem: Problem, state: KernelPegasosState) -> Advance:
        return self.advance_by(problem, state, len(state.path.order))

    def advance_by(self, problem: Problem, state: KernelPegasosState, most: int) -> Advance:
        path, walk, k = state.path, state.walk, int(self.batch_size)
        if walk.is_at_start():
            primal.draw_epoch(path, self.sampling, k)
        descent = Descent(k, expansion.run_of(state), state.now)
        order = path.order[: walk.place[FIRST] + most * k]
        visited = go_on(walk, pegasos_steps, descent, problem, state.F, order)
        steps = -(-visited // k)
        if not walk.is_over(path.order):
            return Advance(visited, False, steps=steps)
        expansion.end_epoch(problem, state)
        return Advance(visited, True, self._estimate(problem, state), steps=steps)

    def _estimate(self, problem: Problem, state: KernelPegasosState) -> float:
        """Return the relative gap of the tail as its responses tell it; nan if not handed out."""
        if not self.estimates_exactly:
            return float("nan")
        F, tail = expansion.tail_responses(problem, state), state.path.tail
        if problem.is_free:
            state.b = best_biases(problem, F, state.b)
        return relative_gap(problem, tail.sums.older, 1.0 / tail.length(), F, state.b)

    def iterate(
        self, problem: Problem, state: KernelPegasosState
    ) -> tuple[FloatArray, FloatArray] | None:
        path, N = state.path, state.path.scaling.N[0]
        if self.output == "tail" and path.tail.epochs > 0:
            is_of_dual_point = self.sampling not in INDEPENDENT and not problem.is_free
            return None if is_of_dual_point else expansion.tail_model(problem, state)
        if self.output == "average" and N > 0.0:
            primal.refold(path)
            return -path.R / N, path.scaling.biases / N
        return primal.last_weights(problem, path)

    def dual_point(self, problem: Problem, state: KernelPegasosState) -> DualPoint | None:
        tail = state.path.tail
        if tail.epochs == 0:
            return None
        if self.sampling not in INDEPENDENT:  # every row was met once per epoch
            scores = expansion.tail_responses(problem, state).T
            return DualPoint(tail.sums.older, 1.0 / expansion.tail_length(problem, state), scores)
        return DualPoint(expansion.own_averages(problem, state), 1.0)

    def kernel_rows(self, state: KernelPegasosState) -> int:
        """Return how many rows changed the model: each needs its row of the kernel matrix."""
        return state.walk.moved


class Descent(NamedTuple):
    """What the loop works on: k rows per step, all that steps change, numbers of the present one.

    The run's scratch has room for dual numbers of k + 1 rows: the last is met ahead of its turn.
    """

    k: int
    run: PrimalRun
    now: FloatArray


@kernel
def pegasos_steps(problem, order, descent, place):  # type: ignore[no-untyped-def]
    """Take one step per k rows of `order`, from `place` on; `descent` and `place` change.

    Return ENDED, or before a row is added: PAUSED after many, MISSING if it is not in the store.
    """
    k, run, now = descent
    while place[FIRST] < len(order):                       # [SSSC11] Fig. 3: for t = 1, 2, ..., T
        first = place[FIRST]
        stop = min(first + k, len(order))                  #   choose i_t (Fig. 2: A_t, k rows)
        if place[WITHIN] == NOT_BEGUN:
            s = batch_weight(problem.costs.weights, order, first, stop)
            if s == 0.0:
                place[FIRST] = stop
                continue
            step = tick(run.scaling, problem.lam, s)       #   t <- t + 1, eta_t = 1 / (lam t)
            if len(run.R) > 0:
                remember(step, run)
            for j in range(stop - first):                  #   z = 1/(lam t) sum_j alpha_j y_j K_ij
                write_slopes(problem, order[first + j], j, step, run)
            keep(step, now)
            place[WITHIN] = 0
        for j in range(place[WITHIN], stop - first):
            i, place[WITHIN] = order[first + j], j
            if is_violated(problem, i, j, run):            #   if y_i z < 1, then
                why = admit(problem.rows, i, place)
                if why != ADMITTED:
                    return why
            add_row(problem, i, j, step_of(now), run)      #     alpha[i] <- alpha[i] + 1
            follow(problem, i, j, run)                     #     and z of all rows with it
        place[FIRST], place[WITHIN] = stop, NOT_BEGUN
    return ENDED


@inlined
def is_violated(problem, i, j, run):  # type: ignore[no-untyped-def]
    """Whether row i has a loss: whether any dual number in place j is not 0."""
    A, is_any = run.scratch.A, False
    for m in range(A.shape[1]):
        is_any |= A[j, m] != 0.0
    return is_any and weight(problem.costs.weights, i) > 0.0


@inlined
def follow(problem, i, j, run):  # type: ignore[no-untyped-def]
    """Let the responses follow the coefficients of row i, which gained s_i times place j."""
    A, s = run.scratch.A, weight(problem.costs.weights, i)
    for m in range(A.shape[1]):
        if s * A[j, m] != 0.0:
            respond(problem.rows, i, m, s * A[j, m])


@would_add.register(Descent)
def _(descent, problem, i, j):  # type: ignore[no-untyped-def]
    k, run, now = descent
    if j >= k:  # beyond the present step
        write_slopes(problem, i, k, step_of(now), run)
    return is_violated(problem, i, min(j, k), run)


@inlined
def keep(step, now):  # type: ignore[no-untyped-def]
    """Keep the numbers of a step that may be left in the middle."""
    now[0], now[1], now[2], now[3] = step.s, step.before, step.eta, step.shrink


@inlined
def step_of(now):  # type: ignore[no-untyped-def]
    """Return the numbers of the present step."""
    return Step(now[0], now[1], now[2], now[3])
