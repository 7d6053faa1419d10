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

import math
from dataclasses import dataclass

import numpy as np

from pegasos.certificate.judge import Judge
from pegasos.data.rows import (
    CsrRows,
    FloatArray,
    Rows,
    all_scores,
    scores,
    shape,
    square_norm,
)
from pegasos.dispatch import compiled
from pegasos.problem.bias import bracket, slope_sum
from pegasos.problem.objective import Problem, blocks, flat

SAMPLED_ROWS = 256  # rows whose mean is taken for the origin
COARSE = 0.01  # of the gap: how exactly the ends of a bias interval are found, from outside
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the objective: what a gap of 0 may hide


@dataclass(frozen=True)
class Ball:
    """What is known about the optimum of each of K models.

    `centre` (d, K), `radius` (K,); the bias lies in [low, high] (K,) for weights at the centre.
    `origin` (d,) is the point m of a fit with a free bias, None otherwise. Where no bound holds it
    is infinite.
    """

    centre: FloatArray
    radius: FloatArray
    low: FloatArray
    high: FloatArray
    bias_scale: float
    origin: FloatArray | None

    def bounds(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds, shape (n, K), on the optimum's decision values."""
        low = np.empty((shape(rows)[0], self.centre.shape[1]))
        score_rows(rows, self.centre, low)
        high = low + self.high
        low += self.low
        push_scores(rows, self.origin, self.bias_scale, -self.radius, low)
        push_scores(rows, self.origin, self.bias_scale, self.radius, high)
        return low, high


def ball(problem: Problem, judge: Judge) -> Ball:
    """Derive from a judged fit where its optimum lies."""
    gap = judge.gap + ROUNDING * np.abs(judge.primal)
    radius = np.sqrt(np.maximum(0.0, gap / problem.lam - 0.25 * judge.distance))
    radius += 0.5 * np.sqrt(judge.distance)
    if not problem.is_free:
        return Ball(judge.W, radius, judge.b, judge.b, problem.bias_scale, None)
    origin = typical_row(problem.rows)
    low, high = bias_interval(problem, judge, radius, origin)
    return Ball(judge.W, radius, low, high, 0.0, origin)


def typical_row(rows: Rows) -> FloatArray:
    """Return the mean of rows spread over the data, shape (d,)."""
    n, d = shape(rows)
    step = max(1, n // SAMPLED_ROWS)
    if isinstance(rows, CsrRows):
        total, sampled = np.zeros(d), range(0, n, step)
        for i in sampled:
            part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
            total[rows.indices[part]] += rows.data[part]
        return total / len(sampled)
    return rows.X[::step].mean(axis=0, dtype=np.float64)


def bias_interval(
    problem: Problem, judge: Judge, radius: FloatArray, origin: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the interval that holds b* + <w* - w, m> for each model."""
    Z = judge.scratch
    if not judge.has_scores:
        score_rows(problem.rows, judge.W, Z)
    judge.has_scores = False
    shift = origin @ judge.W
    Z -= shift
    ends: list[float] = []
    for side, push in ((0, radius), (1, -2.0 * radius)):  # pushed up, then pushed down
        push_scores(problem.rows, origin, 0.0, push, Z)
        for k in range(Z.shape[1]):
            floor = (1.0 - 2.0 * side) * 1e-12 * problem.S

            def rise(b: float, k: int = k, floor: float = floor) -> float:
                return float(slope_sum(problem.costs, Z, k, b)) + floor

            start, area = float(judge.b[k] + shift[k]), COARSE * float(judge.gap[k]) * problem.S
            ends.append(bracket(rise, start, area)[side] - shift[k])
    low, high = np.reshape(ends, (2, -1))
    return low, high


def score_rows(rows: Rows, W: FloatArray, Z: FloatArray) -> None:
    """Write <w_k, x_i> into Z[i, k]."""
    W = np.ascontiguousarray(W, dtype=np.float64)
    for start, stop in blocks(rows):
        all_scores(rows, start, stop, flat(W), Z)


def push_scores(
    rows: Rows, origin: FloatArray | None, bias_scale: float, push: FloatArray, Z: FloatArray
) -> None:
    """Add push[k] ||x_i - origin|| to Z[i, k], or push[k] ||(x_i, bias_scale)|| without origin."""
    origin = np.zeros(shape(rows)[1]) if origin is None else origin
    square = float(np.einsum("j,j->", origin, origin)) + bias_scale**2
    for start, stop in blocks(rows):
        add_distances(rows, start, stop, origin, square, push, Z)


@compiled
def add_distances(rows, start, stop, origin, square, push, Z):  # type: ignore[no-untyped-def]
    """Add push[k] sqrt(||x_i||^2 - 2 <x_i, origin> + square) to Z[i, k] for start <= i < stop."""
    product = np.empty(1)
    for i in range(start, stop):
        scores(rows, i, origin, product)
        total = square_norm(rows, i) + square
        # Rounding of the difference must not make a distance shorter than it is.
        distance = math.sqrt(max(0.0, total - 2.0 * product[0]) + ROUNDING * total)
        for k in range(Z.shape[1]):
            Z[i, k] += push[k] * distance
