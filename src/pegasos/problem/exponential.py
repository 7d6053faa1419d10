"""exp(min(x, 0)), of many numbers at a time, inside any compiled loop.

    x = n log 2 + r,    |r| <= log(2) / 2,    exp(x) = 2^n (1 + r + r^2 q(r))

n is what remains of x / log 2 when a number so large that it has no binary places is added and
taken away; its last bits, moved to where a number keeps its exponent, are 2^n. log 2 comes in two
parts, of which the first times n is exact. q is the polynomial through (exp(r) - 1 - r) / r^2 at
Chebyshev points, of degree 4 in single precision (where it is off by 1e-8) and 9 in double (2e-17).

Off by no more than 2 units in the last place, half of one where a value is typical. Below LOWEST,
where numbers would lose their leading bit, the result is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from pegasos.dispatch import contracting
from pegasos.numba_private.intrinsics import WHOLE_DOUBLE, WHOLE_SINGLE, power_of_two
from pegasos.numba_private.options import INLINED

LOWEST = {np.dtype(np.float32): -87.0, np.dtype(np.float64): -708.0}

F = np.float32
LOWEST32, WHOLE32 = F(-87.0), WHOLE_SINGLE
PER_LOG32, LOG_HIGH32, LOG_LOW32 = F(1.4426950408889634), F(0.693359375), F(-2.1219444005469057e-4)
A2, A3, A4 = F(0.5), F(0.1666657702559799), F(0.041666554662050534)
A5, A6, ZERO32, ONE32 = F(0.008363173074513711), F(0.001392617611993558), F(0.0), F(1.0)

LOWEST64, WHOLE64 = -708.0, WHOLE_DOUBLE
PER_LOG64, LOG_HIGH64, LOG_LOW64 = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
B2, B3, B4, B5 = 0.5, 0.16666666666666669, 0.041666666666624164, 0.008333333333330065
B6, B7, B8 = 0.0013888888917196719, 0.00019841269863040545, 2.4801521322368692e-05
B9, B10, B11 = 2.7557268480310024e-06, 2.7620075879983367e-07, 2.5100375832561234e-08


def exp_up_to_1(x: Any) -> Any:
    """Return exp(x) of a float32 or float64 number, 1 if it is not below 0, NaN included."""
    kind = np.float32 if isinstance(x, np.float32) else np.float64
    if not x < 0.0:
        return kind(1.0)
    return kind(np.exp(float(x)) if x >= LOWEST[np.dtype(kind)] else 0.0)


@overload(exp_up_to_1, strict=False, jit_options=INLINED)
def _exp_up_to_1(x: Any) -> Any:
    if x == types.float32:
        return lambda x: _single(x)
    return (lambda x: _double(x)) if x == types.float64 else None


@contracting
def _single(x):  # type: ignore[no-untyped-def]
    negative = x if x < ZERO32 else ZERO32
    bounded = negative if negative > LOWEST32 else LOWEST32
    shifted = bounded * PER_LOG32 + WHOLE32
    n = shifted - WHOLE32
    r = (bounded - n * LOG_HIGH32) - n * LOG_LOW32
    q = (((A6 * r + A5) * r + A4) * r + A3) * r + A2
    value = ((q * (r * r) + r) + ONE32) * power_of_two(shifted)
    return value if negative >= LOWEST32 else ZERO32


@contracting
def _double(x):  # type: ignore[no-untyped-def]
    negative = x if x < 0.0 else 0.0
    bounded = negative if negative > LOWEST64 else LOWEST64
    shifted = bounded * PER_LOG64 + WHOLE64
    n = shifted - WHOLE64
    r = (bounded - n * LOG_HIGH64) - n * LOG_LOW64
    q = ((((B11 * r + B10) * r + B9) * r + B8) * r + B7) * r + B6
    q = (((q * r + B5) * r + B4) * r + B3) * r + B2
    value = ((q * (r * r) + r) + 1.0) * power_of_two(shifted)
    return value if negative >= LOWEST64 else 0.0
