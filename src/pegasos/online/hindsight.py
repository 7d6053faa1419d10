"""The best fixed point in hindsight, known between two bounds.

Minimises   P(u) = sum_i p_i loss(<u, x_i>, y_i) + lam/2 ||u||^2   over u in a convex set,

p_i the share of row i among the costs seen. `saddle` has the dual problem and certifies; `newton`
approaches both. Where there are too many weights for their products, `primal_dual` begins with
first-order steps; if the units of the columns are too much for them, Newton's method goes on from
there with directions by conjugate gradients.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidData, ToleranceNotReached
from pegasos.online.costs import RowCosts
from pegasos.online.directions import by_conjugate_gradients, by_products
from pegasos.online.newton import newton_steps, smoothed_around, smoothest
from pegasos.online.primal_dual import first_order_steps
from pegasos.online.saddle import Hindsight, Saddle
from pegasos.online.sets import Everywhere, checked_set, nearest
from pegasos.problem.scaling import positive

WIDE = 1000  # weights from which their products are too many for Newton's method
LATE = 300  # Newton steps after first-order ones, at most
UNBOUNDED = 100  # steps where nothing but losses >= 0 bounds the cost from below


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
        Relative distance of the bounds at which to end. A cost below a 100,000th of what the point
        0 costs counts as that much: it need not be known to more digits.
    max_iter : int, default=2000
        Steps after which to end in any case, with a warning: Newton steps; from WIDE weights on
        first-order ones, of two passes over the rows each, and Newton steps, at most LATE, after
        them.

    Warns
    -----
    ToleranceNotReached
        The bounds are farther apart than asked for. They hold all the same.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.online import L2Ball, best_fixed_point, row_costs
    >>> costs = row_costs([[1.0, 2e3], [-1.0, 1e3], [0.5, -1e3]], [1, 1, -1])
    >>> best = best_fixed_point(costs, L2Ball(0.001), np.full(3, 1 / 3), np.zeros(2))
    >>> best.upper - best.lower <= 1e-3 * best.upper
    True
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
    saddle = Saddle(costs, checked_set(within), shares)
    now = saddle.pair_at(nearest(within, start))
    saddle.look(now)
    is_bounded = costs.lam > 0.0 or not isinstance(within, Everywhere)
    most = max_iter if is_bounded else min(max_iter, UNBOUNDED)
    if costs.n_weights < WIDE:
        newton_steps(saddle, now.u, smoothest(saddle), by_products, tol, most)
    else:
        first_order_steps(saddle, now, tol, most)
        best, late = saddle.best(), min(most, LATE)
        if is_bounded and not saddle.is_within(tol):
            around = smoothed_around(saddle, best)
            newton_steps(saddle, best.u, around, by_conjugate_gradients, tol, late)
    found = saddle.certified()
    _warn(found, saddle, tol, max_iter)
    return found


def _warn(found: Hindsight, saddle: Saddle, tol: float, max_iter: int) -> None:
    """Warn of bounds that are farther apart than asked for, and say what to do."""
    width, size = found.upper - found.lower, max(found.upper, saddle.floor)
    if width <= tol * size:
        return
    warnings.warn(
        f"the mean cost of the best fixed point is known between {found.lower:.6g} and "
        f"{found.upper:.6g} only, {width / size:.2g} of it apart where tol={tol:g}: regret is an "
        f"interval at least as wide. Raise tol, or max_iter={max_iter}, bring the columns to one "
        "scale, or play in a smaller set or with a larger lam.",
        ToleranceNotReached,
        stacklevel=3,
    )
