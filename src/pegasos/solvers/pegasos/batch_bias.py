"""Mini-batch Pegasos whose bias minimises the loss of each batch: a weighted median.

Minimises   P(w) = lam/2 ||w||^2 + min_b 1/S sum_i s_i loss(<w, x_i> + b, y_i)

and replaces the inner minimum by that over the batch A_t ([SSSC11] eq. 24). As the paper suspects,
that is not what its expectation is over batches: the method reaches the optimum only for k = n, and
stalls the further above it the smaller k. Offered for completeness; `primal.bias` has better ways.

The losses are piecewise linear with slopes -1, 0 and 1: a row's slope rises by 1 where its score
passes `first_kink` (from -1) and `second_kink` (to 1). So sum_A s_i slope_i rises with b by s_i at
every b = kink - z_i, and the best b is where it passes 0. Rows exactly at their kink there take on
a fraction, so that sum_A s_i a_i = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, scores
from pegasos.dispatch import by_tag, inlined, kernel
from pegasos.problem.losses import EpsilonInsensitive, Hinge
from pegasos.problem.objective import weight
from pegasos.solvers.primal.scaled_weights import add_row, batch_weight, project, remember, tick

PIECEWISE_LINEAR = (Hinge, EpsilonInsensitive)


@by_tag
def first_kink(loss: Any, y: float) -> float:  # type: ignore[empty-body]
    """Return the score where the slope rises from -1 to 0; -inf if there is none."""


@by_tag
def second_kink(loss: Any, y: float) -> float:  # type: ignore[empty-body]
    """Return the score where the slope rises from 0 to 1; inf if there is none."""


@first_kink.register(Hinge)
def _(loss, y):  # type: ignore[no-untyped-def]
    return 1.0 if y > 0.0 else -np.inf


@second_kink.register(Hinge)
def _(loss, y):  # type: ignore[no-untyped-def]
    return np.inf if y > 0.0 else -1.0


@first_kink.register(EpsilonInsensitive)
def _(loss, y):  # type: ignore[no-untyped-def]
    return y - loss.epsilon


@second_kink.register(EpsilonInsensitive)
def _(loss, y):  # type: ignore[no-untyped-def]
    return y + loss.epsilon


class Kinks(NamedTuple):
    """Room for the biases at which rows of a batch pass a kink, and the weights of those rows."""

    places: FloatArray
    weights: FloatArray


@kernel
def median_pass(problem, order, k, run, kinks):  # type: ignore[no-untyped-def]
    """Take one step per k rows of `order`, each at the best bias of its batch."""
    for first in range(0, len(order), k):                      # [SSSC11] Fig. 2: choose A_t
        stop = min(first + k, len(order))
        s = batch_weight(problem.costs.weights, order, first, stop)
        if s == 0.0:
            continue
        step = tick(run.scaling, problem.lam, s)                # eta_t = 1 / (lam t)
        if len(run.R) > 0:
            remember(step, run)
        write_scores(problem, order, first, stop, step, run)
        for m in range(len(run.scratch.z)):                    # eq. (24): b, then a sub-gradient
            b = best_of_batch(problem, order, first, stop, m, run, kinks)
            write_balanced_slopes(problem, order, first, stop, m, run, b)
            run.bias.offset[m] = b
        for t in range(first, stop):                           # w <- (1 - eta lam) w
            add_row(problem, order[t], t - first, step, run)   #      + eta/k sum_A a_i x_i
        if run.scaling.radius[0] < np.inf:
            if project(problem.costs.loss, step, run.scaling):  # optional: w <- min(1, R/||w||) w
                return stop
    return len(order)


@inlined
def write_scores(problem, order, first, stop, step, run):  # type: ignore[no-untyped-def]
    """Write <w, x_i> of the batch order[first:stop] into scratch.A."""
    A, z, _ = run.scratch
    for t in range(first, stop):
        scores(problem.rows, order[t], run.V, z)
        for m in range(len(z)):
            A[t - first, m] = step.before * run.scaling.c[m] * z[m]


@inlined
def best_of_batch(problem, order, first, stop, m, run, kinks):  # type: ignore[no-untyped-def]
    """Return the bias at which sum_A s_i slope_i of model m, scores in scratch.A, passes 0."""
    loss, Y, weights = problem.costs
    count, depth = 0, 0.0  # the sum rises from -depth
    for t in range(first, stop):
        z, y, s = run.scratch.A[t - first, m], Y[order[t], m], weight(weights, order[t])
        if first_kink(loss, y) > -np.inf:
            kinks.places[count], kinks.weights[count] = first_kink(loss, y) - z, s
            count, depth = count + 1, depth + s
        if second_kink(loss, y) < np.inf:
            kinks.places[count], kinks.weights[count] = second_kink(loss, y) - z, s
            count += 1
    return weighted_quantile(kinks, count, depth)


@inlined
def write_balanced_slopes(problem, order, first, stop, m, run, b):  # type: ignore[no-untyped-def]
    """Turn the scores in scratch.A into dual numbers at bias b whose weighted sum is 0."""
    loss, Y, weights = problem.costs
    A = run.scratch.A
    total, may_rise, may_fall = 0.0, 0.0, 0.0  # rows at a kink may take on part of a slope
    for t in range(first, stop):
        z, y, s = A[t - first, m], Y[order[t], m], weight(weights, order[t])
        low, high = first_kink(loss, y) - z, second_kink(loss, y) - z
        total += s if b < low else (-s if b > high else 0.0)
        may_rise += s if b == low else 0.0
        may_fall += s if b == high else 0.0
    rise = min(1.0, -total / may_rise) if total < 0.0 and may_rise > 0.0 else 0.0
    fall = min(1.0, total / may_fall) if total > 0.0 and may_fall > 0.0 else 0.0
    for t in range(first, stop):
        z, y = A[t - first, m], Y[order[t], m]
        low, high = first_kink(loss, y) - z, second_kink(loss, y) - z
        a = 1.0 if b < low else (-1.0 if b > high else 0.0)
        part = (rise if b == low else 0.0) - (fall if b == high else 0.0)  # both at epsilon = 0
        A[t - first, m] = part if low <= b <= high else a


@inlined
def weighted_quantile(kinks, count, target):  # type: ignore[no-untyped-def]
    """Return the first place up to which the weights reach `target`, in O(count); permutes."""
    places, weights = kinks
    low, high, before = 0, count, 0.0  # the answer is in places[low:high]; `before` lies left of it
    while True:
        pivot, left, t, right = places[(low + high) // 2], low, low, high
        less, equal = 0.0, 0.0
        while t < right:  # three-way partition around the pivot
            place, s = places[t], weights[t]
            if place < pivot:
                less += s
                places[left], places[t] = place, places[left]
                weights[left], weights[t] = s, weights[left]
                left, t = left + 1, t + 1
            elif place > pivot:
                right -= 1
                places[right], places[t] = place, places[right]
                weights[right], weights[t] = s, weights[right]
            else:
                equal += s
                t += 1
        if before + less >= target and left > low:
            high = left
        elif before + less + equal >= target or right == high:
            return pivot
        else:
            low, before = right, before + less + equal
