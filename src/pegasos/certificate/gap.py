"""The certificate: primal, dual and gap in float64, from the data (kernels: `Gram.add_scores`).

For a dual point a, put  w(a) = 1/(lam S) sum_i s_i a_i x_i. For any feasible a and any w, b

    D(a) <= min P <= P(w, b)
    P(w, b) - D(a) = 1/S sum_i s_i gap_term_i + lam/2 ||w - w(a)||^2  >= 0

The gap is the right-hand side: a sum of non-negative terms, no difference of large numbers. A
regularised bias is one more coordinate of w; a free one needs sum_i s_i a_i = 0 and drops out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem import space
from pegasos.problem.bias import Balance, balances, best_bias, feasible, untouched
from pegasos.problem.gram import Kernelized
from pegasos.problem.losses import gain, gap_term, slope, value
from pegasos.problem.objective import Problem, weight
from pegasos.problem.space import (
    as_stored,
    combination,
    distances,
    expansion_size,
    square_norms,
)


@dataclass(frozen=True)
class Evaluation:
    """Models and their proven quality, one entry per model in every array.

    `W` (d, K) and `b` (K,) are what was evaluated.
    """

    W: FloatArray
    b: FloatArray
    primal: FloatArray
    dual: FloatArray
    gap: FloatArray
    distance: FloatArray  # ||w - w(a)||^2, a regularised bias included
    hidden: FloatArray  # part of the gap that stands for the rounding of kernel values


def evaluate(
    problem: Problem,
    A: FloatArray,
    scale: float,
    scratch: FloatArray,
    iterate: tuple[FloatArray, FloatArray] | None = None,
    accuracy: float = 0.0,
    bias_hint: FloatArray | None = None,
) -> Evaluation:
    """Certify `iterate` = (W, b), or w(a) itself when none is given, by the dual point scale * A.

    Weights are judged as they will be stored, in the data's precision. `accuracy` is how far a free
    bias may stay from its best. `scratch`, of the shape of A, is overwritten with the scores.
    """
    W_a, beta_a, balance = dual_weights(problem, A, scale, scratch)
    W, b = (W_a, problem.bias_scale * beta_a) if iterate is None else iterate
    W = as_stored(problem.rows, W)
    if iterate is not None and W is iterate[0]:
        W = W.copy()  # the solver may go on writing into what it offered
    b = write_scores(problem, W, b, scratch, accuracy, bias_hint)
    sums = np.zeros((3, A.shape[1]))
    add_terms(problem.costs, A, scratch, balance, b, sums)
    losses, gains, terms = sums / problem.S
    square, square_a, distance = distances(problem.rows, W, W_a, scratch)
    if problem.bias_scale > 0.0:
        beta = b / problem.bias_scale
        square, square_a = square + beta**2, square_a + beta_a**2
        distance = distance + (beta - beta_a) ** 2
    primal = 0.5 * problem.lam * square + losses
    dual = gains - 0.5 * problem.lam * square_a
    gap = terms + 0.5 * problem.lam * distance
    hidden = np.zeros_like(gap)
    if isinstance(problem.rows, Kernelized):  # rounding may have made a square norm negative, so 0
        gap = np.where(square > 0.0, gap, np.maximum(gap, primal - dual))
        hidden = hidden_by_rounding(problem, W)
    return Evaluation(W, b, primal, dual, gap + hidden, distance, hidden)


def hidden_by_rounding(problem: Problem, W: FloatArray) -> FloatArray:
    """Estimate what errors of kernel values, independent of each other, may add to a gap.

    With coefficients of root sum of squares B, a score is off by `rounding` times B sqrt(K(x, x)),
    the mean loss by that over the root of n, once at w and once at the optimum; the square norm is
    off by `rounding` B^2.
    """
    rows = problem.rows
    size = expansion_size(rows, W)
    typical = float(np.sqrt(np.abs(rows.diagonal).mean()))
    mean = 2.0 * typical / np.sqrt(len(rows.diagonal))
    return np.asarray(rows.rounding * size * (mean + problem.lam * size))


def losses_at_zero(problem: Problem, zeros: FloatArray) -> FloatArray:
    """Return the mean loss of w = 0, b = 0 per model; `zeros` has the shape of the duals."""
    K = zeros.shape[1]
    sums = np.zeros((3, K))
    add_terms(problem.costs, zeros, zeros, untouched(K, 1.0), np.zeros(K), sums)
    return sums[0] / problem.S


def negative_slopes(
    problem: Problem, W: FloatArray, b: FloatArray, scratch: FloatArray, accuracy: float
) -> tuple[FloatArray, FloatArray]:
    """Return a_i = -slope at the scores of (W, b), always feasible, and the bias they are for."""
    b = write_scores(problem, W, b, scratch, accuracy, b)
    A = np.empty_like(scratch)
    write_negative_slopes(problem.costs, scratch, b, A)
    return A, b


def write_scores(
    problem: Problem,
    W: FloatArray,
    b: FloatArray,
    Z: FloatArray,
    accuracy: float,
    bias_hint: FloatArray | None,
) -> FloatArray:
    """Write the scores without bias into Z; return the bias, the best one where it is free."""
    space.write_scores(problem.rows, W, Z)
    if not problem.is_free:
        return b
    hint = b if bias_hint is None else bias_hint
    models = range(Z.shape[1])
    return np.array([best_bias(problem, Z, k, float(hint[k]), accuracy) for k in models])


def dual_weights(
    problem: Problem, A: FloatArray, scale: float, scratch: FloatArray
) -> tuple[FloatArray, FloatArray, Balance]:
    """Return w(a), its bias coordinate and the balance that made A feasible.

    Where there are two ways to balance, each model takes the one with its larger dual value.
    """
    K = A.shape[1]
    candidates = balances(problem, A, scale) if problem.is_free else [untouched(K, scale)]
    best: Any = None
    for balance in candidates:
        write_feasible(problem.costs, A, balance, scratch)
        W = combination(problem, scratch)
        totals = np.zeros((2, K))
        add_gains(problem.costs, scratch, totals)
        beta = problem.bias_scale * totals[1] / (problem.lam * problem.S)
        if len(candidates) == 1:
            return W, beta, balance
        dual = totals[0] / problem.S - 0.5 * problem.lam * square_norms(problem.rows, W)
        if best is None:
            best = dual, W, beta, balance
            continue
        better = dual > best[0]
        for new, old in zip((W, *balance[1:]), (best[1], *best[3][1:]), strict=True):
            np.copyto(old, new, where=better)
    return best[1], best[2], best[3]


@compiled
def write_feasible(costs, A, balance, out):  # type: ignore[no-untyped-def]
    """Write the feasible dual numbers that `balance` makes of A into `out`."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i, k] = feasible(costs, A, i, k, balance)


@compiled
def add_gains(costs, A, sums):  # type: ignore[no-untyped-def]
    """Add sum_i s_i gain(a_i) and sum_i s_i a_i to the rows of `sums`, for feasible A."""
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            sums[0, k] += s * gain(costs.loss, A[i, k], costs.Y[i, k])
            sums[1, k] += s * A[i, k]


@compiled
def add_terms(costs, A, Z, balance, b, sums):  # type: ignore[no-untyped-def]
    """Add the sums of s_i value, s_i gain and s_i gap_term to the rows of `sums`."""
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            y, z = costs.Y[i, k], Z[i, k] + b[k]
            a = feasible(costs, A, i, k, balance)
            sums[0, k] += s * value(costs.loss, z, y)
            sums[1, k] += s * gain(costs.loss, a, y)
            sums[2, k] += s * gap_term(costs.loss, z, a, y)


@compiled
def write_negative_slopes(costs, Z, b, A):  # type: ignore[no-untyped-def]
    """Write -slope at the scores Z + b into A."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            A[i, k] = -slope(costs.loss, Z[i, k] + b[k], costs.Y[i, k])
