"""The best fixed point in hindsight, known between two bounds.

Minimises   P(u) = sum_i p_i loss(<u, x_i>, y_i) + lam/2 ||u||^2   over u in a convex set,

p_i the share of row i among the costs seen. For any feasible dual numbers a (`problem.losses`)

    D(a) = sum_i p_i gain(a_i) - max_{u in the set} (<V, u> - lam/2 ||u||^2),  V = sum_i p_i a_i x_i

is a lower bound. Both are approached by the primal-dual hybrid gradient method: each step projects
u + tau V onto the set and takes a dual step of every row at the scores of 2 u_new - u_old. The
average of the steps so far is taken up as a new start whenever that pays ([AHL23]). What is handed
out is recomputed from u and a, with all that rounding may have done on the safe side.

[CP11]   Chambolle, Pock. A first-order primal-dual algorithm for convex problems with applications
         to imaging. J. Math. Imaging Vis. 40, 2011. Algorithm 1.
[AHL23]  Applegate, Hinder, Lu, Lubin. Faster first-order primal-dual methods for linear programming
         using restarts and sharpness. Math. Programming 201, 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, square_norms
from pegasos.dispatch import compiled
from pegasos.errors import InvalidData
from pegasos.online.conjugates import support
from pegasos.online.costs import RowCosts
from pegasos.online.row_sums import add_rows, each_loss, scores_of, write_slopes
from pegasos.online.sets import checked_set, nearest
from pegasos.online.tally import EPS, inner, length
from pegasos.problem.losses import dual_step, gain, lower, upper
from pegasos.problem.scaling import positive

LOOK = 10  # steps between two looks at the gap
SUFFICIENT = 0.3  # a gap this many times the last start's makes a new start
SAFETY = 0.95  # of the largest stable step


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


def best_fixed_point(
    costs: RowCosts,
    within: Any,
    shares: FloatArray,
    start: FloatArray,
    *,
    tol: float = 1e-3,
    max_iter: int = 2000,
) -> Hindsight:
    """Find the best fixed point and bounds on its mean cost, `tol` times that cost apart.

    Parameters
    ----------
    costs : RowCosts
        The costs.
    within : set
        Where the fixed point may lie.
    shares : ndarray of shape (n,)
        p_i: how often each row was seen, divided by the number of steps.
    start : ndarray of shape (n_weights,)
        Where to start: for instance the average iterate.
    tol : float, default=1e-3
        Relative distance of the bounds at which to end.
    max_iter : int, default=2000
        Steps, of two passes over the rows each, after which to end in any case.
    """
    shares, start = np.asarray(shares, dtype=np.float64), np.asarray(start, dtype=np.float64)
    positive(tol, "tol", "It is relative to the cost of the best fixed point.")
    if shares.shape != (costs.n,) or np.any(shares < 0.0) or not math.isclose(shares.sum(), 1.0):
        raise InvalidData(
            f"shares must hold a number for each of the {costs.n} rows, none negative, of sum 1; "
            f"got shape {shares.shape}, sum {shares.sum():g}."
        )
    if start.shape != (costs.n_weights,):
        raise InvalidData(f"start must have shape ({costs.n_weights},); got {start.shape}.")
    search = _Search(costs, checked_set(within), shares)
    now = search.pair_at(nearest(within, start))
    search.look(now)
    mean, count, last = now, 0, now
    omega, at_start = 1.0, math.inf
    for k in range(1, max_iter + 1):
        now = search.step(now, omega)
        count += 1
        mean = Pair(*(m + (x - m) / count for m, x in zip(mean, now, strict=True)))
        if k % LOOK:
            continue
        gaps = [search.look(pair) for pair in (now, mean)]
        if search.upper - search.lower <= 0.5 * tol * search.upper:
            break
        if min(gaps) <= SUFFICIENT * at_start or count > 0.5 * k:
            now = now if gaps[0] <= gaps[1] else mean
            omega = search.balance(omega, last, now)
            mean, count, last, at_start = now, 0, now, min(gaps)
    return search.certified()


class _Search:
    """One search for a best fixed point: its costs, and the best points found so far."""

    def __init__(self, costs: RowCosts, within: Any, shares: FloatArray) -> None:
        self.costs, self.within, self.shares = costs, within, shares
        self.lower, self.upper = -math.inf, math.inf
        self.u = self.a = np.empty(0)  # the points they belong to
        self.step_size = SAFETY / (self._norm() or 1.0)

    def _norm(self) -> float:
        """Return the operator norm of X in the norm of the shares, from below but closely."""
        v = np.random.default_rng(0).standard_normal(self.costs.n_weights)
        norm = 0.0
        for _ in range(30):
            v /= length(v) or 1.0
            v = self._sum(self.scores(v))
            norm = length(v)
        return math.sqrt(norm) * 1.02

    def scores(self, u: FloatArray) -> FloatArray:
        return scores_of(self.costs.rows, self.costs.constant, u)

    def _sum(self, a: FloatArray) -> FloatArray:
        V = np.zeros(self.costs.n_weights)
        add_rows(self.costs.rows, self.costs.constant, self.shares * a, V)
        return V

    def pair_at(self, u: FloatArray) -> Pair:
        z = self.scores(u)
        a = np.empty(len(z))
        write_slopes(self.costs.loss, z, self.costs.y, a)
        return Pair(u, z, -a, self._sum(-a))

    def step(self, now: Pair, omega: float) -> Pair:
        """[CP11] Algorithm 1; the dual step of a row is that of `problem.losses`."""
        tau, sigma = self.step_size / omega, self.step_size * omega
        u = nearest(self.within, (now.u + tau * now.V) / (1.0 + tau * self.costs.lam))
        z = self.scores(u)
        a = now.a.copy()
        dual_steps(self.costs.loss, 2.0 * z - now.z, 1.0 / sigma, self.costs.y, a)
        return Pair(u, z, a, self._sum(a))

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

    def balance(self, omega: float, last: Pair, now: Pair) -> float:
        """Return the weight of primal against dual steps that the last stretch suggests."""
        primal = length(now.u - last.u)
        dual = math.sqrt(inner(self.shares, (now.a - last.a) ** 2))
        if min(primal, dual) < 1e-12:
            return omega
        return math.exp(0.5 * math.log(dual / primal) + 0.5 * math.log(omega))

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
        dual -= support(self.within, self._sum(a), costs.lam, doubt)
        return Hindsight(max(0.0, dual), primal, u)  # no loss is negative


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
