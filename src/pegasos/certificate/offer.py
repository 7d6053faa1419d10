"""What a solver offers to be certified, and the weights w(a) of its dual point, made feasible."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.order import Draws
from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled
from pegasos.problem.bias import Balance, balances, untouched, write_feasible_row
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_bias import joint_balance
from pegasos.problem.joint_losses import (
    for_joint_losses,
    is_joint,
    joint_gain,
    lengths,
    own_class,
)
from pegasos.problem.losses import gain
from pegasos.problem.objective import Problem, factors, weight
from pegasos.problem.scores import Extent


class Offer(NamedTuple):
    """What a solver offers: raw dual numbers scale * A, perhaps their scores, perhaps an iterate.

    `scores` (n, K) are those of w(scale * A); `iterate` is (W, b), or None for w(a) itself. Without
    a dual point (`A` None) there is an iterate. `weights` (d, K) are w(scale * A) of features, but
    for rounding, where the bias is not free: they are judged in its place (`one_pass`). `bias`
    (c, m) are free biases b = c - <w, m> of a joint loss, as good as the solver knows them, for the
    weights that have none of their own.
    `is_final`: the iterate is handed out, its bias too.
    """

    A: Any
    scale: float = 1.0
    scores: FloatArray | None = None
    iterate: tuple[FloatArray, FloatArray] | None = None
    bias: tuple[FloatArray, FloatArray] | None = None
    is_final: bool = False
    weights: FloatArray | None = None


class Means(NamedTuple):
    """What evaluations work with: room for scores (n, K), the rows' extent, random choices."""

    scratch: FloatArray
    extent: Extent
    random: Draws


def means_for(problem: Problem, seed: int = 0) -> Means:
    """Return what evaluations of a problem work with."""
    extent = geometry(problem.rows).extent(problem)
    return Means(np.zeros(problem.costs.Y.shape), extent, Draws(seed))


class DualWeights(NamedTuple):
    """w(a) (d, K), its bias coordinate (K,), the balance that made a feasible.

    `error` (K,) bounds what rounding moved w(a) by, (1,) of a joint loss; `longest` bounds the
    length of a row.
    """

    W: FloatArray
    beta: FloatArray
    balance: Balance
    error: FloatArray
    longest: float


def dual_weights(problem: Problem, offer: Offer, means: Means) -> DualWeights:
    """Return w(a), its bias coordinate and the balance that made a feasible.

    Where there are two ways to balance, each model takes the one with its larger dual value.
    """
    A, scratch, K = offer.A, means.scratch, offer.A.shape[1]
    space, is_free = geometry(problem.rows), problem.is_free
    candidates = [untouched(K, offer.scale)]
    if is_free and is_joint(problem.costs.loss):
        candidates = [joint_balance(problem, A, offer.scale)]
    elif is_free:
        candidates = balances(problem, A, offer.scale)
    longest = float(np.sqrt(means.extent.values) * means.extent.largest)
    best: Any = None
    for balance in candidates:
        write_feasible(problem.costs, A, balance, scratch)
        W = space.combination(problem, scratch)
        totals = np.zeros((3, K))
        if len(candidates) > 1:
            add_gains(problem.costs, scratch, totals)
        else:  # gains are to choose by
            write_sums(problem.costs.weights, scratch, totals)
        beta = problem.bias_scale * totals[1] / (problem.lam * problem.S)
        error = space.weights_error(problem, W, totals[2], means.extent)
        error = lengths(problem.costs.loss, error)
        if len(candidates) == 1:
            return DualWeights(W, beta, balance, error, longest)
        dual = totals[0] / problem.S - 0.5 * problem.lam * space.square_norms(W)
        if best is None:
            best = dual, DualWeights(W, beta, balance, error, longest)
            continue
        better, old = dual > best[0], best[1]
        for into, new in zip(
            (old.W, old.error, *old.balance[1:]), (W, error, *balance[1:]), strict=True
        ):
            np.copyto(into, new, where=better)
    return best[1]


def write_sums(weights: Any, A: FloatArray, sums: FloatArray) -> None:
    """Write the sums of s_i a_i and |s_i a_i| into the last rows of `sums`; A is left as |a|."""
    for row in (1, 2):
        if weights.mask:
            np.einsum("ik,ik->k", np.broadcast_to(factors(weights), A.shape), A, out=sums[row])
        else:
            np.multiply(A.sum(axis=0), weights.values[0], out=sums[row])
        np.abs(A, out=A)


@compiled
def write_feasible(costs, A, balance, out):  # type: ignore[no-untyped-def]
    """Write the feasible dual numbers that `balance` makes of A into `out`."""
    for i in range(A.shape[0]):
        write_feasible_row(costs.loss, costs, A, i, balance, out[i])


@compiled
def add_gains(costs, A, sums):  # type: ignore[no-untyped-def]
    """Add sum_i s_i gain(a_i), s_i a_i and |s_i a_i| to the rows of `sums`, for feasible A."""
    for i in range(A.shape[0]):
        add_row_gains(costs.loss, costs, A, i, sums)


@by_tag
def add_row_gains(loss: Any, costs: Any, A: Any, i: int, sums: Any) -> None:
    """Add what row i has of these sums."""


@add_row_gains.otherwise
def _(loss, costs, A, i, sums):  # type: ignore[no-untyped-def]
    s = weight(costs.weights, i)
    for k in range(A.shape[1]):
        sums[0, k] += s * gain(loss, A[i, k], costs.Y[i, k])
        sums[1, k] += s * A[i, k]
        sums[2, k] += s * abs(A[i, k])


@for_joint_losses(add_row_gains)
def _(loss, costs, A, i, sums):  # type: ignore[no-untyped-def]
    s, a = weight(costs.weights, i), A[i]
    sums[0, 0] += s * joint_gain(loss, a, own_class(costs.Y, i))
    for k in range(len(a)):
        sums[1, k] += s * a[k]
        sums[2, k] += s * abs(a[k])
