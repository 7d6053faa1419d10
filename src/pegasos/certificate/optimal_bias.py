"""Where the free bias of the optimum lies: intervals that hold b* + <w*, m>, for some point m.

From the dual point a. Let c_i >= 0 be such that a + c and a - c are in the box, tau = 1/S sum_i
s_i c_i, and m = lam w(c) / tau. Weak duality at a + t c, which need not balance, says

    b* + <w*, m>  >=  (1/S sum_i s_i (gain(a_i + t c_i) - gain(a_i)) - (P* - D(a))) / (t tau)

and a - t c bounds it from above (docs/mathematics.md, section 10). With c_i the room that a_i has,
m is a mean of support vectors at the margin. Losses with kinks have a straight gain there and t = 1
is best: the interval is as narrow as the gap, where a ball knows no more than its square root.
Others bend: t balances that against the gap.

From the scores. With w* in a ball around w, scores lie between those pushed up and pushed down
as far as it allows; the minimisers of the mean loss over b at these are the ends. It is used too
where the first interval is wide: the duals have hardly any room, as with one class only.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.gap import Point
from pegasos.certificate.judge import Judge
from pegasos.certificate.terms import EPS, spans_of
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, reordering_sums
from pegasos.kernel_matrix.geometry import few_at_hand
from pegasos.parallel import each
from pegasos.problem.bias import feasible, slopes_bracket
from pegasos.problem.geometry import geometry, products, square_norm_of
from pegasos.problem.losses import gain, lower, upper
from pegasos.problem.objective import Costs, Problem, weight_of

INSIDE = 0.99  # of the room of a dual number: what is used of it
NARROW = 0.05  # of the spread of the targets: intervals that need no other
COARSE = 0.01  # of the gap: how exactly the ends of an interval are found, from outside
UP, DOWN, TOTAL, SIZE = range(4)  # rows of sums


class Located(NamedTuple):
    """A point m, its square norm, and intervals (K,) that hold b* + <w* - w, m>.

    Where every model has rows of its own it has a point of its own: (n, K), with K square norms.
    """

    origin: FloatArray
    square: Any
    low: FloatArray
    high: FloatArray


def locate_bias(problem: Problem, judge: Judge, radius: FloatArray, norm: FloatArray) -> Located:
    """Return a point and what is known of the bias there, for w* within `radius` of w.

    `norm` (K,) bounds ||w|| from above.
    """
    found = None
    if judge.point is not None:
        found = from_dual(problem, judge, judge.point, radius, norm)
        if np.all(found.high - found.low <= NARROW * np.ptp(problem.costs.Y, axis=0)):
            return found
    if found is None or not np.isfinite(found.low).any():
        space, unknown = geometry(problem.rows), np.full_like(radius, np.inf)
        origin = space.typical_point(judge.W)
        found = Located(origin, square_norm_of(space, origin), -unknown, unknown)
    low, high = from_scores(problem, judge, radius, found.origin, found.square)
    return found._replace(low=np.fmax(low, found.low), high=np.fmin(high, found.high))


# ---- from the dual point


def from_dual(
    problem: Problem, judge: Judge, point: Point, radius: FloatArray, norm: FloatArray
) -> Located:
    """Return the mean of the models' points m_k, and intervals for the bias there.

    As far as m_k is from that mean, w* within its ball makes intervals wider.
    """
    space, C = geometry(problem.rows), room_of(problem, judge, point)
    low, high, tau = dual_interval(problem, judge, point, C)
    M = space.combination(problem, C)
    M *= np.divide(problem.lam, tau, out=np.zeros_like(tau), where=tau > 0.0)
    Z = errors = None
    if space.is_expansion:
        Z = scores_of_weights(problem, judge)
        errors = room_of_scores(problem, judge, Z)
    error = space.product_error(M, errors, judge.means.extent, norm + radius)
    is_known = tau > 0.0
    origin = space.point_among(M, is_known)
    room = error + radius * space.distances_to(origin, M)
    middle = np.einsum("jk,jk->k", M, space.functional(judge.W, Z))
    square = square_norm_of(space, origin)
    return Located(origin, square, low - middle - room, high - middle + room)


def room_of(problem: Problem, judge: Judge, point: Point) -> FloatArray:
    """Return c (n, K), at 0 for all but some rows of a kernel matrix: m shall be cheap to use."""
    if not geometry(problem.rows).is_expansion:
        judge.has_scores = False
        write_room_of_duals(problem.costs, *point, judge.scratch)
        return judge.scratch
    C = np.zeros_like(judge.scratch)
    write_room_of_duals(problem.costs, *point, C)
    others = np.ones(len(C), dtype=np.bool_)
    others[few_at_hand(problem.rows, C)] = False
    C[others] = 0.0
    return C


def dual_interval(
    problem: Problem, judge: Judge, point: Point, C: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ends of the intervals for b* + <w*, m>, and tau."""
    n, K = C.shape
    gap = np.maximum(0.0, judge.primal - judge.latest.dual) + 16.0 * EPS * np.abs(judge.primal)
    low, high, t = np.full(K, -np.inf), np.full(K, np.inf), np.ones(K)
    for _ in range(2):
        sums = sums_of_changes(problem.costs, point, C, t) / problem.S
        room, tau = gap + (n + 16) * EPS * sums[SIZE], t * sums[TOTAL]
        with np.errstate(divide="ignore", invalid="ignore"):  # no room anywhere: nothing is known
            low = np.fmax(low, (sums[UP] - room) / tau)
            high = np.fmin(high, (sums[DOWN] + room) / tau)
            bends = np.maximum(0.0, sums[DOWN] - sums[UP])
            t, last = np.fmin(1.0, t * np.sqrt(2.0 * gap / bends)), t
        if np.array_equal(t, last):  # gains are straight
            break
    is_known = np.isfinite(low) & np.isfinite(high) & (sums[TOTAL] > 0.0)
    low, high = np.where(is_known, low, -np.inf), np.where(is_known, high, np.inf)
    return low, high, np.where(is_known, sums[TOTAL], 0.0)


