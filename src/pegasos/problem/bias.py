"""The bias: the best one for given weights, and dual points that allow for a free one.

A free bias puts the constraint sum_i s_i a_i = 0 on the dual. Both questions here are roots of a
monotone function of one number, found with passes over arrays already at hand:

    best bias        0 in  sum_i s_i slope(z_i + b)             [SSSC11] eq. (24)
                     (plus lam S b / bias_scale^2 where it is regularised)
    balanced dual    0  =  sum_i s_i clip(a_i - theta)          the nearest feasible point
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled, reordering_sums
from pegasos.problem.exponential import exp_up_to_1
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_losses import for_joint_losses, own_class
from pegasos.problem.logarithm import quotient
from pegasos.problem.losses import Logistic, lower, slope, upper
from pegasos.problem.objective import Costs, OwnWeights, Problem, weight_of

REACH = 1e110  # how far a crossing is looked for: beyond all targets
MANY = 32_768  # rows that tell nearly where the best bias is
NEARLY_BALANCED = 1e-3  # sum_i s_i a_i against sum_i s_i |a_i|: below, projecting gains nothing


class Balance(NamedTuple):
    """How raw dual numbers become feasible, one entry per output.

    clip(scale a - theta), then positive numbers times `up` and negative ones times `down`. Of a
    joint loss, with a = e_y - p, p in the simplex: p times `down`, and what that takes away is
    given to classes in the proportions `theta` (`joint_bias`).
    """

    scale: float
    theta: FloatArray
    up: FloatArray
    down: FloatArray


def untouched(K: int, scale: float) -> Balance:
    """Return the balance that only scales and clips to the feasible interval."""
    return Balance(scale, np.zeros(K), np.ones(K), np.ones(K))


@compiled
def clip(loss, a, y):  # type: ignore[no-untyped-def]
    """Return the feasible dual number nearest to a."""
    return min(upper(loss, y), max(lower(loss, y), a))


@compiled
def feasible(costs, A, i, k, balance):  # type: ignore[no-untyped-def]
    """Return the feasible dual number that a balance makes of A[i, k]."""
    a = clip(costs.loss, balance.scale * A[i, k] - balance.theta[k], costs.Y[i, k])
    up, down = balance.up[k], balance.down[k]  # both are read: then this is no branch
    return a * (up if a > 0.0 else down)


@by_tag
def write_feasible_row(loss: Any, costs: Any, A: Any, i: int, balance: Any, out: Any) -> None:
    """Write the feasible dual numbers (K,) that a balance makes of A[i] into `out`."""


@write_feasible_row.otherwise
def _(loss, costs, A, i, balance, out):  # type: ignore[no-untyped-def]
    for k in range(A.shape[1]):
        out[k] = feasible(costs, A, i, k, balance)


@for_joint_losses(write_feasible_row)
def _(loss, costs, A, i, balance, out):  # type: ignore[no-untyped-def]
    y, others = own_class(costs.Y, i), 0.0
    for r in range(len(out)):
        out[r] = 0.0 if r == y else max(0.0, -balance.scale * A[i, r])
        others += out[r]
    shrink = 1.0 / max(1.0, others)
    out[y], freed = max(0.0, 1.0 - others), 0.0
    for r in range(len(out)):  # p_r
        p = out[r] * shrink
        out[r] = p * balance.down[r]
        freed += p - out[r]
    others = 0.0
    for r in range(len(out)):  # -p_r
        out[r] = -(out[r] + balance.theta[r] * freed)
        if r != y:
            others -= out[r]
    if others > 1.0:  # rounding
        for r in range(len(out)):
            out[r] /= others
        others = 1.0
    out[y] = others


@compiled
def slope_sum(costs, Z, k, b):  # type: ignore[no-untyped-def]
    """Return sum_i s_i slope(Z[i, k] + b), non-decreasing in b."""
    return sum_of_slopes(costs.loss, costs, Z, k, b)


@by_tag
def sum_of_slopes(loss: Any, costs: Any, Z: Any, k: int, b: float) -> Any:
    """Do what `slope_sum` does."""


@sum_of_slopes.otherwise
def _(loss, costs, Z, k, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(Z.shape[0]):
        s = weight_of(costs.weights, i, k)
        if s > 0.0:
            total += s * slope(loss, Z[i, k] + b, costs.Y[i, k])
    return total


@sum_of_slopes.register(Logistic)
def _(loss, costs, Z, k, b):  # type: ignore[no-untyped-def]
    return sum_of_logistic_slopes(costs.Y, costs.weights, Z, k, b)


@reordering_sums
def sum_of_logistic_slopes(Y, weights, Z, k, b):  # type: ignore[no-untyped-def]
    """Do what `slope_sum` does for the logistic loss, many rows at a time."""
    total = 0.0
    for i in range(Z.shape[0]):
        s, y = weight_of(weights, i, k), Y[i, k]
        m = y * (Z[i, k] + b)
        e = exp_up_to_1(-abs(m))
        a = quotient(e if m >= 0.0 else 1.0, 1.0 + e)
        total -= s * (y * a) if s > 0.0 else 0.0
    return total


@compiled
def signed_sums(costs, A, scale, k, theta):  # type: ignore[no-untyped-def]
    """Return the positive and the negative part of sum_i s_i clip(scale a_i - theta)."""
    positive, negative = 0.0, 0.0
    for i in range(A.shape[0]):
        a = clip(costs.loss, scale * A[i, k] - theta, costs.Y[i, k])
        c = weight_of(costs.weights, i, k) * a
        if c > 0.0:
            positive += c
        else:
            negative += c
    return positive, negative


def best_bias(
    problem: Problem, Z: FloatArray, k: int, start: float = 0.0, accuracy: float = 0.0
) -> float:
    """Minimise the mean loss over the bias of model k, given scores Z without bias.

    `accuracy` bounds how far the objective may stay above its minimum; 0 asks for rounding error.
    Where the minimum is an interval, its middle is returned, so that equal problems (a weight of 2,
    a row twice) give equal answers.
    """
    floor = 1e-12 * problem.S
    if not math.isfinite(start):
        start = 0.0
    left = middle(slopes_bracket(problem, Z, k, floor, start, accuracy * problem.S))
    if accuracy > 0.0 and math.isfinite(left):
        # Flat as far as there, at least?
        is_flat = abs(float(slope_sum(problem.costs, Z, k, left + 1.0))) <= floor
        return left + 1.0 if is_flat else left
    start = left if math.isfinite(left) else start
    right = middle(slopes_bracket(problem, Z, k, -floor, start, 0.0))
    if math.isfinite(left) and math.isfinite(right):
        return 0.5 * (left + right)
    # One class: all of a half-line is best; well within it, rounding does no harm.
    return left + 1.0 if math.isfinite(left) else right - 1.0 if math.isfinite(right) else start


def best_regularized_bias(
    problem: Problem, Z: FloatArray, k: int, start: float, accuracy: float
) -> float:
    """Minimise lam/2 (b / bias_scale)^2 plus the mean loss over the bias of model k.

    Where rows are many, some tell where to begin.
    """
    costs, tilt = problem.costs, problem.lam * problem.S / problem.bias_scale**2
    costs, Z, k = one_column(costs, Z, k)
    step = len(Z) // MANY
    if step > 1 and not costs.weights.mask:
        few = costs._replace(Y=np.ascontiguousarray(costs.Y[::step]))
        some = Slopes(few, np.ascontiguousarray(Z[::step]), k, 0.0, tilt / step)
        start = middle(find_bracket(some, start, accuracy * problem.S / step))
    return middle(find_bracket(Slopes(costs, Z, k, 0.0, tilt), start, accuracy * problem.S))


def balances(problem: Problem, A: FloatArray, scale: float) -> list[Balance]:
    """Two ways to make sum_i s_i a_i = 0: project, then trim; or trim the heavier sign alone.

    Neither dominates; whoever certifies keeps the one with the larger dual value. A point that is
    nearly balanced is only trimmed; so is an expansion over rows, because a projection would
    make rows that are 0 part of it.
    """
    K = A.shape[1]
    trimmed, projected = untouched(K, scale), untouched(K, scale)
    imbalance = 0.0
    for k in range(K):
        positive, negative = signed_sums(problem.costs, A, scale, k, 0.0)
        _trim(trimmed, k, positive, negative)
        if positive > negative:
            imbalance = max(imbalance, abs(positive + negative) / (positive - negative))
    if imbalance <= NEARLY_BALANCED or geometry(problem.rows).is_expansion:
        return [trimmed]
    for k in range(K):

        def fall(theta: float, k: int = k) -> float:
            return -float(sum(signed_sums(problem.costs, A, scale, k, theta)))

        theta = projected.theta[k] = crossing(fall, 0.0, 0.0)
        _trim(projected, k, *signed_sums(problem.costs, A, scale, k, theta))
    return [trimmed, projected]


def _trim(balance: Balance, k: int, positive: float, negative: float) -> None:
    """Shrink the heavier sign of model k until both weigh the same."""
    if positive > -negative:
        balance.up[k] = -negative / positive
    elif negative < -positive:
        balance.down[k] = -positive / negative


def middle(ends: tuple[float, float]) -> float:
    """Return the middle of a bracket."""
    return 0.5 * (ends[0] + ends[1])


def crossing(rise: Callable[[float], Any], start: float, area: float) -> float:
    """Return the middle of the bracket of a crossing; see `bracket`."""
    return middle(bracket(rise, start, area))


def bracket(rise: Callable[[float], Any], start: float, area: float) -> tuple[float, float]:
    """Find where a non-decreasing function crosses 0; see `find_bracket`."""
    low, high = getattr(find_bracket, "py_func", find_bracket)(Function(rise), start, area)
    return low, high


def slopes_bracket(
    problem: Problem, Z: FloatArray, k: int, shift: float, start: float, area: float
) -> tuple[float, float]:
    """Find the bias of model k at which the sum of slopes, plus `shift`, crosses 0."""
    curve = Slopes(*one_column(problem.costs, Z, k), float(shift), 0.0)
    low, high = find_bracket(curve, float(start), float(area))
    return low, high


def one_column(costs: Costs, Z: FloatArray, k: int) -> tuple[Costs, FloatArray, int]:
    """Return what is of model k in arrays of its own, for many passes: numbers lie side by side."""
    if Z.shape[1] == 1:
        return costs, Z, k
    own = slice(k, k + 1)
    weights = costs.weights
    if isinstance(weights, OwnWeights):
        weights = weights._replace(values=np.ascontiguousarray(weights.values[:, own]))
    alone = costs._replace(Y=np.ascontiguousarray(costs.Y[:, own]), weights=weights)
    return alone, np.ascontiguousarray(Z[:, own]), 0


class Function(NamedTuple):
    """A non-decreasing function of one number, in Python."""

    rise: Callable[[float], Any]


class Slopes(NamedTuple):
    """sum_i s_i slope(Z[i, k] + b) + shift + tilt b, as a function of the bias b."""

    costs: Any
    Z: FloatArray
    k: int
    shift: float
    tilt: float


@by_tag
def height(curve, b):  # type: ignore[no-untyped-def]
    """Return a curve's value at b."""


