"""SGD revisited: stochastic gradient descent as a perceptron whose margin grows with time.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i> + b, y_i)

With w = a / (lam t) a step of size 1/(lam t) is: if y <a, x> < lam t, add y x to a; in any case let
t grow by 1. `a` is never shrunk. What is a margin error for the hinge is a slope for other losses.

    SGD-r   rows drawn independently
    SGD-s   complete epochs; then w is w of a dual point (Prop. 2), and the dual Lagrangian
            D = N_errors/t - ||a||^2 / (2 lam t^2)  bounds the optimum from below
    SGD-m   presents each row `multiplicity` times running at the cost of one product <a, x>; the
            number of margin errors among them has a closed form (Prop. 3; derived for the strict
            kink in docs/mathematics.md, section 7)

The augmentation of the paper, a constant feature, is the regularised bias with its bias_scale.
With duals="all", output="last" the method is the paper's: the pair that its Prop. 2 is about, a
over all epochs and w(a), the last weights; the primal is computed once the running bound and the
losses met on the way suggest it. Single precision weights are those of its last comparison.

Differs from [PT13]: a margin exactly reached is no error (so the very first presentation, at t = 0,
is an error by itself); time is weight, so that sample weights are presentations; and the weights
handed out and certified are those of the tail (`primal.tail_average`), unless output="last".

[PT13]  Panagiotakopoulos, Tsampouka. The stochastic gradient descent for the primal L1-SVM
        optimization revisited. ECML PKDD 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.rows import AHEAD, FloatArray, fetch, square_norm
from pegasos.dispatch import inlined, kernel
from pegasos.options import Options
from pegasos.problem.losses import gain, value
from pegasos.problem.objective import Problem, blocks, weight
from pegasos.solvers.checks import check_choice, check_count, check_positive
from pegasos.solvers.offsets import seen
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.run import PrimalState
from pegasos.solvers.primal.scaled_weights import add_row, factor, tick, write_slopes
from pegasos.solvers.protocol import Advance, DualPoint, Solver

PLAIN_EVERY = 5  # passes of SGD-m: one in so many presents each row once


@dataclass
class SGD(Options, Solver):
    """Stochastic gradient descent in the form of a perceptron with growing margin.

    Parameters
    ----------
    variant : {"s", "r", "m"}, default="s"
        Complete epochs; independent draws; or multiple presentations (hinge loss only).
    multiplicity : int, default=5
        Presentations of each row in a pass of variant "m". All passes but the first and every fifth
        after it use it; when the paper does is lost in the text at hand.
    comparison : float, default=1.0
        The run's own estimate of the relative gap suggests a certificate when it is at most this
        many times the tolerance.
    output : {"tail", "last"}, default="tail"
        Hand out the average weights of the later epochs, which the certificate is tightest for, or
        the last ones.
    duals : {"tail", "all"}, default="tail"
        Dual numbers averaged over the later epochs, or over all of them. The latter come with the
        paper's stopping rule: no certificate before the run's own estimate of the relative gap,
        from its running dual bound, is at most `comparison` times the tolerance (but with a free
        bias, for which there is no such estimate).
    precision : {"double", "single"}, default="double"
        Of the weights while they are updated. What is handed out is certified in double precision.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=SGD(variant="m"), tol=0.1, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    variant: Literal["s", "r", "m"] = "s"
    multiplicity: int = 5
    comparison: float = 1.0
    output: Literal["tail", "last"] = "tail"
    duals: Literal["tail", "all"] = "tail"
    precision: Literal["double", "single"] = "double"
    bias_way: str = field(default="free", init=False, repr=False)  # set by the catalogue
    name: ClassVar[str] = "sgd"
    is_dual: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_choice(self, "variant", ("s", "r", "m"))
        check_choice(self, "output", ("tail", "last"))
        check_choice(self, "duals", ("tail", "all"))
        check_choice(self, "precision", ("double", "single"))
        check_count(self, "multiplicity", " on")
        check_positive(self, "comparison")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> PrimalState:
        self.check()
        state = primal.start(problem, seed, self.bias_way, self.variant == "r", previous)
        state.tail.is_whole = self.duals == "all"
        if self.precision == "single":
            state.V = state.V.astype(np.float32)
        if previous is not None:
            state.met[0] = np.nan  # the gains of an earlier run are not known: no estimate
        return state

    @property
    def is_literal(self) -> bool:
        """Whether users ask for the last weights."""
        return self.output != "tail"

    @property
    def waits_for_estimate(self) -> bool:
        """Whether the stopping rule is the paper's."""
        return self.duals == "all"

    def advance(self, problem: Problem, state: PrimalState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: PrimalState, most: int) -> Advance:
        first, problem = state.position, seen(problem, state.centre)
        if first == 0:
            primal.draw_epoch(state, "iid" if self.variant == "r" else "epoch", 1)
            state.met[1] = 0.0
        is_multiple = self.variant == "m" and state.passes % PLAIN_EVERY != 0
        times = int(self.multiplicity) if is_multiple else 1
        _, length = blocks(problem.rows)[0]
        order = state.order[first : first + min(length, most)]
        sgd_pass(problem, order, times, primal.run_of(state, 1), state.met)
        state.position += len(order)
        if state.position < len(state.order):
            return Advance(len(order), False)
        primal.end_epoch(problem, state, self.bias_way, times)
        return Advance(len(order), True, self._estimate(problem, state) / self.comparison)

    def _estimate(self, problem: Problem, state: PrimalState) -> float:
        """Guess the relative gap: the loss is that met during the epoch, the dual point plain."""
        if problem.is_free:  # the plain dual point is not balanced
            return float("nan")
        squares = np.array([column @ column for column in state.V.T])
        squares += (state.bias.scale * state.bias.total) ** 2
        penalty = 0.5 * problem.lam * factor(problem, state.scaling) ** 2 * squares
        dual = state.met[0] / state.scaling.N[0] - penalty      # [PT13] Prop. 2
        excess = state.met[1] / problem.S + penalty - dual
        return float((excess / dual).max()) if (dual > 0.0).all() else float("nan")

    def iterate(
        self, problem: Problem, state: PrimalState
    ) -> tuple[FloatArray, FloatArray] | None:
        if self.output == "tail":
            return primal.tail_weights(problem, state)
        return primal.last_weights(problem, state)

    def dual_point(self, problem: Problem, state: PrimalState) -> DualPoint | None:
        return primal.dual_point(problem, state)


