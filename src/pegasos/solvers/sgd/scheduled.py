"""SGD with the step sizes that Pegasos is compared with: Norma, a fixed one, SGD within a ball.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i>, y_i)            norma, constant
or          L(w) = 1/S sum_i s_i loss(<w, x_i>, y_i)   over ||w|| <= B          ball

by  w <- (1 - eta_t lam) w + eta_t a x_i,  a = -slope of the loss of a random row i at w, with

    norma       eta_t = p / (lam sqrt t)   [KSW04] as [SSSC11] Sec. 7.6 uses it; the p of its bound
                                           is 0.5 sqrt(2 + 0.5 / sqrt T): 0.707 for large T
    constant    eta_t = eta                [Zha04] as in [SSSC11] Sec. 7.6
    ball        eta_t = eta / sqrt t       without the shrinking, and then projected onto the ball:
                                           [CSS12] Sec. 4.2

Certificates. The average of the dual numbers that a row took on at its visits is feasible,
whatever the steps were. Over many steps it belongs to the average of the weights, too: the mean of
(w_{t+1} - w_t) / eta_t goes to 0, so that lam mean(w) goes to mean(a x). Within a ball, a dual
point a tells the lam for which its w(a) has length B. With  G = 1/S sum_i s_i gain(a_i)  and
||w|| <= B

    P_lam(w) - D_lam(a) = L(w) - (G - lam B^2) - lam/2 (B^2 - ||w||^2) <= L(w) - (G - lam B^2)

and G - lam B^2 = G - B ||1/S sum_i s_i a_i x_i|| is the dual of the problem within the ball: so
what is certified is the regularised problem of that lam, at least as tightly.

The weights are c v, so that a step costs O(nonzeros of a row). Time counts rows; a row of weight s
weighs s over the mean weight. Losses of unbounded slope take implicit steps, as in Pegasos.

[KSW04]   Kivinen, Smola, Williamson. Online learning with kernels. IEEE Trans. Signal Processing
          52(8), 2004. Thm. 4.
[Zha04]   Zhang. Solving large scale linear prediction problems using stochastic gradient descent
          algorithms. ICML 2004.
[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011. Sec. 7.6.
[CSS12]   Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
          Sec. 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from pegasos.data.order import Stretches, identity, stretches_of
from pegasos.data.rows import AHEAD, FloatArray, add, fetch, scores, shape, square_norm
from pegasos.dispatch import inlined, kernel
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.losses import descend, lower, upper
from pegasos.problem.objective import (
    Problem,
    blocks,
    combination,
    flat,
    row_square_norms,
    weight,
)
from pegasos.solvers.checks import check_choice, check_positive
from pegasos.solvers.primal.run import EPOCHS_OF_A_GUEST, Mark, draw_epoch
from pegasos.solvers.primal.scaled_weights import SMALL
from pegasos.solvers.primal.tail_average import (
    Sums,
    Tail,
    add_dual,
    count_visit,
    new_tail,
    own_averages,
)
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_schedule_and_options

SCHEDULES = ("norma", "constant", "ball")
SAMPLINGS = ("epoch", "permutation", "fixed", "iid")
BEST_P = math.sqrt(0.5)  # of Norma, for many steps
LEAST = 1e-12  # of the length that sum_i s_i |a_i| ||x_i|| could have: less counts as this


class Rule(NamedTuple):
    """The steps: eta_t = rate / sqrt(t), or rate; what shrinks; the ball; the mean weight."""

    rate: float
    is_root: bool
    lam: float
    radius: float
    mean_weight: float
    scale: float  # the constant feature of a regularised bias


class ScheduledRun(NamedTuple):
    """All that steps change. V is (d,) or (d, K); R, the average's remainder, likewise or empty.

    w = c v, the constant feature's weight c u; the sum of the weights is passed v - R. `numbers`
    holds in its rows, (7, K): c, u, ||v||^2, passed, the sum of the biases, and room for a row.
    """

    V: FloatArray
    R: FloatArray
    numbers: FloatArray
    sums: Sums
    t: FloatArray


C, U, SQUARE, PASSED, BIASES, Z, A_ROW = range(7)


@dataclass
class ScheduledState:
    """A run: see `ScheduledRun`; marks are `summed` and t where the tail's two sums begin."""

    V: FloatArray
    R: FloatArray
    numbers: FloatArray
    t: FloatArray
    marks: list[Mark]
    tail: Tail
    rule: Rule
    order: Any
    idle: Any  # all zero
    pool: Any  # empty
    random: Any
    stretches: Stretches
    position: int = 0
    passes: int = 0

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Average dual numbers, shape (n, K): where another run may start from."""
        older, _, visits = self.tail.sums
        return older / np.maximum(1, visits[:, :1])


@dataclass
class ScheduledSGD(Options, Solver):
    """Stochastic gradient descent with the step sizes of Norma, of Zhang, or within a ball.

    They need tuning, or many steps: Pegasos needs neither. For following papers.

    Parameters
    ----------
    schedule : {"norma", "constant", "ball"}, default="norma"
        eta_t = p / (lam sqrt t); eta_t = eta; or eta_t = eta / sqrt t on the mean loss within a
        ball of `radius`, which takes the place of lam.
    p : float, optional
        Of "norma", between 0 and 1. By default 0.707, which its bound is best for.
    eta : float, optional
        Of "constant", 0.1 by default, below 1/lam; of "ball", by default the radius over the length
        of the longest row.
    radius : float, optional
        Of "ball"; 1/sqrt(lam) by default. The problem that is certified then is the regularised one
        whose solution has that length, or nearly: `lam_` tells.
    sampling : {"epoch", "permutation", "fixed", "iid"}, default="epoch"
        As for Pegasos; the papers draw independently, "iid".
    output : {"tail", "last", "average"}, default="tail"
        Which weights to hand out: the average over the later epochs, the last, or the average of
        all.

    Examples
    --------
    >>> from pegasos import PegasosClassifier, ScheduledSGD
    >>> model = PegasosClassifier(solver=ScheduledSGD("norma"), bias="regularized", tol=0.1)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    schedule: Literal["norma", "constant", "ball"] = "norma"
    p: float | None = None
    eta: float | None = None
    radius: float | None = None
    sampling: Literal["epoch", "permutation", "fixed", "iid"] = "epoch"
    output: Literal["tail", "last", "average"] = "tail"
    name: ClassVar[str] = "scheduled_sgd"
    is_dual: ClassVar[bool] = False

    @property
    def is_literal(self) -> bool:
        """Whether users ask for the last weights, or for the average of all."""
        return self.output != "tail"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_choice(self, "schedule", SCHEDULES)
        check_choice(self, "sampling", SAMPLINGS)
        check_choice(self, "output", ("tail", "last", "average"))
        given = [name for name in ("p", "eta", "radius") if getattr(self, name) is not None]
        for name in given:
            check_positive(self, name)
        check_schedule_and_options(self.schedule, given)
        if self.p is not None and self.p >= 1.0:
            raise InvalidParameter(f"p must be between 0 and 1; got p={self.p!r}.")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> ScheduledState:
        self.check()
        (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
        V, kept = np.zeros((d, K)), 0 if self.output == "last" else d
        numbers = np.zeros((7, K))
        numbers[C] = 1.0
        state = ScheduledState(
            V=V,
            R=np.zeros((kept, K)),
            numbers=numbers,
            t=np.zeros(1),
            marks=[Mark(np.zeros((d + 1, K)), 0.0)] * 2,
            tail=new_tail(n, K, True),
            rule=self._rule(problem),
            order=identity(n),
            idle=np.zeros(n, dtype=np.uint8),
            pool=identity(0),
            random=np.array([seed], dtype=np.uint64),
            stretches=stretches_of(problem.rows, in_turn=True),
        )
        if previous is not None:
            go_on_from(problem, state, previous)
        return state

    def _rule(self, problem: Problem) -> Rule:
        """Return how steps are taken on a problem."""
        lam, s = problem.lam, problem.costs.weights.values
        mean = problem.S / max(1, np.count_nonzero(s) if len(s) > 1 else len(problem.costs.Y))
        if self.schedule == "norma":
            rate = (BEST_P if self.p is None else float(self.p)) / lam
            return Rule(rate, True, lam, np.inf, mean, problem.bias_scale)
        if self.schedule == "constant":
            eta = 0.1 if self.eta is None else float(self.eta)
            if eta * lam >= 1.0:
                raise InvalidParameter(
                    f"eta must be below 1/lam = {1.0 / lam:.4g}, or weights change their sign with "
                    f"every step; got eta={eta!r}."
                )
            return Rule(eta, False, lam, np.inf, mean, problem.bias_scale)
        B = 1.0 / math.sqrt(lam) if self.radius is None else float(self.radius)
        longest = float(row_square_norms(problem).max()) + problem.bias_scale**2
        eta = B / math.sqrt(longest or 1.0) if self.eta is None else float(self.eta)
        return Rule(eta, True, 0.0, B, mean, problem.bias_scale)

    def advance(self, problem: Problem, state: ScheduledState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: ScheduledState, most: int) -> Advance:
        first = state.position
        if first == 0:
            draw_epoch(state, self.sampling, 1)
        _, length = blocks(problem.rows)[0]
        order = state.order[first : first + min(length, most)]
        run = ScheduledRun(
            flat(state.V), flat(state.R), state.numbers, state.tail.sums, state.t
        )  # fmt: skip
        done = scheduled_pass(problem, order, state.rule, run)
        state.position += done
        ends_epoch = state.position == len(state.order)
        if ends_epoch or (state.numbers[C] < SMALL).any():
            fold(state)
        if ends_epoch:
            state.position, state.passes = 0, state.passes + 1
            if state.tail.end_epoch():
                state.marks = [state.marks[1], Mark(summed(state), float(state.t[0]))]
        return Advance(done, ends_epoch)

    def iterate(
        self, problem: Problem, state: ScheduledState
    ) -> tuple[FloatArray, FloatArray]:
        mark = state.marks[0] if self.output == "tail" else Mark(np.zeros((1, 1)), 0.0)
        steps = float(state.t[0]) - mark.N
        if self.output == "last" or steps <= 0.0:
            return present_weights(state)
        mean = (summed(state) - mark.V) / steps
        return mean[:-1], mean[-1]

    def dual_point(self, problem: Problem, state: ScheduledState) -> DualPoint:
        return DualPoint(own_averages(problem, state.tail, *present_weights(state)), 1.0)

    def regularized(self, problem: Problem, state: ScheduledState) -> Problem:
        """Return the problem that is certified: within a ball, one whose w(a) has its length."""
        if self.schedule != "ball":
            return problem
        return problem._replace(lam=implied_lam(problem, state))


def present_weights(state: ScheduledState) -> tuple[FloatArray, FloatArray]:
    """Return the present weights and biases."""
    c, u = state.numbers[C], state.numbers[U]
    return state.V * c, state.rule.scale * c * u


def summed(state: ScheduledState) -> FloatArray:
    """Return the sums of the weights, and in the last row of the biases, before every step."""
    if len(state.R) == 0:
        return np.zeros((len(state.V) + 1, state.V.shape[1]))
    return np.vstack([state.numbers[PASSED] * state.V - state.R, state.numbers[BIASES]])


def implied_lam(problem: Problem, state: ScheduledState) -> float:
    """Return the lam for which the dual point's w(a) = sum_i s_i a_i x_i / (lam S) has length B.

    Of several models, the largest such: the others' w(a) are shorter, and as feasible.
    """
    A = own_averages(problem, state.tail, *present_weights(state))
    s = problem.costs.weights.values[:, None]
    one = problem._replace(lam=1.0)
    square = (combination(one, A) ** 2).sum(axis=0)
    square += (problem.bias_scale * (s * A).sum(axis=0) / problem.S) ** 2
    longest = math.sqrt(float(row_square_norms(problem).max()) + problem.bias_scale**2)
    least = LEAST * longest * float(np.abs(s * A).sum(axis=0).max()) / problem.S
    length = max(math.sqrt(float(square.max())), least)
    return length / state.rule.radius if length > 0.0 else problem.lam


def fold(state: ScheduledState) -> None:
    """Put c into v, so that it does not get too small; compute ||v||^2 anew."""
    numbers = state.numbers
    if len(state.R):
        state.R -= numbers[PASSED] * state.V
    numbers[PASSED] = 0.0
    for array in (state.V, numbers[U]):
        array *= numbers[C]
    numbers[SQUARE] = np.einsum("jk,jk->k", state.V, state.V) + numbers[U] ** 2
    numbers[C] = 1.0


def go_on_from(problem: Problem, state: ScheduledState, previous: Any) -> None:
    """Begin at the weights of an earlier run's dual point, with the steps of its epochs behind."""
    tail = getattr(previous, "tail", None)
    epochs = EPOCHS_OF_A_GUEST if tail is None else max(1, tail.epochs)
    A = previous.A
    state.V[:] = combination(problem, A)
    s, numbers = problem.costs.weights.values[:, None], state.numbers
    numbers[U] = problem.bias_scale * (s * A).sum(axis=0) / (problem.lam * problem.S)
    numbers[SQUARE] = (state.V**2).sum(axis=0) + numbers[U] ** 2
    length = np.sqrt(numbers[SQUARE])
    numbers[C] = np.where(length > state.rule.radius, state.rule.radius / (length + 1e-300), 1.0)
    state.t[0] = epochs * len(state.order)
    W, b = present_weights(state)
    numbers[BIASES] = state.t[0] * b  # the average counts it with its outcome
    if len(state.R):
        state.R -= state.t[0] * W
    state.marks = [Mark(summed(state), float(state.t[0]))] * 2


@kernel
def scheduled_pass(problem, order, rule, run):  # type: ignore[no-untyped-def]
    """Take one step per row of `order`; return how many were done with, `run` changes.

    Fewer than given are if the scale of the weights got too small.
    """
    numbers, last = run.numbers, len(order) - 1
    for p in range(len(order)):                                # [SSSC11] Fig. 1: choose i_t
        i = order[p]
        fetch(problem.rows, order[min(p + AHEAD, last)])
        s = weight(problem.costs.weights, i) / rule.mean_weight
        if s == 0.0:
            continue
        run.t[0] += 1.0
        eta = rule.rate / math.sqrt(run.t[0]) if rule.is_root else rule.rate   # eta_t
        shrink = 1.0 - eta * rule.lam
        if len(run.R) > 0:
            remember(rule, numbers)
        write_slopes(problem, i, eta * s, shrink, rule, run)   # a = -slope at w_t
        for m in range(numbers.shape[1]):
            numbers[C, m] *= shrink                            # w <- (1 - eta lam) w
        add_row(problem, i, eta * s, rule, run)                #      + eta a x_i
        if project(rule, numbers):                             # ball: w <- min(1, B/||w||) w
            return p + 1
    return len(order)


@inlined
def remember(rule, numbers):  # type: ignore[no-untyped-def]
    """Count the weights before a step into their sum, in O(1); see `primal.scaled_weights`."""
    for m in range(numbers.shape[1]):
        numbers[PASSED, m] += numbers[C, m]
        numbers[BIASES, m] += rule.scale * numbers[C, m] * numbers[U, m]


@inlined
def write_slopes(problem, i, step, shrink, rule, run):  # type: ignore[no-untyped-def]
    """Write the dual numbers of row i at the present weights, and its products with v."""
    loss, Y, _ = problem.costs
    numbers, q = run.numbers, 0.0
    scores(problem.rows, i, run.V, numbers[Z])
    if max(upper(loss, 1.0), -lower(loss, 1.0), upper(loss, -1.0), -lower(loss, -1.0)) > 1.0:
        q = step * (square_norm(problem.rows, i) + rule.scale**2)  # steep: an implicit step
    for m in range(numbers.shape[1]):
        numbers[Z, m] += rule.scale * numbers[U, m]
        z = numbers[C, m] * numbers[Z, m]
        numbers[A_ROW, m] = descend(loss, z, shrink * z, q, Y[i, m])


@inlined
def add_row(problem, i, step, rule, run):  # type: ignore[no-untyped-def]
    """Add step * a x_i to w; follow with everything that depends on it."""
    numbers, some = run.numbers, False
    square = square_norm(problem.rows, i) + rule.scale**2
    count_visit(run.sums, i)
    for m in range(numbers.shape[1]):
        a = numbers[A_ROW, m]
        add_dual(run.sums, i, m, a)
        some |= a != 0.0
        coefficient = step * a / numbers[C, m]
        numbers[SQUARE, m] += coefficient * (2.0 * numbers[Z, m] + coefficient * square)
        numbers[U, m] += rule.scale * coefficient
        numbers[A_ROW, m] = coefficient
    if not some:
        return
    add(problem.rows, i, numbers[A_ROW], run.V)
    if len(run.R) > 0:
        for m in range(numbers.shape[1]):
            numbers[A_ROW, m] *= numbers[PASSED, m]
        add(problem.rows, i, numbers[A_ROW], run.R)


@inlined
def project(rule, numbers):  # type: ignore[no-untyped-def]
    """Shrink w onto its ball; say whether c needs folding."""
    is_small = False
    for m in range(numbers.shape[1]):
        length = numbers[C, m] * math.sqrt(max(0.0, numbers[SQUARE, m]))
        if length > rule.radius:
            numbers[C, m] *= rule.radius / length
        is_small |= numbers[C, m] < SMALL
    return is_small
