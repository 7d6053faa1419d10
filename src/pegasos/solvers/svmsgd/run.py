"""What SVMSGD and SGD-QN share: a run, its clock, the search for t_0, what is handed out.

Weights are shrunk every `skip` rows only, all of them, so no scale is kept apart. Rows are met once
per epoch: the average of the dual numbers taken on each row over the later epochs is a feasible
dual point whatever the steps were (`primal.tail_average`). Time is weight: a row of weight
s_i counts for s_i n / S rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.centre import as_from_origin, settle, weight_count
from pegasos.data.order import NEVER_IDLE, Stretches, identity, permute, shuffle, stretches_of
from pegasos.data.rows import Centre, FloatArray, scores, shape, stored_values
from pegasos.dispatch import compiled, inlined
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.losses import slope, value
from pegasos.problem.objective import (
    Problem,
    blocks,
    combination,
    flat,
    row_square_norms,
    typical_length,
    weight,
)
from pegasos.solvers.offsets import seen, some_rows, starting_biases
from pegasos.solvers.primal.bias import FREE_SCALE
from pegasos.solvers.primal.run import EPOCHS_OF_A_GUEST
from pegasos.solvers.primal.tail_average import Sums, Tail, add_dual, new_tail
from pegasos.solvers.protocol import Advance, DualPoint, Solver

N, T0, SINCE, COUNT, GROWS = range(5)  # places on the clock
VALUES_PER_FEATURE = 8  # stored in the rows between two shrinkings, by default
LONG = 0.25  # lam eta times the rows since the last shrinking: more is too coarse
SAMPLE = 1000  # rows that t_0 is found on
DOUBLINGS = 60  # of the step size, at most


class SkipRun(NamedTuple):
    """What steps change; W is (d,) or (d, K).

    `clock` holds the rows so far, t_0, the rows since the last shrinking (both by weight), how many
    these are, and 1 while time grows, 0 while it stands still.
    """

    W: FloatArray
    beta: FloatArray  # weights of the constant feature, (K,)
    offset: FloatArray
    scale: float
    sums: Sums
    clock: FloatArray
    z: FloatArray
    a: FloatArray


@dataclass
class SkipState:
    """A run: weights W (d, K), the bias as offset + scale * beta, the clock and the tail.

    Of SGD-QN also the gains B of the coordinates, the constant feature last, and the weights V at
    the last shrinking; (0, K) for SVMSGD. Rows may be seen from `centre` (`offsets`).
    """

    W: FloatArray
    beta: FloatArray
    offset: FloatArray
    scale: float
    clock: FloatArray
    tail: Tail
    order: Any
    idle: Any
    random: Any
    stretches: Stretches
    centre: Centre
    B: FloatArray
    V: FloatArray
    position: int = 0

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Average dual numbers, shape (n, K): where another run may start from."""
        return self.tail.sums.older / max(1, self.tail.length())


@dataclass
class SkippingSolver(Options, Solver):
    """A solver that shrinks its weights every `skip` rows; `_steps` is what others add."""

    skip: int | None = None
    is_dual: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_skip(self.skip)

    def advance(self, problem: Problem, state: SkipState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: SkipState, most: int) -> Advance:
        first, problem = state.position, seen(problem, state.centre)
        if first == 0:
            draw_epoch(state)
        _, length = blocks(problem.rows)[0]
        order = state.order[first : first + min(length, most)]
        self._steps(problem, order, state)
        state.position += len(order)
        ends_epoch = state.position == len(state.order)
        if ends_epoch:
            end_epoch(problem, state)
        return Advance(len(order), ends_epoch)

    def _steps(self, problem: Problem, order: Any, state: Any) -> None:
        """Take a step on each row of `order`."""
        raise NotImplementedError

    def iterate(self, problem: Problem, state: SkipState) -> tuple[FloatArray, FloatArray]:
        return last_weights(state)

    def dual_point(self, problem: Problem, state: SkipState) -> DualPoint | None:
        return dual_point(state)


def start(problem: Problem, seed: int, previous: Any | None) -> SkipState:
    """Return a run at w = 0, or at w(a) of an earlier one; `problem` is as steps will see it."""
    (n, _), K, d = shape(problem.rows), problem.costs.Y.shape[1], weight_count(problem.rows)
    scale = problem.bias_scale
    if problem.is_free:
        scale = FREE_SCALE * typical_length(problem, row_square_norms(problem))
    state = SkipState(
        W=np.zeros((d, K)), beta=np.zeros(K), offset=np.zeros(K), scale=scale,
        clock=np.array([0.0, 0.0, 0.0, 0.0, 1.0]), tail=new_tail(n, K, False), order=identity(n),
        idle=np.zeros(n, dtype=np.uint8), random=np.array([seed], dtype=np.uint64),
        stretches=stretches_of(problem.rows, in_turn=True), centre=problem.rows.centre,
        B=np.zeros((0, K)), V=np.zeros((0, K)),
    )  # fmt: skip
    if previous is not None and previous.A is not None:
        go_on_from(problem, state, previous)
    if problem.is_free:
        state.offset[:] = starting_biases(problem, state.W)
    return state


def go_on_from(problem: Problem, state: SkipState, previous: Any) -> None:
    """Begin at the weights of an earlier dual point, which counts as the epochs behind it."""
    epochs = EPOCHS_OF_A_GUEST
    if isinstance(previous, SkipState):
        epochs = max(1, previous.tail.epochs)
    A, tail = previous.A, state.tail
    state.W[:] = combination(problem, A)
    state.clock[N] = epochs * len(A)
    tail.sums.older[:], tail.epochs, tail.middle = A * epochs, epochs, epochs
    if problem.bias_scale > 0.0:
        s = problem.costs.weights.values[:, None]
        state.beta[:] = state.scale * (s * A).sum(axis=0) / (problem.lam * problem.S)


