"""The water level that suits lam: how much slack a direction w should use, found like water levels.

Finds   gamma = 1/s,  s = argmin_s P_lam(s w) = lam/2 s^2 ||w||^2 + 1/n sum_i (1 - s c_i)_+

for responses c_i = y_i <w, phi_i>. The slope in s is (stiffness/gamma - sum_{c_i < gamma} c_i) / n,
stiffness = n lam ||w||^2, and falls as gamma rises. So a pivot splits the columns still in doubt,
and its slope says on which side gamma lies, as in `water`: O(n), no sorting. The slope jumps at
every column: gamma is often one, which then counts in part for the adversary's answer b, with
b_i = 1 below gamma, 0 above and sum_i b_i c_i = stiffness/gamma. `mass` = sum_i b_i; p* = b / mass.

Free bias: 2 gamma is found among the sums s_j of the j-th lowest responses of both classes, as
gamma is among the c_i. Derived in docs/mathematics.md, section 13.

A w with which nothing is gained (as at w = 0) is best at length 0: gamma is infinite, and all rows
are under water.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import inlined, kernel, reordering_sums
from pegasos.solvers.batch_perceptron.water import ninther, partition, select, split

LEAST_MASS = 1e-12  # in rows: less is lost in rounding


class BestLevel(NamedTuple):
    """The level, and the sum of b; with a free bias that of each class.

    `low_plus` and `low_minus` are the highest responses of each class with b > 0, or gamma itself.
    """

    gamma: float
    mass: float
    low_plus: float
    low_minus: float


def best_scale(c: FloatArray, y: FloatArray, is_free: bool, stiffness: float) -> float:
    """Return the s >= 0 with the least P_lam(s w), at the best bias if that is free."""
    scratch = np.empty_like(c)
    if is_free:
        return 1.0 / float(balanced_best_level(c, y, stiffness, scratch).gamma)
    return 1.0 / float(best_level(c, stiffness, scratch).gamma)


@kernel
def best_level(c, stiffness, scratch):  # type: ignore[no-untyped-def]
    """Return the level for responses c; `scratch` has the shape of c and is overwritten."""
    for i in range(len(c)):
        scratch[i] = c[i]
    lower = partition(scratch, 0, len(c), 0.0, True)  # never above water
    upper, low, high = len(c), 0.0, np.inf
    lower_sum = total(scratch, 0, lower)
    while lower < upper:  # scratch[:lower] is under water
        height = ninther(scratch, lower, upper)
        middle = partition(scratch, lower, upper, height, False)
        middle_sum = lower_sum + total(scratch, lower, middle)
        if middle_sum * height >= stiffness:
            upper, high = middle, height
        else:
            if middle == lower:  # the pivot is the least: it is under water with its equals
                middle = partition(scratch, lower, upper, height, True)
                middle_sum = lower_sum + total(scratch, lower, middle)
            lower, low, lower_sum = middle, max(low, height), middle_sum
    gamma = level_between(stiffness, lower_sum, low, high)
    mass = max(LEAST_MASS, lower + (stiffness / gamma - lower_sum) / gamma)
    return BestLevel(gamma, mass, gamma, gamma)


@kernel
def balanced_best_level(c, y, stiffness, scratch):  # type: ignore[no-untyped-def]
    """Return the level over c + y b at the best bias b; rows of both classes must occur."""
    n_plus = split(c, y, scratch)
    plus, minus = scratch[:n_plus], scratch[n_plus:]
    lower, upper = 0, min(len(plus), len(minus))
    low, high, lower_sum = 0.0, np.inf, 0.0
    low_plus, low_minus = 0.0, 0.0  # the highest under water so far
    high_plus, high_minus = select(plus, 0, len(plus), upper), select(minus, 0, len(minus), upper)
    while lower < upper:  # ranks below `lower` are under water
        middle = (lower + upper) // 2
        top_plus = select(plus, lower, upper, middle)
        top_minus = select(minus, lower, upper, middle)
        height = 0.5 * (top_plus + top_minus)
        middle_sum = lower_sum + 0.5 * (total(plus, lower, middle) + total(minus, lower, middle))
        if height > 0.0 and 2.0 * middle_sum * height >= stiffness:
            upper, high, high_plus, high_minus = middle, height, top_plus, top_minus
        else:
            lower, lower_sum = middle + 1, middle_sum + height
            low, low_plus, low_minus = max(low, height), top_plus, top_minus
    gamma = level_between(0.5 * stiffness, lower_sum, low, high)
    mass = max(LEAST_MASS, lower + (0.5 * stiffness / gamma - lower_sum) / gamma)
    if gamma == high and gamma < np.inf:
        low_plus, low_minus = high_plus, high_minus
    return BestLevel(gamma, mass, low_plus, low_minus)


@inlined
def level_between(stiffness, lower_sum, low, high):  # type: ignore[no-untyped-def]
    """Return where the slope is 0 with these columns under water, between the two around it."""
    gamma = stiffness / lower_sum if lower_sum > 0.0 else np.inf
    return min(high, max(low, gamma))


@reordering_sums
def total(values, first, last):  # type: ignore[no-untyped-def]
    """Return the sum of values[first:last]."""
    part, found = values[first:last], 0.0
    for t in range(len(part)):
        found += part[t]
    return found
