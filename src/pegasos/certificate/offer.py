"""What a solver offers to be certified, and the weights w(a) of its dual point, made feasible."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.order import Draws
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.bias import Balance, balances, feasible, untouched
from pegasos.problem.geometry import geometry
from pegasos.problem.losses import gain
from pegasos.problem.objective import Problem, weight
from pegasos.problem.scores import Extent


class Offer(NamedTuple):
    """What a solver offers: raw dual numbers scale * A, perhaps their scores, perhaps an iterate.

    `scores` (n, K) are those of w(scale * A); `iterate` is (W, b), or None for w(a) itself. Without
    a dual point (`A` None) there is an iterate. `is_final`: that is handed out, its bias too.
    """

    A: Any
    scale: float = 1.0
    scores: FloatArray | None = None
    iterate: tuple[FloatArray, FloatArray] | None = None
    is_final: bool = False


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

    `error` (K,) bounds what rounding moved w(a) by.
    """

    W: FloatArray
    beta: FloatArray
    balance: Balance
    error: FloatArray


def dual_weights(problem: Problem, offer: Offer, means: Means) -> DualWeights:
    """Return w(a), its bias coordinate and the balance that made a feasible.

    Where there are two ways to balance, each model takes the one with its larger dual value.
    """
    A, scratch, K = offer.A, means.scratch, offer.A.shape[1]
    space, is_free = geometry(problem.rows), problem.is_free
    candidates = balances(problem, A, offer.scale) if is_free else [untouched(K, offer.scale)]
    best: Any = None
    for balance in candidates:
        write_feasible(problem.costs, A, balance, scratch)
        W = space.combination(problem, scratch)
        totals = np.zeros((3, K))
        add_gains(problem.costs, scratch, totals)
        beta = problem.bias_scale * totals[1] / (problem.lam * problem.S)
        error = space.weights_error(problem, W, totals[2], means.extent)
        if len(candidates) == 1:
            return DualWeights(W, beta, balance, error)
        dual = totals[0] / problem.S - 0.5 * problem.lam * space.square_norms(W)
        if best is None:
            best = dual, DualWeights(W, beta, balance, error)
            continue
        better, old = dual > best[0], best[1]
        for into, new in zip(
            (old.W, old.error, *old.balance[1:]), (W, error, *balance[1:]), strict=True
        ):
            np.copyto(into, new, where=better)
    return best[1]


@compiled
def write_feasible(costs, A, balance, out):  # type: ignore[no-untyped-def]
    """Write the feasible dual numbers that `balance` makes of A into `out`."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i, k] = feasible(costs, A, i, k, balance)


@compiled
def add_gains(costs, A, sums):  # type: ignore[no-untyped-def]
    """Add sum_i s_i gain(a_i), s_i a_i and |s_i a_i| to the rows of `sums`, for feasible A."""
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            sums[0, k] += s * gain(costs.loss, A[i, k], costs.Y[i, k])
            sums[1, k] += s * A[i, k]
            sums[2, k] += s * abs(A[i, k])
