"""An interval that certainly holds the least objective, and a ball that holds the optimum.

A problem is rows of a feature space (a matrix, or a kernel), targets, weights u_i = C s_i > 0 and a
loss; it is divided by lam, so that the objective is 1/2 ||w||^2 + sum_i u_i loss_i. Points are
suggested by `interior_point`; both ends of the interval are recomputed here, in extended precision,
and moved outwards by what its rounding may hide.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hostile.oracle.bias import best_bias
from tests.hostile.oracle.forms import FeatureForm, KernelForm, expansion, features
from tests.hostile.oracle.interior_point import points
from tests.hostile.oracle.kernels import WIDE
from tests.hostile.oracle.losses import feasible, gain, value

LARGE = 700  # rows above which a kernel's problem is solved in float64 and with its matrix
WIDE_ROWS = 160  # rank up to which the interior point method may run in extended precision
KEPT = 12  # last iterates that are looked at


@dataclass
class Optimum:
    """low <= min P <= high (of the problem divided by lam), and what is known of the optimum.

    Its weights are within `radius` of `weights` (features, or coefficients of an expansion), its
    bias lies between the two numbers of `bias`, seen from the mean of the rows.
    """

    low: WIDE
    high: WIDE
    weights: Any
    radius: WIDE
    bias: tuple

    def decision_bounds(self, rows, X_new):
        """Bounds that certainly hold the decision values of the optimum."""
        z, norms = rows.new_scores(X_new, self.weights)
        room = self.radius * norms * (1 + 1e-9)
        return z - room + self.bias[0], z + room + self.bias[1]


def optimum(rows, loss, y, u, epsilon=0.0, width=1e-9):
    """Bracket the least objective; `width` is the relative width worth more work."""
    y, u = np.asarray(y, dtype=WIDE), np.asarray(u, dtype=WIDE)
    zero = np.zeros_like(y)
    low, high, z = bounds(rows, loss, y, u, epsilon, zero, rows.combination(zero))
    low, best = max(low, WIDE(0)), (high - low, rows.combination(zero), z)
    with np.errstate(all="ignore"):
        for beta, weights in suggestions(rows, loss, y, u, epsilon):
            if beta is None:  # end of what float64 can tell
                if high - low <= width * low:
                    break
                continue
            for own in (weights, None):
                if own is None and weights is not None and high - low <= width * low:
                    continue
                now = own if own is not None else rows.combination(beta)
                new = bounds(rows, loss, y, u, epsilon, beta, now)
                if np.isfinite(new[0]) and np.isfinite(new[1]):
                    low, high = max(low, new[0]), min(high, new[1])
                    if new[1] - new[0] < best[0]:
                        best = new[1] - new[0], now, new[2]
    gap, weights, z = best
    radius = np.sqrt(2 * gap)
    if not rows.is_free:
        return Optimum(low, high, weights, radius, (WIDE(0), WIDE(0)))
    push = radius * rows.norms
    least = best_bias(loss, z + push, y, u, epsilon, side=-1)
    largest = best_bias(loss, z - push, y, u, epsilon, side=1)
    return Optimum(low, high, weights, radius, (least, largest))


def suggestions(rows, loss, y, u, epsilon):
    """Yield (beta, weights), first in float64; (None, None) where a width is to be looked at."""
    square = float(rows.norms.mean()) ** 2
    narrow = [array.astype(np.float64) for array in (y, u)]
    if rows.n > LARGE and rows.kernel is not None:
        form = KernelForm(rows.K.astype(np.float64), rows.is_free)
        yield from last(points(loss, form, *narrow, epsilon, square))
        return
    F, pivots = (rows.F, None) if rows.has_few_features else features(rows.K)

    def back(w):
        return w.astype(WIDE) if pivots is None else rows.from_expansion(
            expansion(F, pivots, w.astype(WIDE))
        )

    form = FeatureForm(F.astype(np.float64), rows.is_free)
    for beta, w in last(points(loss, form, *narrow, epsilon, square)):
        yield beta, back(w)
    yield None, None
    if F.shape[1] <= WIDE_ROWS:
        form = FeatureForm(F, rows.is_free)
        for beta, w in last(points(loss, form, y, u, epsilon, square)):
            yield beta, back(w)


def last(iterates):
    """The last few of the finite ones."""
    kept = []
    for iterate in iterates:
        if np.all(np.isfinite(iterate[0])):
            kept = [*kept[1 - KEPT :], iterate]
    return kept


def bounds(rows, loss, y, u, epsilon, beta, weights):
    """Return D(beta), P(weights) at its best bias, and the scores of the weights."""
    beta = feasible(loss, np.asarray(beta, dtype=WIDE), u, y)
    unbalanced = WIDE(0)
    if rows.is_free:
        plus, minus = beta[beta > 0].sum(), -beta[beta < 0].sum()
        if plus > minus:
            beta = np.where(beta > 0, beta * (minus / plus), beta)
        elif minus > plus:
            beta = np.where(beta < 0, beta * (plus / minus), beta)
        unbalanced = np.abs(beta.sum()) + np.finfo(WIDE).eps * np.abs(beta).sum()
    tail = 4 * len(y) ** 0.5 * np.finfo(WIDE).eps
    z, error = rows.scores(weights)
    b = best_bias(loss, z, y, u, epsilon) if rows.is_free else WIDE(0)
    losses = [u * value(loss, z + b + e, y, epsilon) for e in (error, -error)]
    losses = np.maximum(*losses).sum()  # convex: largest at an end
    square, hidden = rows.square(weights)
    high = (square + hidden) / 2 + losses + tail * (losses + square)
    square, hidden = rows.square(rows.combination(beta))
    gains = u * gain(loss, beta / u, y, epsilon)
    low = gains.sum() - (square + hidden) / 2 - tail * (np.abs(gains).sum() + square)
    # The bias that multiplies what is left of sum beta is between the extremes of y - z.
    low -= unbalanced * (np.abs(b) + np.abs(y).max() + np.abs(z).max() + 1)
    return low, high, z
