"""log(1 + e) for 0 <= e <= 1, of many numbers at a time, inside any compiled loop.

    1 + e = 2^k m,    sqrt(1/2) <= m <= sqrt(2),    log m = 2 artanh(s),    s = (m - 1) / (m + 1)

k is 0 or 1, and s is e / (2 + e) or (e - 1) / (e + 3). artanh(s) = s (1 + s^2 q(s^2)), q the
polynomial of degree 6 through it at Chebyshev points, off by 5e-18.

Off by no more than 3 units in the last place.
"""

from __future__ import annotations

from pegasos.dispatch import contracting, dividing

SPLIT, LOG_2 = 0.41421356237309503, 0.6931471805599453
A0, A1, A2, A3 = 0.3333333333333335, 0.19999999999949722, 0.14285714313002273, 0.11111105564996596
A4, A5, A6 = 0.0909144473898444, 0.07665854912566986, 0.07308297750719289


@contracting
def log_1_plus(e):  # type: ignore[no-untyped-def]
    """Return log(1 + e)."""
    is_large = e > SPLIT
    s = quotient(e - 1.0 if is_large else e, e + 3.0 if is_large else e + 2.0)
    t = s * s
    q = ((((A6 * t + A5) * t + A4) * t + A3) * t + A2) * t
    q = (q + A1) * t + A0
    return 2.0 * s * (q * t) + (2.0 * s + (LOG_2 if is_large else 0.0))


@dividing
def quotient(a, b):  # type: ignore[no-untyped-def]
    """Return a / b for b > 0."""
    return a / b