@height.register(Function)
def _(curve, b):  # type: ignore[no-untyped-def]
    return float(curve.rise(b))


@height.register(Slopes)
def _(curve, b):  # type: ignore[no-untyped-def]
    return slope_sum(curve.costs, curve.Z, curve.k, b) + curve.shift + curve.tilt * b


@compiled
def find_bracket(curve, start, area):  # type: ignore[no-untyped-def]
    """Find where a non-decreasing curve crosses 0, by bracketing and regula falsi (Illinois).

    Stops when the bracket's width times the function's size at its ends is below `area`, or at the
    last bit. Both ends are the same infinity if there is no crossing within `REACH` of `start`.
    """
    low, high = start, start
    at_low = at_high = height(curve, start)
    width, growth = 1e-3 * max(1.0, abs(start)), 4.0
    while at_low > 0.0:
        high, at_high = low, at_low
        low, width, growth = low - width, growth * width, 1.5 * growth
        if width > REACH:
            return -math.inf, -math.inf
        at_low = height(curve, low)
    while at_high < 0.0:
        low, at_low = high, at_high
        high, width, growth = high + width, growth * width, 1.5 * growth
        if width > REACH:
            return math.inf, math.inf
        at_high = height(curve, high)
    side, weight_low, weight_high = 0, at_low, at_high
    for turn in range(200):
        if (high - low) * max(-at_low, at_high) <= area:
            break
        centre = 0.5 * (low + high)
        if turn % 3 != 2 and weight_high > weight_low:  # every third step bisects
            centre = low - weight_low * (high - low) / (weight_high - weight_low)
            if not low < centre < high:
                centre = 0.5 * (low + high)
        if not low < centre < high:
            break
        at_centre = height(curve, centre)
        if at_centre < 0.0:
            low, at_low, weight_low = centre, at_centre, at_centre
            weight_high = 0.5 * weight_high if side < 0 else at_high
            side = -1
        elif at_centre > 0.0:
            high, at_high, weight_high = centre, at_centre, at_centre
            weight_low = 0.5 * weight_low if side > 0 else at_low
            side = 1
        else:
            return centre, centre
    return low, high