@kernel
def sgd_pass(problem, order, times, run, met):  # type: ignore[no-untyped-def]
    """Present each row of `order` so many times; `run` and `met` change."""
    A, last = run.scratch.A, len(order) - 1
    for p in range(len(order)):
        i = order[p]                                           # [PT13] choose pattern y_k
        fetch(problem.rows, order[min(p + AHEAD, last)])
        s, N = weight(problem.costs.weights, i), run.scaling.N[0]
        if s == 0.0:
            continue
        step = tick(run.scaling, problem.lam, times * s)        # t <- t + 1
        write_slopes(problem, i, 0, step, run)                 # a . y_k < lam t ?
        note_losses(problem, i, step, run, met)
        if times > 1:
            write_errors(problem, i, times, s, N, run)
        for m in range(A.shape[1]):
            met[0, m] += s * gain(problem.costs.loss, A[0, m], problem.costs.Y[i, m])
        add_row(problem, i, 0, step, run)                      # a <- a + y_k


@inlined
def note_losses(problem, i, step, run, met):  # type: ignore[no-untyped-def]
    """Add the losses of row i, whose products with `a` are in scratch.z, to met[1]."""
    bias, z = run.bias, run.scratch.z
    s = weight(problem.costs.weights, i)
    for m in range(len(z)):
        product = z[m] + bias.scale**2 * bias.total[m]
        score = step.before * product + bias.offset[m]
        met[1, m] += s * value(problem.costs.loss, score, problem.costs.Y[i, m])


@inlined
def write_errors(problem, i, times, s, N, run):  # type: ignore[no-untyped-def]
    """Write y times the number of margin errors of the presentations of row i to scratch.A[0]."""
    bias, A, z = run.bias, run.scratch.A, run.scratch.z
    square = square_norm(problem.rows, i) + bias.scale**2
    for m in range(len(z)):
        y = problem.costs.Y[i, m]
        product = z[m] + bias.scale**2 * bias.total[m]
        theta = problem.lam * (1.0 - y * bias.offset[m])   # the threshold per unit of time
        Q = (y * product - theta * N) / s
        if N > 0.0:
            errors = margin_errors(Q, theta, square, times)
        elif theta > 0.0:                                      # w = 0: an error by itself
            errors = 1.0 + margin_errors(square - theta, theta, square, times - 1)
        else:
            errors = 0.0
        A[0, m] = y * errors


@inlined
def margin_errors(Q, theta, square, times):  # type: ignore[no-untyped-def]
    """Return how many of `times` presentations of one pattern are margin errors.

    Q = a . y_k - theta t. An error (Q < 0) adds square - theta to Q, any other presentation -theta.
    Where the threshold does not grow (theta <= 0, by an offset), rows once satisfied remain so.
    """
    if theta > 0.0:
        distance, least = (times - 1) * theta - Q, max(square, theta)
    else:
        distance, least = -Q, square - theta
    if distance <= 0.0:
        return 0.0
    if distance >= times * least:
        return float(times)
    return math.ceil(distance / least)                         # [PT13] Prop. 3, strict kink
