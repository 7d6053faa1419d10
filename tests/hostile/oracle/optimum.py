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
LONGER = (0.0, 2.0**-54, 2.0**-44)  # margins just above 1 cost no loss, whatever the rounding


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
    # With a free bias, a constant added to targets is only a change of variables.
    shift = np.median(y) if rows.is_free and loss in ("epsilon_insensitive", "squared") else WIDE(0)
    y = y - shift
    zero = np.zeros_like(y)
    best = Best(WIDE(0), WIDE(np.inf))
    best.see(bounds(rows, loss, y, u, epsilon, zero, rows.combination(zero)))
    with np.errstate(all="ignore"):
        for beta, weights in suggestions(rows, loss, y, u, epsilon):
            is_narrow = best.high - best.low <= width * best.low
            if beta is None and is_narrow:
                break
            if beta is None:
                continue
            own = weights if weights is not None else rows.combination(beta)
            for longer in LONGER[: 1 if is_narrow else None]:
                best.see(bounds(rows, loss, y, u, epsilon, beta, own * WIDE(1 + longer)))
    radius = np.sqrt(2 * best.gap)
    if not rows.is_free:
        return Optimum(best.low, best.high, best.weights, radius, (WIDE(0), WIDE(0)))
    push = radius * rows.norms
    least = best_bias(loss, best.z + push, y, u, epsilon, side=-1)
    largest = best_bias(loss, best.z - push, y, u, epsilon, side=1)
    bias = least + shift, largest + shift
    return Optimum(best.low, best.high, best.weights, radius, bias)


@dataclass
class Best:
    """The best bounds so far, and the point of the smallest gap."""

    low: WIDE
    high: WIDE
    gap: WIDE = WIDE(np.inf)
    weights: Any = None
    z: Any = None

    def see(self, new):
        low, high, weights, z = new
        if not (np.isfinite(low) and np.isfinite(high)):
            return
        self.low, self.high = max(self.low, low), min(self.high, high)
        if high - low < self.gap:
            self.gap, self.weights, self.z = high - low, weights, z


def suggestions(rows, loss, y, u, epsilon):
    """Yield (beta, weights), first in float64; (None, None) where a width is to be looked at."""
    if rows.n > LARGE and rows.kernel is not None:
        form = KernelForm(rows.K.astype(np.float64), rows.is_free)
        yield from last(points(loss, form, y.astype(np.float64), u.astype(np.float64), epsilon))
        return
    F, back = rotated(rows.F) if rows.has_few_features else from_kernel(rows)
    for precision in (np.float64, WIDE):
        if precision is WIDE and F.shape[1] > WIDE_ROWS:
            return
        form = FeatureForm(F.astype(precision), rows.is_free)
        narrow = (array.astype(precision) for array in (y, u))
        for beta, w in last(points(loss, form, *narrow, epsilon)):
            yield beta, back(w.astype(WIDE))
        yield None, None


def rotated(F):
    """Features along their principal axes: columns with a common offset are badly conditioned."""
    size = np.abs(F).max(initial=0)
    if not size:
        return F, lambda w: w
    V = np.linalg.svd((F / size).astype(np.float64), full_matrices=False)[2].T.astype(WIDE)
    if V.shape[0] != V.shape[1]:
        return F, lambda w: w
    V = V @ (3 * np.eye(len(V), dtype=WIDE) - V.T @ V) / 2  # orthogonal beyond float64
    return F @ V, lambda w: V @ w


def from_kernel(rows):
    """Features that a pivoted Cholesky factor makes of a kernel matrix."""
    F, pivots = features(rows.K)
    return F, lambda w: rows.combination(expansion(F, pivots, w))


def last(iterates):
    """The last few of the finite ones."""
    kept = []
    for iterate in iterates:
        if np.all(np.isfinite(iterate[0])):
            kept = [*kept[1 - KEPT :], iterate]
    return kept


def bounds(rows, loss, y, u, epsilon, beta, weights):
    """Return D(beta), P(weights) at its best bias, the weights and their scores."""
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
    tried = biases(rows, loss, y, u, epsilon, z)
    losses, b = min(largest_losses(loss, y, u, epsilon, (z, error), b) for b in tried)
    square, hidden = rows.square(weights)
    high = (square + hidden) / 2 + losses + tail * (losses + square)
    square, hidden = rows.square(rows.combination(beta))
    gains = u * gain(loss, beta / u, y, epsilon)
    low = gains.sum() - (square + hidden) / 2 - tail * (np.abs(gains).sum() + square)
    # The bias that multiplies what is left of sum beta is between the extremes of y - z.
    low -= unbalanced * (np.abs(b) + np.abs(y).max() + np.abs(z).max() + 1)
    return low, high, weights, z


def biases(rows, loss, y, u, epsilon, z):
    """Biases worth trying: the best one, and the middle of all that are best."""
    if not rows.is_free:
        return [WIDE(0)]
    ends = [best_bias(loss, z, y, u, epsilon, side) for side in (-1, 1)]
    return [
        best_bias(loss, z, y, u, epsilon),
        *([sum(ends) / 2] if np.all(np.isfinite(ends)) else []),
    ]


def largest_losses(loss, y, u, epsilon, scores, b):
    """Sum of u_i loss_i, at most, and the bias it is for."""
    z, error = scores
    ends = [u * value(loss, z + b + e, y, epsilon) for e in (error, -error)]
    return np.maximum(*ends).sum(), b  # convex: largest at an end
