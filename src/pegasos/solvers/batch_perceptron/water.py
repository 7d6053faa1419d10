"""Water filling: how high the stochastic batch perceptron can lift its lowest responses.

Finds   gamma = max_xi min_i c_i + xi_i,   xi >= 0,  sum_i xi_i <= volume = n nu

for responses c_i = y_i <w, phi_i>: the level that this much water reaches over columns of heights
c_i, sum_i max(0, gamma - c_i) = volume. A pivot splits the columns that are still in doubt, and the
volume up to its height says which part is settled, as in quickselect: O(n) and no sorting. Volumes
are sums of terms that are not negative, so nothing cancels, whatever the heights.

Free bias: the columns are c_i + y_i b, and gamma is to be largest over b too. With C+_(j), C-_(j)
the j-th lowest response of each class, 2 gamma is the water level over s_j = C+_(j) + C-_(j),
j <= min(n+, n-), for the same volume (docs/mathematics.md, section 13). The rank up to which water
stands is found by bisection, with one selection in each class: O(n), since the ranks in doubt
halve. Levels gamma+ over C+ and gamma- over C-, with gamma+ + gamma- = 2 gamma, become one at
b = (gamma- - gamma+)/2. Each lies between its k-th and (k+1)-th response; where that leaves a
choice, b is the middle of the interval of best biases, as in [CSS12].

The adversary's distribution p: without a bias uniform over c_i <= gamma; with one, mass 1/2 for
each class, uniform over its k lowest rows. Among rows tied at the k-th place the mass is shared
evenly, which is minimax optimal too and favours no row; so p_i <= 1/(2k) always.

`scratch` has the shape of c and is overwritten; heights must be finite, a volume at least 0. Pivots
come from fixed irregular places: sorted, reversed or equal heights are no bad case.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Sec. 3.2, 3.6, Algorithms 2, 3. Differs, for as printed they are wrong. Algorithm 2 misses
         that all rows can be under water (`upper` must start at n + 1) and stalls on a pivot of
         rank `lower`. In Algorithm 3, likewise `upper` = n+- + 1; lines 27 and 33 move the wrong
         bound (direction > 0 must raise `lower`); lines 40 and 41 need <= for <.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.dispatch import inlined, kernel, reordering_sums

GOLDEN = 0.6180339887498949  # its multiples modulo 1 are spread evenly, without a pattern


class BalancedLevel(NamedTuple):
    """The water level with a free bias: k rows of each class are under water.

    `low_plus` and `low_minus` are the k-th lowest responses of each class, before the bias b.
    """

    gamma: float
    b: float
    k: int
    low_plus: float
    low_minus: float


@kernel
def water_level(c, volume, scratch):  # type: ignore[no-untyped-def]
    """Return gamma with sum_i max(0, gamma - c_i) = volume; the least c_i if that is 0."""
    for i in range(len(c)):
        scratch[i] = c[i]
    lower, upper = 0, len(c)                                   # [CSS12] Alg. 2; ranks from 0
    lower_max, lower_volume = 0.0, 0.0
    while lower < upper:                                       # scratch[:lower] is under water
        height = ninther(scratch, lower, upper)
        middle = partition(scratch, lower, upper, height, False)  # line 5
        middle_volume = (                                      # lines 6-8
            lower_volume
            + lower * (height - lower_max)
            + room(scratch, lower, middle, height)
        )
        if middle_volume > volume:                             # line 9; never at the lowest column
            upper = middle
        else:                                                  # line 11
            if middle == lower:  # the pivot is the least: it is under water with its equals
                middle = partition(scratch, lower, upper, height, True)
            lower, lower_max, lower_volume = middle, height, middle_volume
    return lower_max + (volume - lower_volume) / lower         # line 12


@kernel
def balanced_water_level(c, y, volume, scratch):  # type: ignore[no-untyped-def]
    """Return the water level over c + y b at the best bias b, as a `BalancedLevel`.

    Rows with y_i > 0 and others must both occur: over one class alone, b lifts without end.
    """
    n_plus = split(c, y, scratch)
    plus, minus = scratch[:n_plus], scratch[n_plus:]
    lower, upper = 0, min(len(plus), len(minus))
    low_plus, low_minus, lower_volume = 0.0, 0.0, 0.0          # the highest under water so far
    high_plus, high_minus = select(plus, 0, len(plus), upper), select(minus, 0, len(minus), upper)
    while lower < upper:                                       # ranks below `lower` are under water
        middle = (lower + upper) // 2
        top_plus = select(plus, lower, upper, middle)
        top_minus = select(minus, lower, upper, middle)
        middle_volume = (                                      # up to s = top_plus + top_minus
            lower_volume
            + lower * ((top_plus - low_plus) + (top_minus - low_minus))
            + room(plus, lower, middle, top_plus)
            + room(minus, lower, middle, top_minus)
        )
        if middle_volume > volume:                             # never at rank 0
            upper, high_plus, high_minus = middle, top_plus, top_minus
        else:
            lower, lower_volume = middle + 1, middle_volume
            low_plus, low_minus = top_plus, top_minus

    rise = (volume - lower_volume) / lower                     # [CSS12] Alg. 3, lines 39-43
    rise_plus, rise_minus = min(rise, high_plus - low_plus), min(rise, high_minus - low_minus)
    gamma_plus = low_plus + 0.5 * (rise + rise_plus - rise_minus)
    gamma_minus = low_minus + 0.5 * (rise - rise_plus + rise_minus)
    gamma, b = 0.5 * (gamma_plus + gamma_minus), 0.5 * (gamma_minus - gamma_plus)
    return BalancedLevel(gamma, b, lower, low_plus, low_minus)


@inlined
def split(c, y, scratch):  # type: ignore[no-untyped-def]
    """Write c into `scratch`, rows with y_i > 0 in front; return how many these are."""
    n, n_plus = len(c), 0
    for i in range(n):  # into the free place at each end: the wrong one is overwritten
        scratch[n_plus] = c[i]
        scratch[n - 1 - i + n_plus] = c[i]
        n_plus += y[i] > 0.0
    return n_plus


@inlined
def select(values, first, last, j):  # type: ignore[no-untyped-def]
    """Return the value of rank j among values[first:last], permuted in place; inf if j = last.

    The value ends up in place j, with none greater before it and none less behind it.
    """
    if j >= last:
        return np.inf
    while True:
        height = ninther(values, first, last)
        left = partition(values, first, last, height, False)
        if j < left:
            last = left
        elif left > first:
            first = left
        else:  # the pivot is the least: set it and its equals aside
            first = partition(values, first, last, height, True)
            if j < first:
                return height


@inlined
def partition(values, first, last, height, has_ties):  # type: ignore[no-untyped-def]
    """Move what is below `height`, or with ties not above, to the front; return where it ends."""
    part, end = values[first:last], 0
    for t in range(len(part)):  # no branch to mispredict
        x = part[t]
        part[t] = part[end]
        part[end] = x
        end += not x > height if has_ties else x < height  # `not >`: a NaN counts, none hangs
    return first + end


@reordering_sums
def room(values, first, last, height):  # type: ignore[no-untyped-def]
    """Return the volume of water over the columns values[first:last], all below `height`."""
    part, total = values[first:last], 0.0
    for t in range(len(part)):
        total += height - part[t]
    return total


@inlined
def ninther(values, first, last):  # type: ignore[no-untyped-def]
    """Return the median of three medians of three of values[first:last]."""
    return median(
        median(*triple(values, first, last, 1)),
        median(*triple(values, first, last, 4)),
        median(*triple(values, first, last, 7)),
    )


@inlined
def triple(values, first, last, t):  # type: ignore[no-untyped-def]
    """Return the values at the places t, t + 1, t + 2 of an irregular sequence."""
    size = last - first
    return (
        values[first + int(t * GOLDEN % 1.0 * size)],
        values[first + int((t + 1) * GOLDEN % 1.0 * size)],
        values[first + int((t + 2) * GOLDEN % 1.0 * size)],
    )


@inlined
def median(x, y, z):  # type: ignore[no-untyped-def]
    """Return the middle one of three numbers."""
    return max(min(x, y), min(max(x, y), z))
