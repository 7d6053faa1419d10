"""Scaled weights: those of a primal method, kept so that a step costs O(nonzeros of a row).

    w = a v,   a = c / (lam N),   v = sum over steps and rows of s_i a_i x_i / c

N is the weight of all rows presented so far: time is weight, so that a row of weight 2 is a row
presented twice and a short last batch counts for what it is. Shrinking w is N growing, and nothing
is lost by it: the first step wipes w, and no scale underflows. Only projections shrink for good;
c is their product, folded into v (and into the sums of dual numbers) before it gets too small.

[SSSC11] Sec. 2.4 keeps (v, a, ||w||) in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, add, scores, square_norm
from pegasos.dispatch import by_tag, compiled, inlined
from pegasos.problem.joint_losses import (
    for_joint_losses,
    joint_value,
    own_class,
    summed,
    write_joint_slope,
)
from pegasos.problem.losses import descend, lower, upper, value
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.primal.bias import PrimalBias
from pegasos.solvers.primal.tail_average import Sums, add_dual, count_visit

SMALL = 1e-60  # of c: below, it is folded into v


class Scaling(NamedTuple):
    """Where a run stands, one entry per model (N is shared)."""

    N: FloatArray  # shape (1,)
    c: FloatArray  # product of projection factors since the last fold
    square: FloatArray  # ||v||^2, constant feature included; kept up to date if there is a radius
    radius: FloatArray  # of the ball that holds the optimum; infinite: no projection
    passed: FloatArray  # sum of s(A) a over the steps since the last fold, for the average
    biases: FloatArray  # sum of s(A) b over all steps


class Scratch(NamedTuple):
    """Room for one step: dual numbers of a batch (k, K), scores and coefficients of a row (K,)."""

    A: FloatArray
    z: FloatArray
    coefficients: FloatArray


class PrimalRun(NamedTuple):
    """All that steps change. V is (d,) or (d, K); R, the average's remainder, likewise or empty."""

    scaling: Scaling
    V: FloatArray
    R: FloatArray
    sums: Sums
    bias: PrimalBias
    scratch: Scratch


class Step(NamedTuple):
    """Numbers of one step: weight s(A) of the batch, 1/(lam N) before and after, their ratio."""

    s: float
    before: float
    eta: float
    shrink: float


def new_scaling(K: int) -> Scaling:
    """Return the start of K runs at w = 0, without projection."""
    return Scaling(
        N=np.zeros(1),
        c=np.ones(K),
        square=np.zeros(K),
        radius=np.full(K, np.inf),
        passed=np.zeros(K),
        biases=np.zeros(K),
    )


def radius(problem: Problem, offset: FloatArray) -> FloatArray:
    """Return sqrt(P(0)/lam): no optimum is longer, whatever the (non-negative) loss.

    [SSSC11] Sec. 2.2 has 1/sqrt(lam), which is right for the hinge alone.
    """
    totals = np.zeros(len(offset))
    add_losses_at(problem.costs, offset, totals)
    return np.sqrt(summed(problem.costs.loss, totals) / (problem.S * problem.lam))


def factor(problem: Problem, scaling: Scaling) -> FloatArray:
    """Return a = c / (lam N) of w = a v, per model; 0 before the first step."""
    N = scaling.N[0]
    return scaling.c / (problem.lam * N) if N > 0.0 else np.zeros_like(scaling.c)


def present_bias(problem: Problem, scaling: Scaling, bias: PrimalBias) -> FloatArray:
    """Return the present bias of every model."""
    return bias.offset + bias.scale**2 * factor(problem, scaling) * bias.total


def fold(
    scaling: Scaling, V: FloatArray, R: FloatArray, sums: Sums, bias: PrimalBias, v: FloatArray
) -> None:
    """Put c into v and the sums of dual numbers; bring the average's remainder up to date.

    `v` is the part of V that is weights of features.
    """
    if len(R) > 0:
        R -= scaling.passed * V
        scaling.passed[:] = 0.0
    if (scaling.c < 1.0).any():
        for array in (V, sums.older, sums.newer, bias.total):
            array *= scaling.c
        scaling.c[:] = 1.0
    if scaling.radius[0] < np.inf:
        scaling.square[:] = [column @ column for column in v.T]
        scaling.square[:] += (bias.scale * bias.total) ** 2


@inlined
def tick(scaling, lam, s):  # type: ignore[no-untyped-def]
    """Let the time grow by the weight s of a batch; return the numbers of its step."""
    N = scaling.N[0]
    scaling.N[0] = N + s
    if N == 0.0:
        return Step(s, 0.0, 1.0 / (lam * s), 0.0)
    before, shrink = 1.0 / (lam * N), N / (N + s)
    return Step(s, before, before * shrink, shrink)


@inlined
def batch_weight(weights, order, first, stop):  # type: ignore[no-untyped-def]
    """Return s(A) of the rows order[first:stop]."""
    total = 0.0
    for t in range(first, stop):
        total += weight(weights, order[t])
    return total


@inlined
def remember(step, run):  # type: ignore[no-untyped-def]
    """Count the weights before a step into the average, in O(1).

    With G_t the sum of the factors a up to step t, sum_t a_t v_t = G_T v_T - r, where r gains
    G_t (v_t - v_{t-1}) at step t.
    """
    scaling, bias = run.scaling, run.bias
    for m in range(len(scaling.c)):
        a = step.before * scaling.c[m]
        scaling.passed[m] += step.s * a
        b = bias.offset[m] + bias.scale**2 * a * bias.total[m]
        scaling.biases[m] += step.s * b


