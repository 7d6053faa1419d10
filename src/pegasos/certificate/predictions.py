"""Certified predictions: where the optimum's decision values must lie.

Strong convexity gives  ||w - w*||^2 + ||w(a) - w*||^2 <= 2 gap / lam,  so w* is in the ball around
(w + w(a))/2 of radius sqrt(gap/lam - ||w - w(a)||^2 / 4), and in the ball around w itself whose
radius r is larger by ||w - w(a)||/2 (nothing, for solvers that hand out w(a)). Hence

    none, regularised bias    f*(x) in <w, x> + b            +- r sqrt(||x||^2 + bias_scale^2)
    free bias                 f*(x) in <w, x - m> + [lo, hi]  +- r ||x - m||

for any fixed m; [lo, hi] holds b* + <w*, m> (`optimal_bias`).

Rounding. Scores of features are off by less than (d + 16) eps ||w|| ||x||, which makes r larger by
(d + 32) eps ||w|| with what adding the bias costs; ||x|| <= ||x - m|| + ||m||. Those of a kernel
have room of their own (`scores_room`).

What was tried and is not here: half-spaces through w that hold w*, from a sub-gradient of P or from
support vectors at the margin, cut the ball nearly at right angles to new rows of text, whose bounds
become 0 to 10 % narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos.certificate.joint_biases import locate_pairs
from pegasos.certificate.judge import Judge
from pegasos.certificate.leads import Pairs, ends, known_biases, sure_leaders
from pegasos.certificate.optimal_bias import locate_bias
from pegasos.certificate.terms import EPS
from pegasos.data.rows import FloatArray, shape
from pegasos.kernel_matrix.scores import scores_room
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_losses import is_joint, lengths
from pegasos.problem.objective import Problem

ROUNDING = 16.0 * EPS  # of a number: what a few operations may do to it


@dataclass(frozen=True)
class Ball:
    """What is known about the optimum of each of K models.

    `centre` (d, K), `radius` (K,); the bias lies in [low, high] (K,) for weights at the centre.
    `origin` (d,) is the point m of a fit with a free bias, None otherwise; `square` is its square
    norm, or that of the constant feature of a regularised bias. Both have an entry per model where
    every model has rows of its own. Bounds that do not hold are infinite.
    """

    centre: FloatArray
    radius: FloatArray
    low: FloatArray
    high: FloatArray
    origin: FloatArray | None
    square: Any
    expansion: tuple[FloatArray, FloatArray] | None = None  # of a kernel: see `expansion_error`
    pairs: Pairs | None = None  # of a joint loss: what is known of biases by pairs of classes

    def bounds(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds, shape (n, K), on the optimum's decision values."""
        _, low, high = self.scores_and_bounds(rows)
        return low, high

    def settled(self, rows: Any, decided: Callable[[FloatArray, FloatArray], Any]) -> Any:
        """Tell which labels are settled; `decided` does, given bounds, for models side by side."""
        return decided(*self.bounds(rows)) if self.pairs is None else self.sure_leaders(rows) >= 0

    def sure_leaders(self, rows: Any) -> Any:
        """Return the class that leads at the optimum of a joint loss; -1 where it is not known."""
        return sure_leaders(self, rows)

    def on_support(self, support: Any) -> Ball:
        """Return the same of a kernel as expansions over the support vectors only."""
        origin = None if self.origin is None else self.origin[support]
        return replace(self, centre=self.centre[support], origin=origin)

    def scores_and_bounds(self, rows: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores of the centre without bias, and the bounds."""
        space, Z = geometry(rows), np.empty((shape(rows)[0], self.centre.shape[1]))
        space.write_scores(self.centre, Z)
        room = np.zeros_like(Z)
        space.push_scores(self.origin, self.square, self.radius, room)
        if self.expansion is not None:
            room += scores_room(rows, Z, *self.expansion)
        low, high = Z + self.low, Z + self.high
        low -= room
        high += room
        return Z, low, high


def ball(problem: Problem, judge: Judge) -> Ball:
    """Derive from a judged fit where its optimum lies."""
    if is_joint(problem.costs.loss):
        return joint_ball(problem, judge)
    W = judge.W
    radius = radius_around_weights(problem, judge)
    norm, error, expansion = geometry(problem.rows).size(W, 2.0 * judge.primal / problem.lam)
    radius += error
    origin, square, low, high = None, problem.bias_scale**2, judge.b, judge.b
    if problem.is_free:
        origin, square, low, high = locate_bias(problem, judge, radius, norm)
    room = 2.0 * error * np.sqrt(square) + ROUNDING * np.abs(judge.b)
    return Ball(W, radius, low - room, high + room, origin, square, expansion)


def radius_around_weights(problem: Problem, judge: Judge) -> FloatArray:
    """Return the radius of the ball around the weights handed out."""
    radius = np.sqrt(np.maximum(0.0, judge.gap / problem.lam - 0.25 * judge.distance))
    return np.asarray((1.0 + ROUNDING) * (radius + 0.5 * np.sqrt(judge.distance)))


def joint_ball(problem: Problem, judge: Judge) -> Ball:
    """Derive the same for a joint loss: one radius for all outputs."""
    W, b, K = judge.W, judge.b, len(judge.b)
    radius = radius_around_weights(problem, judge)
    error = lengths(problem.costs.loss, geometry(problem.rows).size(W, radius).error)
    radius = np.repeat(radius + error, K)
    origin, square, pairs = None, problem.bias_scale**2, known_biases(b)
    if problem.is_free:
        origin, square, pairs = locate_pairs(problem, judge, float(radius[0]))
    room = 2.0 * error * math.sqrt(square) + ROUNDING * np.abs(b).max()
    pairs = pairs._replace(above=pairs.above + 2.0 * room * (1.0 - np.eye(K)))
    low, high = b - room, b + room
    if origin is not None:  # weights that sum to 0, as those of the optimum do, up to rounding
        drift = room + abs(float(origin @ W.sum(axis=1))) / K
        low, high = ends(pairs)
        low, high = low - drift, high + drift
    return Ball(W, radius, low, high, origin, square, None, pairs)
