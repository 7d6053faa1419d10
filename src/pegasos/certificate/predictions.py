"""Certified predictions: where the optimum's decision values must lie.

Strong convexity gives  ||w - w*||^2 + ||w(a) - w*||^2 <= 2 gap / lam,  so w* is in the ball around
(w + w(a))/2 of radius sqrt(gap/lam - ||w - w(a)||^2 / 4), and in the ball around w itself whose
radius r is larger by ||w - w(a)||/2 (nothing, for solvers that hand out w(a)). Hence

    none, regularised bias    f*(x) in <w, x> + b            +- r sqrt(||x||^2 + bias_scale^2)
    free bias                 f*(x) in <w, x - m> + [lo, hi]  +- r ||x - m||

for any fixed m; the mean of some rows serves well. [lo, hi] holds b* + <w*, m>: its ends are the
minimisers over b of the mean loss at the scores pushed up, and pushed down, as far as the ball
allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.certificate.judge import Judge
from pegasos.data.rows import FloatArray, shape
from pegasos.problem.bias import bracket, slope_sum
from pegasos.problem.gram import Kernelized
from pegasos.problem.objective import Problem
from pegasos.problem.space import (
    expansion_size,
    inner_products,
    push_scores,
    square_norm_of,
    typical_point,
    write_scores,
)

OUTLIERS = 8.0  # errors of a score may be so many times the typical one
COARSE = 0.01  # of the gap: how exactly the ends of a bias interval are found, from outside
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the objective: what a gap of 0 may hide


@dataclass(frozen=True)
class Ball:
    """What is known about the optimum of each of K models.

    `centre` (d, K), `radius` (K,); the bias lies in [low, high] (K,) for weights at the centre.
    `origin` (d,) is the point m of a fit with a free bias, None otherwise; `square` is its square
    norm, or that of the constant feature of a regularised bias. Bounds that do not hold are
    infinite.
    """

    centre: FloatArray
    radius: FloatArray
    low: FloatArray
    high: FloatArray
    origin: FloatArray | None
    square: float
    size: FloatArray | None = None  # of the expansions of a kernel: what rounding errors scale with

    def bounds(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds, shape (n, K), on the optimum's decision values."""
        _, low, high = self.scores_and_bounds(rows)
        return low, high

    def scores_and_bounds(self, rows: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores of the centre without bias, and the bounds."""
        Z = np.empty((shape(rows)[0], self.centre.shape[1]))
        write_scores(rows, self.centre, Z)
        room = np.zeros_like(Z)
        push_scores(rows, self.origin, self.square, self.radius, room)
        if self.size is not None:
            room += OUTLIERS * rows.rounding * np.sqrt(np.abs(rows.diagonal))[:, None] * self.size
        low, high = Z + self.low, Z + self.high
        low -= room
        high += room
        return Z, low, high


def ball(problem: Problem, judge: Judge) -> Ball:
    """Derive from a judged fit where its optimum lies."""
    gap = judge.gap + ROUNDING * np.abs(judge.primal)
    radius = np.sqrt(np.maximum(0.0, gap / problem.lam - 0.25 * judge.distance))
    radius += 0.5 * np.sqrt(judge.distance)
    is_kernel = isinstance(problem.rows, Kernelized)
    size = expansion_size(problem.rows, judge.W) if is_kernel else None
    if not problem.is_free:
        return Ball(judge.W, radius, judge.b, judge.b, None, problem.bias_scale**2, size)
    origin = typical_point(problem.rows, judge.W)
    square = square_norm_of(problem.rows, origin)
    low, high = bias_interval(problem, judge, radius, origin, square)
    return Ball(judge.W, radius, low, high, origin, square, size)


def bias_interval(
    problem: Problem, judge: Judge, radius: FloatArray, origin: FloatArray, square: float
) -> tuple[FloatArray, FloatArray]:
    """Return the interval that holds b* + <w* - w, m> for each model."""
    Z = judge.scratch
    if not judge.has_scores:
        write_scores(problem.rows, judge.W, Z)
    judge.has_scores = False
    shift = inner_products(problem.rows, origin, judge.W, Z)
    Z -= shift
    ends: list[float] = []
    for side, push in ((0, radius), (1, -2.0 * radius)):  # pushed up, then pushed down
        push_scores(problem.rows, origin, square, push, Z)
        for k in range(Z.shape[1]):
            floor = (1.0 - 2.0 * side) * 1e-12 * problem.S

            def rise(b: float, k: int = k, floor: float = floor) -> float:
                return float(slope_sum(problem.costs, Z, k, b)) + floor

            start, area = float(judge.b[k] + shift[k]), COARSE * float(judge.gap[k]) * problem.S
            end = bracket(rise, start, area)[side]
            if end == (np.inf, -np.inf)[side]:  # beyond what was looked at: nothing is known
                end = -end
            ends.append(end - shift[k])
    low, high = np.reshape(ends, (2, -1))
    return low, high