@inlined
def write_slopes(problem, i, j, step, run):  # type: ignore[no-untyped-def]
    """Write the dual numbers that a step takes on row i, -slope at its scores, to scratch.A[j]."""
    scores(problem.rows, i, run.V, run.scratch.z)
    descend_row(problem.costs.loss, problem, i, j, step, run)


@by_tag
def descend_row(loss: Any, problem: Any, i: int, j: int, step: Any, run: Any) -> None:
    """Write what `write_slopes` does, with the products of row i and V in scratch.z."""


@descend_row.otherwise
def _(loss, problem, i, j, step, run):  # type: ignore[no-untyped-def]
    _, Y, _ = problem.costs
    scaling, bias, (A, z, _) = run.scaling, run.bias, run.scratch
    square_scale, q = bias.scale**2, 0.0
    if max(upper(loss, 1.0), -lower(loss, 1.0), upper(loss, -1.0), -lower(loss, -1.0)) > 1.0:
        # A steep loss: an implicit step. Of a batch, every row answers for all of it: by its own
        # weight alone, similar rows would overshoot as many times as they are, and diverge.
        q = step.s * step.eta * (square_norm(problem.rows, i) + square_scale)
    for m in range(len(z)):
        own = step.before * scaling.c[m] * (z[m] + square_scale * bias.total[m])
        shrunk = step.shrink * own + bias.offset[m]
        A[j, m] = descend(loss, own + bias.offset[m], shrunk, q, Y[i, m])


@for_joint_losses(descend_row)
def _(loss, problem, i, j, step, run):  # type: ignore[no-untyped-def]
    scaling, bias, (A, z, _) = run.scaling, run.bias, run.scratch
    for m in range(len(z)):
        own = step.before * scaling.c[m] * (z[m] + bias.scale**2 * bias.total[m])
        z[m] = own + bias.offset[m]
    write_joint_slope(loss, z, own_class(problem.costs.Y, i), A[j])


@inlined
def add_row(problem, i, j, step, run):  # type: ignore[no-untyped-def]
    """Add s_i a_i x_i, with a_i in scratch.A[j], to v; follow with everything that depends on v."""
    scaling, V, R, sums, bias, scratch = run
    A, z, coefficients = scratch
    s, some, square_scale = weight(problem.costs.weights, i), False, bias.scale**2
    count_visit(sums, i)
    for m in range(len(z)):
        a, coefficients[m] = A[j, m], 0.0
        if a != 0.0:
            some, coefficients[m] = True, s * a / scaling.c[m]
            add_dual(sums, i, m, a / scaling.c[m])
            if bias.rate > 0.0:
                bias.offset[m] += bias.rate * s * a / np.sqrt(step.s * scaling.N[0])
    if not some:
        return
    if scaling.radius[0] < np.inf:
        scores(problem.rows, i, V, z)
        square = square_norm(problem.rows, i) + square_scale
        for m in range(len(z)):
            product = z[m] + square_scale * bias.total[m]
            scaling.square[m] += coefficients[m] * (2.0 * product + coefficients[m] * square)
    add(problem.rows, i, coefficients, V)
    for m in range(len(z)):
        bias.total[m] += coefficients[m]
        coefficients[m] *= scaling.passed[m]
    if len(R) > 0:
        add(problem.rows, i, coefficients, R)


@by_tag
def project(loss: Any, step: Any, scaling: Any) -> Any:
    """Shrink w onto its ball; say whether c needs folding."""


@for_joint_losses(project)
def _(loss, step, scaling):  # type: ignore[no-untyped-def]
    square = 0.0
    for m in range(len(scaling.c)):
        square += scaling.square[m]
    length = step.eta * scaling.c[0] * np.sqrt(square)
    if length > scaling.radius[0]:
        for m in range(len(scaling.c)):  # one model: one factor
            scaling.c[m] *= scaling.radius[0] / length
    return scaling.c[0] < SMALL


@project.otherwise
def _(loss, step, scaling):  # type: ignore[no-untyped-def]
    is_small = False
    for m in range(len(scaling.c)):
        length = step.eta * scaling.c[m] * np.sqrt(scaling.square[m])
        if length > scaling.radius[m]:
            scaling.c[m] *= scaling.radius[m] / length
            is_small |= scaling.c[m] < SMALL
    return is_small


@compiled
def add_losses_at(costs, b, totals):  # type: ignore[no-untyped-def]
    """Add sum_i s_i loss(b_k, y_ik) to totals[k]: the loss of w = 0."""
    for i in range(costs.Y.shape[0]):
        add_row_losses(costs.loss, costs, i, b, totals)


@by_tag
def add_row_losses(loss: Any, costs: Any, i: int, b: Any, totals: Any) -> None:
    """Add what row i has of these sums; of a joint loss, to the first."""


@add_row_losses.otherwise
def _(loss, costs, i, b, totals):  # type: ignore[no-untyped-def]
    s = weight(costs.weights, i)
    for k in range(costs.Y.shape[1]):
        totals[k] += s * value(loss, b[k], costs.Y[i, k])


@for_joint_losses(add_row_losses)
def _(loss, costs, i, b, totals):  # type: ignore[no-untyped-def]
    totals[0] += weight(costs.weights, i) * joint_value(loss, b, own_class(costs.Y, i))
