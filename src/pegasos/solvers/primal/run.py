"""What the primal methods share: the state of a run, its beginning, its epochs and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.centre import as_from_origin, settle, weight_count
from pegasos.data.order import (
    NEVER_IDLE,
    Stretches,
    draw,
    draw_sets,
    identity,
    permute,
    shuffle,
    stretches_of,
)
from pegasos.data.rows import ORIGIN, Centre, FloatArray, shape
from pegasos.problem.objective import Problem, combination, flat
from pegasos.solvers.offsets import centred, seen, starting_biases
from pegasos.solvers.primal.bias import (
    FIRST_ROUND,
    PrimalBias,
    Search,
    bisect,
    move_centre,
    new_bias,
    new_search,
    search_on,
)
from pegasos.solvers.primal.scaled_weights import (
    PrimalRun,
    Scaling,
    Scratch,
    factor,
    fold,
    new_scaling,
    present_bias,
)
from pegasos.solvers.primal.tail_average import Tail, new_tail, own_averages
from pegasos.solvers.protocol import DualPoint

EPOCHS_OF_A_GUEST = 10  # that a dual point found by another solver counts for


class Mark(NamedTuple):
    """V and the time at the beginning of a tail."""

    V: FloatArray
    N: float


@dataclass
class PrimalState:
    """A run of a primal method; the weights are factor(scaling) * V, V of shape (d, K).

    Rows far from the origin are seen from `centre` (`offsets`); weights and biases here are for
    what is seen. V then may have more rows than features (`CsrRows`).
    """

    V: FloatArray
    R: FloatArray  # the average's remainder (d, K); (0, K) where no average is kept
    marks: list[Mark]  # V where the tail's two sums begin; empty unless drawn independently
    scaling: Scaling
    bias: PrimalBias
    search: Search
    tail: Tail
    order: Any
    idle: Any  # all zero
    pool: Any  # the rows that sets are drawn from; empty unless drawn independently
    random: Any
    stretches: Stretches
    met: FloatArray  # (2, K): sums of s_i gain(a_i) over the run, of s_i loss over the epoch (SGD)
    passes: int = 0  # over the rows; the tail counts a pass of SGD-m as several epochs
    position: int = 0  # in the present epoch
    candidates: Any = None  # iterates chosen at random (`pegasos.random_iterate`)
    centre: Centre = ORIGIN

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Average dual numbers, shape (n, K): where another run may start from."""
        older, _, visits = self.tail.sums
        return older / np.maximum(1, visits[:, :1] if len(visits) else self.tail.length())


def start(
    problem: Problem, seed: int, way: str, is_independent: bool, previous: Any | None
) -> PrimalState:
    """Return a run at w = 0, or where an earlier one on the same rows ended."""
    squares = None
    if problem.is_free:
        problem, squares = centred(problem)
    state = new_state(problem, seed, way, is_independent, squares)
    if previous is not None:
        go_on_from(problem, state, previous)
    if problem.is_free:
        W, _ = own_weights(problem, state)
        state.bias.offset[:] = starting_biases(problem, W)
        if way == "free-bisection":
            state.search.due = FIRST_ROUND
    return state


def new_state(
    problem: Problem,
    seed: int,
    way: str,
    is_independent: bool,
    squares: FloatArray | None = None,
) -> PrimalState:
    """Return a run at w = 0, b = 0 on the rows as given, whose square lengths may be known."""
    (n, _), K, d = shape(problem.rows), problem.costs.Y.shape[1], weight_count(problem.rows)
    return PrimalState(
        centre=problem.rows.centre,
        bias=new_bias(problem, way, squares),
        V=np.zeros((d, K)),
        R=np.zeros((0, K)),
        marks=[Mark(np.zeros((d, K)), 0.0)] * 2 if is_independent else [],
        scaling=new_scaling(K),
        search=new_search(problem),
        tail=new_tail(n, K, is_independent),
        order=identity(n),
        idle=np.zeros(n, dtype=np.uint8),
        pool=identity(n if is_independent else 0),
        random=np.array([seed], dtype=np.uint64),
        stretches=stretches_of(problem.rows, in_turn=True),
        met=np.zeros((2, K)),
    )


def go_on_from(problem: Problem, state: PrimalState, previous: Any) -> None:
    """Let a new run go on from an earlier one on the same rows, of this or another solver.

    The earlier dual point counts as the epochs behind it: a = (E_0 a_0 + sum_e a_e) / (E_0 + E).
    """
    is_primal = isinstance(previous, PrimalState)
    epochs = max(1, previous.tail.epochs) if is_primal else EPOCHS_OF_A_GUEST
    A = previous.A
    state.V[:] = combination(problem, A) * (problem.lam * problem.S * epochs)
    state.scaling.N[0] = epochs * problem.S
    tail = state.tail
    tail.sums.older[:], tail.sums.visits[:, 0] = A * epochs, epochs
    tail.epochs = tail.middle = epochs
    if state.marks:
        state.marks[1] = Mark(state.V.copy(), float(state.scaling.N[0]))
    if problem.bias_scale > 0.0:
        s = problem.costs.weights.values[:, None]
        state.bias.total[:] = epochs * (s * A).sum(axis=0)


