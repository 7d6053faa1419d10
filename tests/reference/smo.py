"""SMO with everything recomputed at every step: residuals from K, prices from beta, all gains."""

from typing import NamedTuple

import numpy as np

FLAT, NONE = 1e-12, 1e-100


class Dual(NamedTuple):
    """sum_i y_i beta_i - epsilon abs(beta_i) - 1/2 beta' (K + diag(ridge)) beta, within bounds."""

    K: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    epsilon: float
    ridge: np.ndarray


def value(dual, beta):
    """The dual objective."""
    Q = dual.K + np.diag(dual.ridge)
    return dual.y @ beta - dual.epsilon * np.abs(beta).sum() - 0.5 * beta @ Q @ beta


def prices(dual, beta):
    """What raising each beta_i pays per unit, and what lowering it costs."""
    r = dual.y - (dual.K + np.diag(dual.ridge)) @ beta
    up = r + np.where(beta >= 0.0, -dual.epsilon, dual.epsilon)
    down = r + np.where(beta > 0.0, -dual.epsilon, dual.epsilon)
    return np.where(beta >= dual.high, -np.inf, up), np.where(beta <= dual.low, np.inf, down)


def rooms(dual, beta):
    """How far each beta_i may rise and fall before its price changes."""
    rise, fall = dual.high - beta, beta - dual.low
    return (np.where(beta < 0.0, np.minimum(rise, -beta), rise),
            np.where(beta > 0.0, np.minimum(fall, beta), fall))


def snapped(dual, beta):
    """Put coefficients that rounding keeps from 0 or a bound there."""
    for place in (np.zeros_like(beta), dual.low, dual.high):
        beta = np.where(np.abs(beta - place) <= 1e-13 * np.abs(beta).max(), place, beta)
    return beta


def pair_step(dual, beta):
    """[FCL05] WSS 2: i pays most to raise, j by the gain of the exact step; None at the optimum."""
    up, down = prices(dual, beta)
    i = int(np.argmax(up))
    diagonal = np.diag(dual.K) + dual.ridge
    a = np.maximum(diagonal[i] + diagonal - 2.0 * dual.K[i],
                   np.maximum(FLAT * (abs(diagonal[i]) + np.abs(diagonal)), NONE))
    b = np.where(np.isfinite(down), up[i] - np.where(np.isfinite(down), down, 0.0), -np.inf)
    gain = np.where(b > 0.0, b * b / a, 0.0)
    j = int(np.argmax(gain))
    if not gain[j] > 0.0:
        return None
    rise, fall = rooms(dual, beta)
    step = min(b[j] / a[j], rise[i], fall[j])
    new = beta.copy()
    new[i], new[j] = new[i] + step, new[j] - step
    return new


def single_step(dual, beta):
    """Move the coefficient whose exact step gains most; None at the optimum."""
    up, down = prices(dual, beta)
    v = np.maximum(up, -down)
    curvature = np.maximum(np.diag(dual.K) + dual.ridge, NONE)
    gain = np.where(v > 0.0, v * v / curvature, -1.0)
    i = int(np.argmax(gain))
    if not gain[i] > 0.0:
        return None
    rise, fall = rooms(dual, beta)
    new = beta.copy()
    if up[i] >= -down[i]:
        new[i] += min(up[i] / curvature[i], rise[i])
    else:
        new[i] += max(down[i] / curvature[i], -fall[i])
    return new


def lead(values):
    """By how much the largest value exceeds the next, relative to it."""
    second, first = np.sort(values)[-2:]
    return (first - second) / abs(first) if np.isfinite(second) else 1.0


def ascend(dual, beta, steps, is_free):
    """Take so many steps, fewer at the optimum or before a choice that rounding would decide."""
    path = [beta]
    for _ in range(steps):
        up, down = prices(dual, path[-1])
        if path[-1].any() and lead(up if is_free else np.maximum(up, -down)) < 1e-9:
            break
        new = (pair_step if is_free else single_step)(dual, path[-1])
        if new is None:
            break
        path.append(snapped(dual, new))
    return path


def violation(dual, beta, is_free):
    """How much more raising one coefficient pays than lowering another costs, or either alone."""
    up, down = prices(dual, beta)
    if is_free:
        return max(0.0, float(up.max() - down.min()))
    return max(0.0, float(np.maximum(up, -down).max()))