@compiled
def write_room_of_duals(costs, A, balance, out):  # type: ignore[no-untyped-def]
    """Write how far dual numbers may move either way, not beyond 0, where gains may kink."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            y, a = costs.Y[i, k], feasible(costs, A, i, k, balance)
            room = min(upper(costs.loss, y) - a, a - lower(costs.loss, y))
            out[i, k] = INSIDE * max(0.0, min(abs(a), room))


def sums_of_changes(costs: Costs, point: Point, C: FloatArray, t: FloatArray) -> FloatArray:
    """Return the sums of `add_changes`, (4, K), rows split among threads in a fixed way."""
    spans = spans_of(*C.shape)
    sums = np.zeros((len(spans), 4, C.shape[1]))
    each(lambda p: add_changes(costs, *point, C, t, spans[p], sums[p]), range(len(spans)))
    return np.asarray(sums.sum(axis=0))


@compiled
def add_changes(costs, A, balance, C, t, span, sums):  # type: ignore[no-untyped-def]
    """Add up what moving the dual numbers by t[k] C[i, k] up, and down, changes of the gains."""
    for k in range(A.shape[1]):
        up, down, total, size = changes_of(costs, A, balance, C, t[k], k, span)
        sums[UP, k] += up
        sums[DOWN, k] += down
        sums[TOTAL, k] += total
        sums[SIZE, k] += size


@reordering_sums
def changes_of(costs, A, balance, C, t, k, span):  # type: ignore[no-untyped-def]
    """Return these sums of a model, many rows at a time: those with no room count for nothing."""
    up, down, total, size = 0.0, 0.0, 0.0, 0.0
    for i in range(span[0], span[1]):
        y, a, c = costs.Y[i, k], feasible(costs, A, i, k, balance), C[i, k]
        s = weight_of(costs.weights, i, k) if c > 0.0 else 0.0
        here = gain(costs.loss, a, y)
        above, below = gain(costs.loss, a + t * c, y), gain(costs.loss, a - t * c, y)
        up += s * (above - here)
        down += s * (here - below)
        total += s * c
        size += s * (abs(here) + abs(above) + abs(below) + abs(a) + abs(a * y))
    return up, down, total, size


# ---- from the scores


def from_scores(
    problem: Problem, judge: Judge, radius: FloatArray, origin: FloatArray, square: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the intervals for b* + <w* - w, m> that the ball allows."""
    space, Z = geometry(problem.rows), scores_of_weights(problem, judge)
    room = room_of_scores(problem, judge, Z)
    judge.has_scores = False  # they are about to be written over
    shift = products(origin, space.functional(judge.W, Z))
    Z -= shift
    ends = np.empty((2, Z.shape[1]))

    def find(side: int, k: int) -> None:
        floor = (1.0 - 2.0 * side) * 1e-12 * problem.S
        start, area = float(judge.b[k] + shift[k]), COARSE * float(judge.gap[k]) * problem.S
        end = slopes_bracket(problem, Z, k, floor, start, area)[side]
        if end == (np.inf, -np.inf)[side]:  # beyond what was looked at: nothing is known
            end = -end
        ends[side, k] = end - shift[k]

    for side, push in ((0, 1.0), (1, -2.0)):  # pushed up, then pushed down
        space.push_scores(origin, square, push * radius, Z)
        np.add(Z, push * room, out=Z)
        each(partial(find, side), range(Z.shape[1]))
    low, high = ends
    unit = 16.0 * EPS * np.abs(shift)
    return low - unit, high + unit


def room_of_scores(problem: Problem, judge: Judge, Z: FloatArray) -> FloatArray:
    """Bound the errors of the models' scores, those that were audited included."""
    room = geometry(problem.rows).score_errors(judge.W, Z)
    return np.maximum(room, judge.latest.scored.radius) if judge.has_scores else room


def scores_of_weights(problem: Problem, judge: Judge) -> FloatArray:
    """Return the scores (n, K) of the judged weights, in the judge's scratch."""
    if not judge.has_scores:
        geometry(problem.rows).write_scores(judge.W, judge.scratch)
        judge.has_scores = True
    return judge.scratch