def run_of(state: SkipState) -> SkipRun:
    """Return what kernels change."""
    K, sums = len(state.beta), state.tail.sums
    return SkipRun(
        flat(state.W), state.beta, state.offset, state.scale, sums, state.clock,
        np.empty(K), np.empty(K),
    )  # fmt: skip


def skip_of(problem: Problem, skip: int | None) -> int:
    """Return the rows between two shrinkings; by default, so many that it costs little."""
    n, d = shape(problem.rows)
    per_row = max(1, stored_values(problem.rows)) / n
    return int(skip) if skip is not None else max(1, round(VALUES_PER_FEATURE * d / per_row))


def draw_epoch(state: SkipState) -> None:
    """Write the rows of the next epoch into the order."""
    permute(state.order, state.stretches, state.idle, NEVER_IDLE, state.random)


def end_epoch(problem: Problem, state: SkipState) -> None:
    """Count a complete epoch: move the centre of a free bias onto the bias, turn the tail."""
    state.position = 0
    settle(state.centre, state.W)
    if problem.is_free:
        state.offset += state.scale * state.beta
        state.beta[:] = 0.0
    state.tail.end_epoch()


def find_t0(problem: Problem, state: SkipState, steps: Any) -> float:
    """Return t_0 = 1/(lam eta) for the eta that does best on a sample, among powers of 2.

    `steps(run, order)` makes a pass over a few rows in random order, from w = 0, with a step
    size that does not fall; what counts is the objective on these rows after it.
    """
    K = len(state.beta)
    order = some_rows(problem)
    order = order[np.arange(SAMPLE) * len(order) // SAMPLE] if len(order) > SAMPLE else order
    order = order.astype(np.uint32)
    shuffle(order, state.random)

    def cost(power: int) -> float:
        W, beta, total = np.zeros_like(state.W), np.zeros(K), np.zeros(2)
        sums = new_tail(len(problem.costs.Y), K, False).sums
        clock = np.array([0.0, 1.0 / (problem.lam * 2.0**power), 0.0, 0.0, 0.0])
        run = SkipRun(flat(W), beta, state.offset, state.scale, sums, clock, np.empty(K), beta * 0)
        with np.errstate(over="ignore", invalid="ignore"):
            steps(run, order)
            add_losses(problem, order, run, total)
            w = settle(state.centre, W)
            found = 0.5 * problem.lam * float(np.sum(w * w) + beta @ beta) + total[0] / total[1]
        return found if np.isfinite(found) else np.inf

    best, least = 0, cost(0)
    for way in (1, -1):
        for power in range(way, way * DOUBLINGS, way):
            found = cost(power)
            if found >= least:
                break
            best, least = power, found
        if best != 0:
            break
    return float(1.0 / (problem.lam * 2.0**best))


def last_weights(state: SkipState) -> tuple[FloatArray, FloatArray]:
    """Return the present weights and biases."""
    return as_from_origin(state.centre, state.W.copy(), state.offset + state.scale * state.beta)


def dual_point(state: SkipState) -> DualPoint | None:
    """Return the average dual numbers over the later epochs; None before the first is complete."""
    tail = state.tail
    return DualPoint(tail.sums.older, 1.0 / tail.length()) if tail.epochs else None


def check_skip(skip: Any) -> None:
    """Refuse a `skip` that is neither None nor a whole number of 1 or more."""
    is_count = isinstance(skip, int | np.integer) and not isinstance(skip, bool) and skip >= 1
    if skip is not None and not is_count:
        raise InvalidParameter(f"skip must be None or a whole number from 1 on; got {skip!r}.")


@inlined
def write_duals(problem, i, run):  # type: ignore[no-untyped-def]
    """Write minus the slopes of row i at the present weights to run.a; add them to the sums."""
    scores(problem.rows, i, run.W, run.z)
    for m in range(len(run.z)):
        z = run.z[m] + run.scale * run.beta[m] + run.offset[m]
        run.a[m] = -slope(problem.costs.loss, z, problem.costs.Y[i, m])
        add_dual(run.sums, i, m, run.a[m])


@inlined
def any_of(numbers):  # type: ignore[no-untyped-def]
    """Whether a number is not 0."""
    some = False
    for m in range(len(numbers)):
        some |= numbers[m] != 0.0
    return some


@inlined
def tick(clock, s):  # type: ignore[no-untyped-def]
    """Let time grow by a row of weight s."""
    clock[N] += clock[GROWS] * s
    clock[SINCE] += s
    clock[COUNT] += 1.0


@inlined
def is_due(clock, skip, lam, eta):  # type: ignore[no-untyped-def]
    """Whether the weights are to be shrunk: after `skip` rows, sooner while steps are long."""
    return clock[COUNT] >= skip or lam * eta * clock[SINCE] > LONG


@compiled
def add_losses(problem, order, run, total):  # type: ignore[no-untyped-def]
    """Add sum_i s_i loss over all models and sum_i s_i, of the rows of `order`, to `total`."""
    for t in range(len(order)):
        s = weight(problem.costs.weights, order[t])
        scores(problem.rows, order[t], run.W, run.z)
        total[1] += s
        for m in range(len(run.z)):
            z = run.z[m] + run.scale * run.beta[m] + run.offset[m]
            total[0] += s * value(problem.costs.loss, z, problem.costs.Y[order[t], m])
