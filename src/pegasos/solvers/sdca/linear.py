"""Stochastic dual coordinate ascent (SDCA): maximise the dual exactly, one row at a time.

Maximises   D(a) = 1/S sum_i s_i gain(a_i) - lam/2 ||w(a)||^2,   w(a) = 1/(lam S) sum_i s_i a_i x_i

Rows come in a new random permutation per epoch. w = w(a) is maintained, so a step costs one
product with x_i and, if a_i moves, one addition of x_i. No step size: each step is the exact
maximum along its coordinate, or over all numbers of a row of a joint loss (`coordinate`).

Free bias: the score is <w, x_i> + c + beta, where the coordinate beta is penalised around a centre
c that moves onto the present bias after every epoch (proximal point, or method of multipliers; c is
the multiplier of sum_i s_i a_i = 0). It starts at the best constant; see `offsets`. A regularised
bias of a joint loss goes the same way (`centres`): as a feature as long as the rows, it would have
every row move all others (news20: 42 epochs instead of 24).

With sampling="iid" rows are drawn independently, as [SZ13] analyses it and [CSS12] Sec. 4.4 has
it: one row after another, none left out, at the lam that was asked for from the beginning.

Shrinking: rows that sit at a bound and did not move at two visits running are left out of extra
passes over the others, as many as take the time of one pass over all; every epoch ends with a pass
over all rows. Large data tells its gap after every pass (`sampled_gap`): a run may end before that.

From a cold start at a small lam the way may lead over larger ones (`continuation`). On large data
threads take blocks of rows of one model (`cocoa`), or one of a few models each (`model_groups`); in
a first pass over blocks, the problem is that of the rows met so far (`grown`).

[CSS12]    Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
[HCLKS08]  Hsieh, Chang, Lin, Keerthi, Sundararajan. A dual coordinate descent method for
           large-scale linear SVM. ICML 2008. Algorithm 3.
[SZ13]     Shalev-Shwartz, Zhang. Stochastic dual coordinate ascent methods for regularized loss
           minimization. JMLR 14, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.centre import as_from_origin, settle, weight_count
from pegasos.data.order import NEVER_IDLE, Stretches, draw, identity, permute, stretches_of
from pegasos.data.rows import AHEAD, Centre, FloatArray, add, fetch, room_for, scores, shape
from pegasos.dispatch import kernel
from pegasos.options import Options
from pegasos.parallel import each
from pegasos.problem.joint_losses import is_joint, models, summed
from pegasos.problem.objective import (
    VALUES_PER_CALL,
    Problem,
    blocks,
    combination,
    flat,
    typical_length,
    weight,
)
from pegasos.solvers.checks import check_choice, check_flag
from pegasos.solvers.offsets import centred, seen, starting_biases
from pegasos.solvers.primal.bias import FREE_SCALE
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_shrinking_and_sampling
from pegasos.solvers.sdca.centres import beta_and_lacking, kept, move_centre, shorter_scale
from pegasos.solvers.sdca.cocoa import (
    Blocks,
    Weights,
    join,
    new_blocks,
    round_length,
    shares,
    write_before,
)
from pegasos.solvers.sdca.continuation import Continuation
from pegasos.solvers.sdca.coordinate import DualBias, Room, Visit, expect, maximise
from pegasos.solvers.sdca.model_groups import (
    Group,
    Groups,
    advance_groups,
    columns_of_groups,
    of_columns,
)
from pegasos.solvers.sdca.sampled_gap import sampled_gap

IDLE_VISITS = 2  # visits without a move after which a row at a bound is left out
FIRST_ROWS = 4.0  # times ||x||^2 / lam: of fewer rows, the problem is harder than that of all
SAMPLED = 8  # one row in so many is asked for its part of the gap
MOST_ACTIVE = 0.8  # of the rows of a joint loss, whose visits are dear: with fewer, one extra pass
EXTRA_PASSES = 16  # at most so many passes over the active rows before one over all rows


@dataclass
class SdcaState:
    """A run of SDCA: duals A (n, K), weights W (d, K), the bias as a constant feature.

    Rows far from the origin are seen from `centre` (`offsets`); W then may have more rows than
    features (`CsrRows`). `blocks` are None where a pass is not cut into blocks.
    """

    A: FloatArray
    W: FloatArray
    bias: DualBias
    square_norms: FloatArray
    order: Any
    idle: Any
    random: Any
    room: Room
    stretches: Stretches
    centre: Centre
    continuation: Continuation
    blocks: Blocks | None = None
    values_per_call: int = VALUES_PER_CALL
    active: int = 0  # rows in the present pass: order[:active]
    position: int = 0  # next place in the present pass
    share: float = 1.0  # of the rows, whose problem is under way: less in a first pass (`grown`)
    extra_passes: int = 0  # passes over active rows still to come before the full one


@dataclass
class SDCA(Options, Solver):
    """Dual coordinate ascent in random permutations.

    Parameters
    ----------
    shrinking : bool, default=True
        Leave rows that are stuck at a bound out of extra passes over the others.
    sampling : {"epoch", "iid"}, default="epoch"
        A new permutation per epoch, or independent draws, which are plain: without shrinking (to
        be set to False), threads, and a way over larger lam.
    """

    shrinking: bool = True
    sampling: Literal["epoch", "iid"] = "epoch"
    name: ClassVar[str] = "sdca"
    is_dual: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_flag(self, "shrinking")
        check_choice(self, "sampling", ("epoch", "iid"))
        check_shrinking_and_sampling(self.shrinking, self.sampling)

    def start(self, problem: Problem, seed: int, previous: Any | None) -> SdcaState | Groups:
        self.check()
        problem, squares = centred(problem)
        A = None if previous is None else previous.A
        if self.sampling == "iid":
            return self._begin(problem, squares, seed, None if A is None else A.copy())
        groups, K = [], problem.costs.Y.shape[1]
        of_one = [slice(0, K)] if is_joint(problem.costs.loss) else None
        for columns in of_one or columns_of_groups(problem.rows, K):
            Y = np.ascontiguousarray(problem.costs.Y[:, columns])
            part = None if A is None else np.ascontiguousarray(A[:, columns])
            state = self._begin(of_columns(problem, Y), squares, seed, part)
            groups.append(Group(columns, Y, state))
        if len(groups) > 1:
            for group in groups:  # they may all have to wait for one thread
                group.state.values_per_call //= len(groups)
            return Groups(groups)
        only: SdcaState = groups[0].state
        only.blocks = new_blocks(problem.rows, len(only.W), only.A.shape[1])
        if only.blocks is not None and A is None:
            enough = FIRST_ROWS * typical_length(problem, squares) ** 2 / problem.lam
            only.share = min(1.0, enough / problem.S)
        known = None if previous is None else self.free_bias(problem, previous)
        if known is not None:
            go_on_with_biases(only, *known)
        return only

    def _begin(
        self, problem: Problem, squares: FloatArray, seed: int, A: FloatArray | None
    ) -> SdcaState:
        """Build the state of a run of models that share their passes, from duals A if given."""
        (n, _), K = shape(problem.rows), problem.costs.Y.shape[1]
        scale = problem.bias_scale
        if problem.is_free:
            scale = FREE_SCALE * typical_length(problem, squares)
        elif scale > 0.0 and is_joint(problem.costs.loss) and self.sampling == "epoch":
            scale = shorter_scale(problem, squares)
        state = SdcaState(
            A=np.zeros((n, K)) if A is None else A,
            W=room_for(weight_count(problem.rows), K),
            bias=DualBias(scale, np.zeros(K), np.zeros(K)),
            square_norms=squares,
            order=identity(n),
            idle=np.zeros(n, dtype=np.uint8),
            random=np.array([seed], dtype=np.uint64),
            room=Room(np.zeros((3, models(problem.costs.loss, K))), np.zeros(K), np.zeros(K)),
            stretches=stretches_of(problem.rows, in_turn=False),
            centre=problem.rows.centre,
            continuation=Continuation(may_begin=A is None and self.sampling == "epoch"),
        )
        _, beta, offset = state.bias
        if A is not None:
            state.W[:] = combination(problem, state.A)
            s = problem.costs.weights.values[:, None]
            total = (s * state.A).sum(axis=0) / (problem.lam * problem.S)
            beta[:] = scale * total
            offset[:] = kept(problem, scale) * problem.bias_scale**2 * total
        if problem.is_free:
            offset[:] = starting_biases(problem, state.W) - scale * beta
        return state

    def advance(self, problem: Problem, state: SdcaState | Groups) -> Advance:
        if isinstance(state, Groups):
            return advance_groups(self._advance, problem, state)
        return self._advance(problem, state)

    def advance_by(self, problem: Problem, state: SdcaState | Groups, most: int) -> Advance:
        if isinstance(state, Groups):
            return self.advance(problem, state)
        return self._advance(problem, state, most)

    def leave_out(self, state: SdcaState | Groups, is_done: Any) -> None:
        """Take note of which models (K,) are done: they need not be advanced any more."""
        if isinstance(state, Groups):
            state.leave_out(is_done)

    def _advance(self, problem: Problem, state: SdcaState, most: int | None = None) -> Advance:
        own = seen(problem, state.centre)
        problem = state.continuation.now(own)
        if state.position == 0:
            limit = IDLE_VISITS if state.extra_passes else NEVER_IDLE
            state.room.met[:] = 0.0
            if self.sampling == "iid":
                state.active = len(state.order)
                draw(state.order, state.active, state.random)
            else:
                state.active = permute(
                    state.order, state.stretches, state.idle, limit, state.random
                )
        _, length = blocks(problem.rows, state.values_per_call)[0]
        in_round = 0
        if state.blocks is not None:
            in_round = round_length(problem.rows, state.active, len(state.W))
        length = length if most is None else min(length, most)
        stop = min(state.active, state.position + min(length, in_round or length))
        order = state.order[state.position : stop]
        if state.blocks is not None and in_round:
            of_those_met = grown(problem, state, stop / state.active)
            advance_blocks(of_those_met, state, state.blocks, order)
        else:
            sdca_pass(
                problem, order, state.square_norms, state.A, flat(state.W), state.idle,
                state.bias, state.room,
            )  # fmt: skip
        state.position = stop
        ends_pass = stop == state.active
        ends_epoch = ends_pass and state.extra_passes == 0
        if ends_pass:
            state.position = 0
            settle(state.centre, state.W)
            move_centre(problem, state.bias)
            if state.extra_passes > 0:
                state.extra_passes -= 1
            elif self.shrinking:  # about as many visits to active rows as a pass over all takes
                active = max(1, int(np.count_nonzero(state.idle < IDLE_VISITS)))
                state.extra_passes = min(EXTRA_PASSES, len(state.idle) // active - 1)
                if is_joint(problem.costs.loss) and active <= MOST_ACTIVE * len(state.idle):
                    state.extra_passes = max(1, state.extra_passes)
        is_current = state.blocks is not None and self.shrinking
        estimate = np.nan
        if is_current and ends_pass:
            place = int(state.random[0] >> np.uint64(32))
            estimate = sampled_gap(problem, state.A, state.W, state.bias, place)
        elif ends_epoch:
            estimate = self._estimate(problem, state)
        if ends_epoch and change_lam(own, state, estimate):
            estimate = np.nan  # it was of another problem
        elif state.continuation.lam is not None:
            estimate = np.nan
        return Advance(len(order), ends_epoch, estimate, is_current=is_current)

    def _estimate(self, problem: Problem, state: SdcaState) -> float:
        """Guess the relative gap from the rows met in the last pass; it lags behind."""
        gap, gain, weight = state.room.met
        W = state.W[: shape(problem.rows)[1]]
        beta, lacking = beta_and_lacking(problem, state.bias)
        square = summed(problem.costs.loss, np.einsum("jk,jk->k", W, W) + beta**2)
        half = 0.5 * problem.lam * weight
        gap = gap + half * summed(problem.costs.loss, lacking**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(gap / (gain - half * square)))

    def iterate(
        self, problem: Problem, state: SdcaState | Groups
    ) -> tuple[FloatArray, FloatArray] | None:
        return None

    def dual_point(self, problem: Problem, state: SdcaState | Groups) -> DualPoint:
        return DualPoint(state.A, 1.0)

    def maintained_weights(
        self, problem: Problem, state: SdcaState | Groups
    ) -> FloatArray | None:
        if isinstance(state, Groups) or state.blocks is None or problem.is_free:
            return None
        is_own = state.share == 1.0 and state.continuation.lam is None
        return state.W if is_own else None  # it may be of fewer rows, or of another lam

    def free_bias(
        self, problem: Problem, state: SdcaState | Groups
    ) -> tuple[FloatArray, FloatArray] | None:
        has_bias = problem.is_free or problem.bias_scale > 0.0
        is_asked_for = has_bias and is_joint(problem.costs.loss)
        if not is_asked_for or not isinstance(state, SdcaState):
            return None
        scale, beta, offset = state.bias
        m = state.centre.m
        return offset + scale * beta, m if len(m) else np.zeros(shape(problem.rows)[1])


def go_on_with_biases(state: SdcaState, c: FloatArray, m: FloatArray) -> None:
    """Start from the biases c - <w, m> of an earlier run on the same rows."""
    W, shift = as_from_origin(state.centre, state.W, np.zeros(len(c)))
    scale, beta, offset = state.bias
    offset[:] = c - m @ W - shift - scale * beta


def change_lam(problem: Problem, state: SdcaState, estimate: float) -> bool:
    """Begin anew at a larger lam or go on to a smaller one, if it is time to; see `continuation`.

    Tell whether the estimate was not of the problem itself, or is not any more.
    """
    way, (scale, beta, offset) = state.continuation, state.bias
    was_away = way.lam is not None
    if way.must_begin_anew(problem, state.square_norms, estimate):
        for array in (state.A, state.W, beta, state.idle):
            array[:] = 0
        state.extra_passes, growth = 0, 0.0
    else:
        growth = way.goes_on(problem, estimate)
        if growth != 1.0:  # W may be large
            state.W *= growth
            beta *= growth
    if growth != 1.0 and problem.is_free:
        offset[:] = starting_biases(way.now(problem), state.W) - scale * beta
    elif growth == 0.0:
        offset[:] = 0.0
    return was_away or way.lam is not None


def grown(problem: Problem, state: SdcaState, met: float) -> Problem:
    """Return the problem of the rows met, a share of all; the weights become its own.

    Before they are met, dual numbers are 0. Weights of the problem of all rows would be small in
    the first pass, and what is decided by them wrong.
    """
    if state.share == 1.0:
        return problem
    share = max(met, state.share)
    state.W *= state.share / share  # [SZ13] Modified-SGD: 1/(lam t) in place of 1/(lam n)
    state.bias.beta[:] *= state.share / share
    state.share = share
    return problem._replace(S=share * problem.S)


def advance_blocks(problem: Problem, state: SdcaState, blocks: Blocks, order: Any) -> None:
    """Go through a round: blocks of the rows of `order` side by side, then together."""
    scale, beta, offset = state.bias
    w, room = flat(state.W), state.room
    steeper = problem._replace(lam=problem.lam / blocks.sigma)
    blocks.met[:] = 0.0
    if len(blocks.before) < len(order):
        blocks.before = np.zeros(len(order))
    parts = shares(order)
    starts = np.cumsum([0, *map(len, parts)])

    def work(b: int) -> None:
        blocks.V[b], blocks.beta[b] = w, beta
        write_before(state.A, parts[b], blocks.before[starts[b] :])
        sdca_pass(
            steeper, parts[b], state.square_norms, state.A, blocks.V[b], state.idle,
            DualBias(scale, blocks.beta[b], offset),
            Room(blocks.met[b], *blocks.room[b]),
        )  # fmt: skip

    each(work, range(len(parts)))
    room.met[:] += blocks.met.sum(axis=0)
    join(blocks, problem, Weights(w, beta, offset), order, state.A)


@kernel
def sdca_pass(problem, order, square_norms, A, W, idle, bias, room):  # type: ignore[no-untyped-def]
    """Maximise over each row of `order` in turn; A, W, idle, constant.beta and `room` change."""
    costs, K, last = problem.costs, A.shape[1], len(order) - 1
    inverse = 1.0 / (problem.lam * problem.S)
    scale, beta, _ = bias
    for t in range(len(order)):  # [HCLKS08] Alg. 3: for i in a random permutation
        i = order[t]
        expect(problem, order[min(t + 2 * AHEAD, last)], square_norms, A, idle)
        fetch(problem.rows, order[min(t + AHEAD, last)])
        s = weight(costs.weights, i)
        scores(problem.rows, i, W, room.z)
        q = s * (square_norms[i] + scale * scale) * inverse
        visit = Visit(i, s, q, inverse, t % SAMPLED == 0)
        moves, rests = maximise(costs.loss, costs, visit, A, bias, room)
        if moves:
            add(problem.rows, i, room.step, W)  # w(a) follows a
            for k in range(K):
                beta[k] += scale * room.step[k]
        idle[i] = min(idle[i] + 1, 255) if rests else 0
