"""The saddle point whose primal side is the best fixed point: two bounds, and what they need.

For any feasible dual numbers a (`problem.losses`), p_i the share of row i among the costs seen,

    D(a) = sum_i p_i gain(a_i) - max_{u in the set} (<V, u> - lam/2 ||u||^2),  V = sum_i p_i a_i x_i

is a lower bound on P(u) = sum_i p_i loss(<u, x_i>, y_i) + lam/2 ||u||^2 in the set. What is handed
out is recomputed from u and a, with all that rounding may have done on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, square_norms
from pegasos.dispatch import compiled
from pegasos.online.conjugates import support
from pegasos.online.costs import RowCosts
from pegasos.online.row_sums import add_rows, each_loss, scores_of, write_slopes
from pegasos.online.sets import Box, Everywhere, nearest
from pegasos.online.tally import EPS, inner, length
from pegasos.problem.losses import dual_step, gain, lower, upper
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton.columns import columns_of

NOTHING = 1e-5  # of the cost of 0: bounds need not be closer than `tol` times this


@dataclass(frozen=True)
class Hindsight:
    """The best fixed point's mean cost lies between `lower` and `upper`; `u` costs `upper`."""

    lower: float
    upper: float
    u: FloatArray


class Pair(NamedTuple):
    """A primal and a dual point with what belongs to them: z = X u and V = X'(p a)."""

    u: FloatArray
    z: FloatArray
    a: FloatArray
    V: FloatArray


class Saddle:
    """Costs and a set, and the best points found so far.

    `scale` holds the units of the weights: 1 over them is what changes scores by about 1, or, if
    that is less, leaves the set.
    """

    def __init__(self, costs: RowCosts, within: Any, shares: FloatArray) -> None:
        self.costs, self.within, self.shares = costs, within, shares
        self.lower, self.upper = -math.inf, math.inf
        self.u = self.a = np.empty(0)  # the points they belong to
        self.problem = make_problem(costs.loss, costs.rows, costs.y[:, None], shares, costs.lam)
        columns = columns_of(self.problem, is_centred=False)
        self.columns = columns._replace(scale=np.hypot(columns.scale, 1.0 / reach(within)))
        self.scale = np.append(self.columns.scale, [1.0] if costs.constant else [])
        at_zero = each_loss(costs.loss, np.zeros(costs.n), costs.y)
        self.floor = NOTHING * inner(shares, at_zero)

    def scores(self, u: FloatArray) -> FloatArray:
        """Return X u."""
        return scores_of(self.costs.rows, self.costs.constant, u)

    def sum(self, a: FloatArray) -> FloatArray:
        """Return V = sum_i p_i a_i x_i."""
        return self.sum_of(self.shares * a)

    def sum_of(self, c: FloatArray) -> FloatArray:
        """Return sum_i c_i x_i."""
        V = np.zeros(self.costs.n_weights)
        add_rows(self.costs.rows, self.costs.constant, c, V)
        return V

    def is_within(self, tol: float) -> bool:
        """Whether the bounds are as close as asked for, with room for what certifying costs."""
        return self.upper - self.lower <= 0.5 * tol * max(self.upper, self.floor)

    def pair_at(self, u: FloatArray) -> Pair:
        """Return a point with the dual numbers that its slopes suggest."""
        z = self.scores(u)
        a = np.empty(len(z))
        write_slopes(self.costs.loss, z, self.costs.y, a)
        return Pair(u, z, -a, self.sum(-a))

    def look(self, pair: Pair) -> float:
        """Return the gap of a pair, up to rounding; keep its points if they are the best yet."""
        costs = self.costs
        losses = each_loss(costs.loss, pair.z, costs.y)
        primal = inner(self.shares, losses) + 0.5 * costs.lam * inner(pair.u, pair.u)
        gains = np.empty(len(pair.a))
        write_gains(costs.loss, pair.a, costs.y, gains)
        dual = inner(self.shares, gains) - support(self.within, pair.V, costs.lam)
        if primal < self.upper:
            self.upper, self.u = primal, pair.u
        if dual > self.lower or len(self.a) == 0:
            self.lower, self.a = dual, pair.a
        return primal - dual

    def best(self) -> Pair:
        """Return the best primal and the best dual point so far."""
        return Pair(self.u, self.scores(self.u), self.a, self.sum(self.a))

    def certified(self) -> Hindsight:
        """Recompute both bounds from the points kept, rounding on the safe side."""
        costs, p, u = self.costs, self.shares, nearest(self.within, self.u)
        n, d = len(p), len(u)
        squares = np.empty(n)
        square_norms(costs.rows, 0, n, squares)
        x_norms = np.sqrt(squares + costs.constant * costs.constant) * (1.0 + (d + 16.0) * EPS)
        most = length(u) * (1.0 + (d + 16.0) * EPS)
        # Rounding of a score, and of u itself: within 4 d EPS of a point that is in the set.
        radius = (costs.terms.values + 4.0 * d + 32.0) * EPS * most * x_norms
        z = self.scores(u)
        losses = np.maximum(
            each_loss(costs.loss, z - radius, costs.y), each_loss(costs.loss, z + radius, costs.y)
        )
        primal = math.fsum(p * losses) * (1.0 + 32.0 * EPS)
        primal += 0.5 * costs.lam * most * most * (1.0 + (8.0 * d + 32.0) * EPS)

        a = np.clip(self.a, *_feasible(costs))
        gains = np.empty(n)
        write_gains(costs.loss, a, costs.y, gains)
        sizes = math.fsum(p * (np.abs(gains) + np.abs(a) * (1.0 + np.abs(costs.y))))
        doubt = (n + 16.0) * EPS * math.fsum(p * np.abs(a) * x_norms)
        dual = math.fsum(p * gains) - 32.0 * EPS * sizes
        dual -= support(self.within, self.sum(a), costs.lam, doubt)
        return Hindsight(max(0.0, dual), primal, u)  # no loss is negative


def reach(within: Any) -> float:
    """Return how far any weight can be from 0."""
    if isinstance(within, Everywhere):
        return math.inf
    return max(map(abs, within)) if isinstance(within, Box) else float(within.radius)


def _feasible(costs: RowCosts) -> tuple[FloatArray, FloatArray]:
    bounds = np.empty((2, costs.n))
    write_bounds(costs.loss, costs.y, bounds)
    return bounds[0], bounds[1]


@compiled
def dual_steps(loss, z, q, y, a):  # type: ignore[no-untyped-def]
    """Take the dual step of every row at score z_i, in place."""
    for i in range(len(a)):
        a[i] = dual_step(loss, z[i], a[i], q, y[i])


@compiled
def write_gains(loss, a, y, out):  # type: ignore[no-untyped-def]
    """Write every row's term of the dual."""
    for i in range(len(a)):
        out[i] = gain(loss, a[i], y[i])


@compiled
def write_bounds(loss, y, out):  # type: ignore[no-untyped-def]
    """Write the least and the largest feasible dual number of every row."""
    for i in range(len(y)):
        out[0, i], out[1, i] = lower(loss, y[i]), upper(loss, y[i])