def halve(problem: Problem, state: PrimalState) -> None:
    """Bisect a free bias if its value has had its epochs: w starts anew, as for another problem.

    The dual numbers of the tail tell the slope of J, -1/S sum_i s_i a_i, at the present value.
    """
    search, bias, tail = state.search, state.bias, state.tail
    if state.passes < search.due or tail.epochs == 0:
        return
    s = problem.costs.weights.values[:, None]
    bisect(search, bias.offset, (s * tail.sums.older).sum(axis=0), state.passes)
    for array in (state.V, state.R, *tail.sums, *state.scaling[:3], *state.scaling[4:], bias.total):
        array[:] = 0
    state.scaling.c[:] = 1.0
    state.marks = [Mark(np.zeros_like(state.V), 0.0)] * len(state.marks)
    state.tail = Tail(tail.sums)


def draw_epoch(state: Any, sampling: str, size: int) -> None:
    """Write the rows of the next epoch into the order; of any state with what `PrimalState` has."""
    if sampling == "epoch":
        permute(state.order, state.stretches, state.idle, NEVER_IDLE, state.random)
    elif sampling == "permutation" or (sampling == "fixed" and state.passes == 0):
        shuffle(state.order, state.random)
    elif sampling == "multiset" or (sampling == "iid" and size == 1):
        draw(state.order, len(state.order), state.random)
    elif sampling == "iid":
        draw_sets(state.order, state.pool, size, state.random)


def run_of(state: PrimalState, size: int) -> PrimalRun:
    """Return what kernels change, with room for batches of `size` rows."""
    K = len(state.scaling.c)
    scratch = Scratch(np.empty((size, K)), np.empty(K), np.empty(K))
    V, R = flat(state.V), flat(state.R)
    return PrimalRun(state.scaling, V, R, state.tail.sums, state.bias, scratch)


def refold(state: PrimalState) -> None:
    """Fold what projections and averaging left aside into the sums."""
    c, v = state.scaling.c.copy(), settle(state.centre, state.V)
    settle(state.centre, state.R)
    fold(state.scaling, state.V, state.R, state.tail.sums, state.bias, v)
    if (c < 1.0).any():
        state.marks = [Mark(mark.V * c, mark.N) for mark in state.marks]


def end_epoch(problem: Problem, state: PrimalState, way: str, times: int = 1) -> None:
    """Count a complete epoch: move a free bias on, fold, turn the tail."""
    state.passes += 1
    if problem.is_free and way == "free":
        move_centre(state.bias, factor(problem, state.scaling))
    elif problem.is_free and way == "free-search":
        search_on(state.search, state.bias, state.passes)
    refold(state)
    state.position = 0
    if state.tail.end_epoch(times) and state.marks:
        state.marks = [state.marks[1], Mark(state.V.copy(), float(state.scaling.N[0]))]


def own_weights(problem: Problem, state: PrimalState) -> tuple[FloatArray, FloatArray]:
    """Return the present weights and biases, for the rows as the run sees them."""
    scaling = state.scaling
    return state.V * factor(problem, scaling), present_bias(problem, scaling, state.bias)


def last_weights(problem: Problem, state: PrimalState) -> tuple[FloatArray, FloatArray]:
    """Return the present weights and biases to hand out."""
    return as_from_origin(state.centre, *own_weights(problem, state))


def tail_length(problem: Problem, state: PrimalState) -> float:
    """Return the epochs that the tail's sums cover; inside one, by the weight of the rows met."""
    if state.position == 0:
        return state.tail.length()
    return float(state.scaling.N[0]) / problem.S - state.tail.first


def dual_point(problem: Problem, state: PrimalState) -> DualPoint | None:
    """Return the average dual numbers over the later epochs; None before the first is complete."""
    tail = state.tail
    if tail.epochs == 0:
        return None
    if not state.marks:  # every row was met once per epoch
        return DualPoint(tail.sums.older, 1.0 / tail_length(problem, state))
    W, b = own_weights(problem, state)
    return DualPoint(own_averages(seen(problem, state.centre), tail, W, b), 1.0)


def tail_weights(
    problem: Problem, state: PrimalState
) -> tuple[FloatArray, FloatArray] | None:
    """Return the weights to hand out with the tail's dual point; None means its own, w(a).

    With a free bias the certificate moves the dual point until sum_i s_i a_i = 0, and rows drawn
    independently average over their own visits. The weights of the tail as it was are better: at
    small lam, w answers strongly to small moves of a.
    """
    tail = state.tail
    if tail.epochs == 0:
        return last_weights(problem, state)
    b = present_bias(problem, state.scaling, state.bias)
    if state.marks:
        mark = state.marks[0]
        W = (state.V - mark.V) / (problem.lam * (state.scaling.N[0] - mark.N))
        return as_from_origin(state.centre, W, b)
    if not problem.is_free:
        return None
    W = combination(seen(problem, state.centre), tail.sums.older)
    W /= tail_length(problem, state)
    return as_from_origin(state.centre, W, b)
