"""Pegasos: stochastic sub-gradient descent on the primal.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i> + b, y_i)

A few random rows per step, step size 1/(lam t). The weights are kept as a scaled sum
(`primal.scaled_weights`), so a step costs O(nonzeros of its rows), projection and averaging
included. The bias is a constant feature, an offset, or both (`primal.bias`). The average dual
number that each row took on over the later epochs certifies the run (`primal.tail_average`).

A margin exactly at the kink counts as satisfied, as in `problem.losses`. Losses of unbounded slope
take implicit steps, with the slope where the step ends: the plain step overflows at small lam.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011.
          Fig. 1 (k = 1), Fig. 2 (mini-batches), Sec. 2.2 (projection), Lemma 3 (random iterate),
          Sec. 6 (bias), Sec. 7.5 (sampling).
[SSS07]   Shalev-Shwartz, Singer, Srebro. Pegasos. ICML 2007. Sec. 2: batches drawn i.i.d.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.centre import as_from_origin
from pegasos.data.order import INDEPENDENT, SAMPLINGS, Sampling
from pegasos.data.rows import AHEAD, FloatArray, fetch, shape
from pegasos.dispatch import kernel
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.objective import Problem, blocks
from pegasos.solvers.checks import check_choice, check_count, check_flag
from pegasos.solvers.offsets import seen
from pegasos.solvers.pegasos.batch_bias import Kinks, median_pass
from pegasos.solvers.pegasos.random_iterate import best_of, new_candidates
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.run import PrimalState
from pegasos.solvers.primal.scaled_weights import (
    add_row,
    batch_weight,
    project,
    radius,
    remember,
    tick,
    write_slopes,
)
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_bias_and_batch_size, check_candidates_and_output

Output = Literal["tail", "last", "average", "random"]


@dataclass
class Pegasos(Options, Solver):
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
    projection : bool, default=False
        Project onto the ball that holds the optimum after every step.
    output : {"tail", "last", "average", "random"}, default="tail"
        Which weights to hand out: the average over the later epochs, which the certificate is
        tightest for; the last; the average of all; or one of them at random.
    candidates : int, default=1
        With output="random": draw so many of them, and hand out the best by a sampled objective.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=Pegasos(batch_size=2), tol=0.1, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    batch_size: int = 1
    sampling: Sampling = "epoch"
    projection: bool = False
    output: Output = "tail"
    candidates: int = 1
    bias_way: str = field(default="free", init=False, repr=False)  # set by the catalogue
    name: ClassVar[str] = "pegasos"
    is_dual: ClassVar[bool] = False

    @property
    def is_literal(self) -> bool:
        """Whether users ask for one of the weights of the way, or for their average."""
        return self.output != "tail"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_count(self, "batch_size", " to the number of rows")
        check_choice(self, "sampling", SAMPLINGS)
        check_choice(self, "output", ("tail", "last", "average", "random"))
        check_flag(self, "projection")
        check_count(self, "candidates", " on")
        check_candidates_and_output(self.candidates, self.output)
        check_bias_and_batch_size(self.bias_way, self.batch_size)

    def start(self, problem: Problem, seed: int, previous: Any | None) -> PrimalState:
        self.check()
        n, _ = shape(problem.rows)
        if self.batch_size > n:
            raise InvalidParameter(
                f"batch_size must be at most the number of rows, {n}; got {self.batch_size}."
            )
        state = primal.start(problem, seed, self.bias_way, self.sampling in INDEPENDENT, previous)
        if self.output == "average":
            W, b = primal.own_weights(problem, state)  # an earlier run counts with its outcome
            state.R = -W * state.scaling.N[0]
            state.scaling.biases[:] = b * state.scaling.N[0]
        if self.projection:
            state.scaling.radius[:] = radius(problem, state.bias.offset)
        primal.refold(state)
        if self.output == "random":
            nothing = primal.last_weights(problem, state)
            state.candidates = new_candidates(int(self.candidates), *nothing)
        return state

    def advance(self, problem: Problem, state: PrimalState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: PrimalState, most: int) -> Advance:
        n, k, first = len(state.order), int(self.batch_size), state.position
        problem = seen(problem, state.centre)
        if first == 0:
            if problem.is_free and self.bias_way == "free-bisection":
                primal.halve(problem, state)
            primal.draw_epoch(state, self.sampling, k)
        if self.output == "random":
            if state.candidates.steps_to_next() == 0:
                state.candidates.keep(*primal.last_weights(problem, state), state.random)
            most = min(most, state.candidates.steps_to_next())
        _, length = blocks(problem.rows)[0]
        stop = min(n, first + max(k, min(length // k, most) * k))
        order, run = state.order[first:stop], primal.run_of(state, k)
        if problem.is_free and self.bias_way == "free-batch":
            done = median_pass(problem, order, k, run, Kinks(np.empty(2 * k), np.empty(2 * k)))
        else:
            done = pegasos_pass(problem, order, k, run)
        state.position = first + done
        ends_epoch, steps = state.position == n, -(-done // k)
        if self.output == "random":
            state.candidates.taken += steps
        if ends_epoch:
            primal.end_epoch(problem, state, self.bias_way)
        elif first + done < stop:
            primal.refold(state)
        if self.projection and ends_epoch:
            state.scaling.radius[:] = radius(problem, state.bias.offset)
        return Advance(done, ends_epoch, steps=steps)

    def iterate(
        self, problem: Problem, state: PrimalState
    ) -> tuple[FloatArray, FloatArray] | None:
        if self.output == "tail":
            return primal.tail_weights(problem, state)
        if self.output == "average" and state.scaling.N[0] > 0.0:
            primal.refold(state)
            N = state.scaling.N[0]
            return as_from_origin(state.centre, -state.R / N, state.scaling.biases / N)
        if self.output == "random":
            return best_of(problem, state.candidates, state.random)
        return primal.last_weights(problem, state)

    def dual_point(self, problem: Problem, state: PrimalState) -> DualPoint | None:
        return primal.dual_point(problem, state)


@kernel
def pegasos_pass(problem, order, k, run):  # type: ignore[no-untyped-def]
    """Take one step per k rows of `order`; return how many rows were used, `run` changes.

    Fewer rows than given are used if projections made the scale of the weights too small.
    """
    for first in range(0, len(order), k):                      # [SSSC11] Fig. 2: choose A_t
        stop = min(first + k, len(order))
        s = batch_weight(problem.costs.weights, order, first, stop)
        if s == 0.0:
            continue
        step = tick(run.scaling, problem.lam, s)                # eta_t = 1 / (lam t)
        if len(run.R) > 0:
            remember(step, run)
        for t in range(first, stop):                           # A_t^+: rows with a loss, at w_t
            fetch(problem.rows, order[min(t + AHEAD, len(order) - 1)])
            write_slopes(problem, order[t], t - first, step, run)
        for t in range(first, stop):                           # w <- (1 - eta lam) w
            add_row(problem, order[t], t - first, step, run)   #      + eta/k sum_A y_i x_i
        if run.scaling.radius[0] < np.inf:
            if project(problem.costs.loss, step, run.scaling):  # optional: w <- min(1, R/||w||) w
                return stop
    return len(order)
