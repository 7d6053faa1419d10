"""Where the free biases of a joint optimum lie, by pairs of classes.

For a dual point a that allows for free biases, and any optimum (W*, b*) with scores f*_i,

    1/S sum_i s_i gap_term(f*_i, a_i)  <=  P* - D(a)  <=  G,     the gap of the models with a.

With W* within r of W, the lead f*_iq - f*_ik is t_i + delta up to rho_i = sqrt(2) r ||x_i - m||,
where t_i = <w_q - w_k, x_i>, and delta the difference of b* + <w* - w, m> of both classes. Leaving
out the other classes makes gap terms no larger:

    hinge      gap_term  >=  p_ik (cost_iq - cost_ik + t_i - rho_i + delta)_+
    softmax    gap_term  >=  (p_iq + p_ik) KL(pi_i, sigmoid(v_i)),      pi_i = p_iq / (p_iq + p_ik)
                             v_i = max(logit pi_i, t_i - rho_i + delta)

Leaving out rows makes the sum smaller, too: a pair of classes asks the rows of these two, whose
p they share. The sum over the rows is convex and does not fall in delta; where it exceeds S G is a
bound on delta from above, found from the right by Newton steps, each of which is a bound. What
holds for two steps from class to class holds for their sum: the bounds are the shortest paths.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.gap import Point
from pegasos.certificate.judge import Judge
from pegasos.certificate.leads import ROOT_OF_TWO, Pairs, unknown_biases
from pegasos.certificate.optimal_bias import scores_of_weights
from pegasos.certificate.terms import EPS
from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled
from pegasos.parallel import each
from pegasos.problem.bias import write_feasible_row
from pegasos.problem.geometry import geometry, square_norm_of
from pegasos.problem.joint_losses import JointHinge, Softmax, own_class, probability
from pegasos.problem.losses import sigmoid, softplus
from pegasos.problem.objective import Problem, weight

MOST_WORK = 1e8  # rows that all pairs ask, and steps over classes: beyond, nothing is said
TURNS = 60  # Newton steps, at most; as many doublings before
REACH = 1e100  # no bias is looked for beyond
NEAR = 0.01  # of a bound's distance from the bias at hand: a step that gains less is the last


class Rows(NamedTuple):
    """What is known of rows: scores Z (n, K), p (n, K), the reach of their leads rho (n, 1)."""

    Z: FloatArray
    P: FloatArray
    rho: FloatArray


class LocatedPairs(NamedTuple):
    """A point m, its square norm, and what is known of the biases there."""

    origin: FloatArray
    square: float
    pairs: Pairs


def locate_pairs(problem: Problem, judge: Judge, radius: float) -> LocatedPairs:
    """Return a point, and bounds on differences of biases there, for W* within `radius` of W."""
    space, (n, K) = geometry(problem.rows), problem.costs.Y.shape
    m = space.typical_point(judge.W)
    square = square_norm_of(space, m)
    pairs = unknown_biases(judge.b)
    if judge.point is not None and 2 * n * K + K**3 <= MOST_WORK:
        rho = np.zeros((n, 1))
        space.push_scores(m, square, np.array([ROOT_OF_TWO * radius]), rho)
        rows = Rows(scores_of_weights(problem, judge), probabilities(problem, judge.point), rho)
        pairs = pairs._replace(above=shortest(bounds(problem, judge, rows)))
    return LocatedPairs(m, square, pairs)


def bounds(problem: Problem, judge: Judge, rows: Rows) -> FloatArray:
    """Return upper bounds (K, K) on differences of biases, each pair by itself."""
    n, K = rows.Z.shape
    gap = max(0.0, float(judge.primal[0] - judge.latest.dual[0])) + 16.0 * EPS * judge.primal[0]
    gap += 400.0 * K * EPS * (1.0 + float(np.abs(rows.Z).max()))  # what p may be off by
    limit = problem.S * gap * (1.0 + (n + 64) * EPS)
    above = np.zeros((K, K))
    if np.isfinite(limit):
        classes = problem.costs.Y.argmax(axis=1)
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(K + 1))
        by_class = order, starts
        each(
            lambda k: write_bounds(problem.costs, rows, by_class, k, limit, judge.b, above),
            range(K),
        )
        return above + 64.0 * EPS * np.abs(above)
    return unknown_biases(judge.b).above


def shortest(above: FloatArray) -> FloatArray:
    """Return the bounds that follow over other classes: delta_qk <= delta_qj + delta_jk."""
    above = above.copy()
    for j in range(len(above)):
        through = above[:, j, None] + above[j]
        np.minimum(above, through + 4.0 * EPS * np.abs(through), out=above)
    np.fill_diagonal(above, 0.0)
    return above


def probabilities(problem: Problem, point: Point) -> FloatArray:
    """Return p (n, K) of a dual point."""
    P = np.empty(problem.costs.Y.shape)
    write_probabilities(problem.costs, point.A, point.balance, P)
    return P


@compiled
def write_probabilities(costs, A, balance, P):  # type: ignore[no-untyped-def]
    """Write the p of feasible dual numbers into P."""
    a = np.empty(A.shape[1])
    for i in range(A.shape[0]):
        y = own_class(costs.Y, i)
        write_feasible_row(costs.loss, costs, A, i, balance, a)
        for k in range(len(a)):
            P[i, k] = probability(a, y, k)


@compiled
def write_bounds(costs, rows, by_class, k, limit, b, above):  # type: ignore[no-untyped-def]
    """Write the largest possible b*_q - b*_k of every class q into above[q, k].

    `by_class` are the rows class by class, and where each class begins.
    """
    n, K = rows.Z.shape
    order, starts = by_class
    some = np.empty(n, dtype=np.int64)
    for q in range(K):
        if q == k:
            continue
        count = 0
        for y in (q, k):
            for i in order[starts[y] : starts[y + 1]]:
                if rows.P[i, k] > 0.0 and weight(costs.weights, i) > 0.0:
                    some[count] = i
                    count += 1
        above[q, k] = bound(costs, rows, some[:count], (q, k), limit, b[q] - b[k])


@compiled
def bound(costs, rows, some, pair, limit, start):  # type: ignore[no-untyped-def]
    """Return where the sum over rows exceeds the limit, or a little beyond; infinity if nowhere."""
    delta = start
    step = min(1.0, max(rows.rho.mean(), 1e-9 * (1.0 + abs(start))))  # about as far as it is
    height, slope = total(costs, rows, some, pair, delta)
    while height < limit:
        delta, step = delta + step, 2.0 * step
        if step > REACH:
            return math.inf
        height, slope = total(costs, rows, some, pair, delta)
    for _ in range(TURNS):  # convex: from the right, Newton steps stay there
        following = delta - (height - limit) / slope if slope > 0.0 else delta
        if not following < delta - NEAR * abs(delta - start):
            break
        height_there, slope_there = total(costs, rows, some, pair, following)
        if height_there < limit:  # rounding
            break
        delta, height, slope = following, height_there, slope_there
    return delta


@compiled
def total(costs, rows, some, pair, delta):  # type: ignore[no-untyped-def]
    """Return the sum over rows and its slope in delta."""
    height, slope = 0.0, 0.0
    for i in some:
        h, g = share(costs.loss, costs, rows, i, pair, delta)
        s = weight(costs.weights, i)
        height += s * h
        slope += s * g
    return height, slope


@by_tag
def share(loss: Any, costs: Any, rows: Any, i: int, pair: Any, delta: float) -> Any:
    """Return a lower bound on the gap term of row i by two classes, and its slope in delta."""


@share.register(JointHinge)
def _(loss, costs, rows, i, pair, delta):  # type: ignore[no-untyped-def]
    (q, k), y = pair, own_class(costs.Y, i)
    z, rest = rows.Z[i, q] - rows.Z[i, k], loss.cost[y, q] - loss.cost[y, k]
    lead = rest + z - rows.rho[i, 0] + delta
    lead -= 8.0 * EPS * (abs(rows.Z[i, q]) + abs(rows.Z[i, k]) + abs(rest) + abs(delta))
    p = rows.P[i, k]
    return (p * lead, p) if lead > 0.0 else (0.0, 0.0)


@share.register(Softmax)
def _(loss, costs, rows, i, pair, delta):  # type: ignore[no-untyped-def]
    q, k = pair
    both = rows.P[i, q] + rows.P[i, k]
    v = (rows.Z[i, q] - rows.Z[i, k]) - rows.rho[i, 0] + delta
    v -= 8.0 * EPS * (abs(rows.Z[i, q]) + abs(rows.Z[i, k]) + abs(delta))
    b = rows.P[i, q] / both
    if sigmoid(v) <= b:
        return 0.0, 0.0
    # KL(b, sigmoid(v)), as for the logistic loss
    height = b * softplus(-v) + (1.0 - b) * softplus(v)
    if b > 0.0:
        height += b * math.log(b)
    if b < 1.0:
        height += (1.0 - b) * math.log1p(-b)
    return both * max(0.0, height - 64.0 * EPS * (1.0 + abs(v))), both * (sigmoid(v) - b)
