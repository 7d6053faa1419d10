"""First-order steps towards the best fixed point: two passes over the rows each, O(n + d) memory.

Each step of the primal-dual hybrid gradient method moves u along V and projects it, then takes a
dual step of every row at the scores of 2 u_new - u_old. Columns count in units of their root mean
square. The average of the steps so far is taken up as a new start whenever that pays ([AHL23]).

[CP11]   Chambolle, Pock. A first-order primal-dual algorithm for convex problems with applications
         to imaging. J. Math. Imaging Vis. 40, 2011. Algorithm 1.
[AHL23]  Applegate, Hinder, Lu, Lubin. Faster first-order primal-dual methods for linear programming
         using restarts and sharpness. Math. Programming 201, 2023.
"""

from __future__ import annotations

import math

import numpy as np

from pegasos.online.proximal import prox
from pegasos.online.saddle import Pair, Saddle, dual_steps
from pegasos.online.tally import inner, length

LOOK = 10  # steps between two looks at the gap
SUFFICIENT = 0.3  # a gap this many times the last start's makes a new start
SAFETY = 0.95  # of the largest stable step


def first_order_steps(saddle: Saddle, now: Pair, tol: float, max_iter: int) -> None:
    """Take at most `max_iter` steps from `now`, until the bounds are `tol` apart."""
    step_size = SAFETY / (_norm(saddle) or 1.0)
    mean, count, last = now, 0, now
    omega, at_start = 1.0, math.inf
    for k in range(1, max_iter + 1):
        now = _step(saddle, now, step_size / omega, step_size * omega)
        count += 1
        mean = Pair(*(m + (x - m) / count for m, x in zip(mean, now, strict=True)))
        if k % LOOK:
            continue
        gaps = [saddle.look(pair) for pair in (now, mean)]
        if saddle.is_within(tol):
            break
        if min(gaps) <= SUFFICIENT * at_start or count > 0.5 * k:
            now = now if gaps[0] <= gaps[1] else mean
            omega = _balance(saddle, omega, last, now)
            mean, count, last, at_start = now, 0, now, min(gaps)


def _norm(saddle: Saddle) -> float:
    """Return the operator norm of the scaled X in the norm of the shares, closely."""
    v = np.random.default_rng(0).standard_normal(saddle.costs.n_weights)
    norm = 0.0
    for _ in range(30):
        v /= length(v) or 1.0
        v = saddle.sum(saddle.scores(v / saddle.scale)) / saddle.scale
        norm = length(v)
    return math.sqrt(norm) * 1.02


def _step(saddle: Saddle, now: Pair, tau: float, sigma: float) -> Pair:
    """[CP11] Algorithm 1; the dual step of a row is that of `problem.losses`."""
    costs, h = saddle.costs, saddle.scale**2 / tau
    u = prox(saddle.within, now.u + now.V / h, h, costs.lam)
    z = saddle.scores(u)
    a = now.a.copy()
    dual_steps(costs.loss, 2.0 * z - now.z, 1.0 / sigma, costs.y, a)
    return Pair(u, z, a, saddle.sum(a))


def _balance(saddle: Saddle, omega: float, last: Pair, now: Pair) -> float:
    """Return the weight of primal against dual steps that the last stretch suggests."""
    primal = length((now.u - last.u) * saddle.scale)
    dual = math.sqrt(inner(saddle.shares, (now.a - last.a) ** 2))
    if min(primal, dual) < 1e-12:
        return omega
    return math.exp(0.5 * math.log(dual / primal) + 0.5 * math.log(omega))
