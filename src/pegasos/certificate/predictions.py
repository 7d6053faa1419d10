"""Certified predictions: where the optimum's decision values must lie.

Strong convexity gives  ||w - w*||^2 + ||w(a) - w*||^2 <= 2 gap / lam,  so w* is in the ball around
c = (w + w(a))/2 with  r^2 = gap/lam - ||w - w(a)||^2 / 4. Hence

    none, regularised bias    f*(x) in <c, x> + b_c          +- r sqrt(||x||^2 + bias_scale^2)
    free bias                 f*(x) in <c, x - m> + [lo, hi]  +- r ||x - m||

where m is the mean row and [lo, hi] holds b* + <w*, m>: the ends are the minimisers over b of the
mean loss at the scores pushed up, and pushed down, as far as the ball allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pegasos.certificate.judge import Judge
from pegasos.data.rows import FloatArray, Rows, all_scores, shape, square_norms
from pegasos.problem.bias import crossing, slope_sum
from pegasos.problem.objective import Problem, blocks, combination, flat

ROUNDING = 16 * np.finfo(np.float64).eps  # of the objective: what a gap of 0 may hide


@dataclass(frozen=True)
class Ball:
    """What is known about the optimum of each of K models.

    `centre` (d, K), `radius` (K,); the bias lies in [low, high] (K,) relative to `origin` (d,), the
    mean row of a fit with a free bias (None otherwise). Infinite where no bound holds.
    """

    centre: FloatArray
    radius: FloatArray
    low: FloatArray
    high: FloatArray
    bias_scale: float
    origin: FloatArray | None

    def bounds(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds, shape (n, K), on the optimum's decision values."""
        scores = _scores(rows, self.centre)
        reach = _distances(rows, self.origin, self.bias_scale)[:, None] * self.radius
        return scores + (self.low - reach), scores + (self.high + reach)


def ball(problem: Problem, judge: Judge) -> Ball:
    """Derive from a judged fit where its optimum lies."""
    centre = judge.W if judge.centre is None else judge.centre
    gap = judge.gap + ROUNDING * np.abs(judge.primal)
    radius = np.sqrt(np.maximum(0.0, gap / problem.lam - 0.25 * judge.distance))
    if not problem.is_free:
        # The centre's bias is at most half a distance from b; the radius is widened by as much.
        slack = 0.5 * problem.bias_scale * np.sqrt(judge.distance)
        return Ball(centre, radius, judge.b - slack, judge.b + slack, problem.bias_scale, None)
    origin = mean_row(problem)
    low, high = bias_interval(problem, centre, radius, origin, judge.scratch)
    return Ball(centre, radius, low, high, 0.0, origin)


def mean_row(problem: Problem) -> FloatArray:
    """Return the weighted mean of the rows, shape (d,)."""
    ones = np.ones((shape(problem.rows)[0], 1))
    return combination(problem, ones)[:, 0] * problem.lam


def bias_interval(
    problem: Problem, centre: FloatArray, radius: FloatArray, origin: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of b* - relative to `centre` and 0 rather than to the mean row."""
    K = centre.shape[1]
    low, high = np.empty(K), np.empty(K)
    shift = origin @ centre
    Z[:] = _scores(problem.rows, centre)
    distances = _distances(problem.rows, origin, 0.0)
    floor = 1e-12 * problem.S
    for k in range(K):
        Z[:, k] -= shift[k]
        for ends, sign in ((low, 1.0), (high, -1.0)):
            Z[:, k] += sign * radius[k] * distances

            def rise(b: float, k: int = k, sign: float = sign) -> float:
                return float(slope_sum(problem.costs, Z, k, b)) + sign * floor

            ends[k] = crossing(rise, 0.0, 0.0) - shift[k]
            Z[:, k] -= sign * radius[k] * distances
    return low, high


def _scores(rows: Rows, W: FloatArray) -> FloatArray:
    Z = np.empty((shape(rows)[0], W.shape[1]))
    W = np.ascontiguousarray(W, dtype=np.float64)
    for start, stop in blocks(rows):
        all_scores(rows, start, stop, flat(W), Z)
    return Z


def _distances(rows: Rows, origin: FloatArray | None, bias_scale: float) -> FloatArray:
    """Return ||x - origin||, or ||(x, bias_scale)|| without an origin, of every row."""
    squares = np.empty(shape(rows)[0])
    for start, stop in blocks(rows):
        square_norms(rows, start, stop, squares)
    if origin is None:
        return np.sqrt(squares + bias_scale**2)
    products = _scores(rows, origin[:, None])[:, 0]
    return np.sqrt(np.maximum(0.0, squares - 2.0 * products + origin @ origin))
