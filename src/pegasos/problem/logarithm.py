"""Logarithms of many numbers at a time, inside any compiled loop.

    x = 2^k m,    sqrt(1/2) <= m <= sqrt(2),    log m = 2 artanh(s),    s = (m - 1) / (m + 1)

artanh(s) = s (1 + s^2 q(s^2)), q the polynomial of degree 6 through it at Chebyshev points, off by
5e-18. log 2 comes in two parts, of which k times the first is exact.

For 1 + e, 0 <= e <= 1, k is 0 or 1, and s is e / (2 + e) or (e - 1) / (e + 3): off by no more than
3 units in the last place. For 0 < x <= 1, k is where a number keeps its exponent, once the bits of
sqrt(1/2) are taken away: off by no more than 2.
"""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import contracting, dividing

SPLIT, LOG_2 = 0.41421356237309503, 0.6931471805599453
LOG_HIGH, LOG_LOW = 0.6931471803691238, 1.9082149292705877e-10
ROOT_OF_HALF, PLACES = 0x3FE6A09E667F3BCD, 52  # bits of sqrt(1/2); bits behind an exponent
LEAST = 2.2250738585072014e-308  # the smallest number with all its places
A0, A1, A2, A3 = 0.3333333333333335, 0.19999999999949722, 0.14285714313002273, 0.11111105564996596
A4, A5, A6 = 0.0909144473898444, 0.07665854912566986, 0.07308297750719289


@contracting
def log_1_plus(e):  # type: ignore[no-untyped-def]
    """Return log(1 + e)."""
    is_large = e > SPLIT
    s = quotient(e - 1.0 if is_large else e, e + 3.0 if is_large else e + 2.0)
    return 2.0 * s * rest(s * s) + (2.0 * s + (LOG_2 if is_large else 0.0))


@contracting
def log_up_to_1(x):  # type: ignore[no-untyped-def]
    """Return log(x) for LEAST <= x <= 1."""
    bits = np.float64(x).view(np.int64)
    k = (bits - ROOT_OF_HALF) >> PLACES
    m = np.int64(bits - (k << PLACES)).view(np.float64)
    s = quotient(m - 1.0, m + 1.0)
    return k * LOG_HIGH + (2.0 * s + (2.0 * s * rest(s * s) + k * LOG_LOW))


@contracting
def rest(t):  # type: ignore[no-untyped-def]
    """Return t q(t), which is artanh(s) / s - 1 for t = s^2."""
    q = ((((A6 * t + A5) * t + A4) * t + A3) * t + A2) * t
    return ((q + A1) * t + A0) * t


@dividing
def quotient(a, b):  # type: ignore[no-untyped-def]
    """Return a / b for b > 0."""
    return a / b
