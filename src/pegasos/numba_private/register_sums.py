"""Weighted sums of rows of a matrix that stay in registers, in terms of LLVM; or a plain loop.

As `intrinsics`, of what else Numba's intrinsics are handed: arrays, loops and vectors.
"""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic, overload

from pegasos.numba_private.intrinsics import compiles
from pegasos.numba_private.options import INLINED, UNCOUNTED

try:
    from numba.core import cgutils
except ImportError:
    cgutils = None

LINE = 64  # bytes that a processor's cache loads at a time
LINES = 3  # of a strip: one register each where registers are widest


def weighted_strip(strip: Any, x: Any, chosen: Any, start: int, stop: int, out: Any) -> None:
    """Write sum_p x[p] strip[chosen[p], k] into out[k], start <= p < stop.

    Arrays are contiguous (others do not compile), the strip is (d, STRIP bytes), `out` no shorter;
    places are not checked.
    """
    out[: strip.shape[1]] = x[start:stop].astype(strip.dtype) @ strip[chosen[start:stop]]


@overload(weighted_strip, strict=False, jit_options=UNCOUNTED)
def _weighted_strip(strip: Any, x: Any, chosen: Any, start: Any, stop: Any, out: Any) -> Any:
    is_on_end = all(array.layout == "C" for array in (strip, x, chosen, out))
    if not is_on_end or strip.ndim != 2 or not isinstance(strip.dtype, types.Float):
        return None
    if out.dtype != strip.dtype or not isinstance(chosen.dtype, types.Integer):
        return None
    if not compiles("sum in registers", _try_sum, "void(float64[:, ::1], float64[::1], intp[::1])"):

        def call_plain(strip, x, chosen, start, stop, out):  # type: ignore[no-untyped-def]
            _plain_sum(strip, x, chosen, start, stop, out)

        return call_plain

    def call(strip, x, chosen, start, stop, out):  # type: ignore[no-untyped-def]
        _sum_in_registers(strip, x, chosen, start, stop, out)

    return call


@intrinsic
def _sum_in_registers(
    typing: Any, strip: Any, x: Any, chosen: Any, start: Any, stop: Any, out: Any
) -> Any:
    """Emit the loop of `weighted_strip`."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ir, index = cgutils.ir, cgutils.intp_t
        matrix, weights, places, sums = (
            context.make_array(signature.args[a])(context, builder, arguments[a])
            for a in (0, 1, 2, 5)
        )
        value = context.get_value_type(strip.dtype)
        lanes = LINE * 8 // strip.dtype.bitwidth
        vector = ir.VectorType(value, lanes)
        undefined = ir.Constant(vector, ir.Undefined)
        to_all = ir.Constant(ir.VectorType(cgutils.int32_t, lanes), None)
        totals = [cgutils.alloca_once(builder, vector) for _ in range(LINES)]
        for total in totals:
            builder.store(ir.Constant(vector, None), total)
        vectors = builder.bitcast(matrix.data, vector.as_pointer())
        begin, end = arguments[3], arguments[4]
        with cgutils.for_range_slice(builder, begin, end, index(1), index) as (p, _):
            weight = builder.load(builder.gep(weights.data, [p]))
            weight = context.cast(builder, weight, x.dtype, strip.dtype)
            weight = builder.insert_element(undefined, weight, cgutils.int32_t(0))
            weight = builder.shuffle_vector(weight, undefined, to_all)
            place = builder.load(builder.gep(places.data, [p]))
            place = context.cast(builder, place, chosen.dtype, types.intp)
            place = builder.mul(place, index(LINES))
            for k, total in enumerate(totals):
                address = builder.gep(vectors, [builder.add(place, index(k))])
                values = builder.load(address, align=LINE)
                change = builder.fmul(weight, values, flags=("contract",))
                changed = builder.fadd(builder.load(total), change, flags=("contract",))
                builder.store(changed, total)
        row = builder.bitcast(sums.data, vector.as_pointer())
        for k, total in enumerate(totals):
            address = builder.gep(row, [index(k)])
            builder.store(builder.load(total), address, align=strip.dtype.bitwidth // 8)
        return context.get_dummy_value()

    integers = types.intp
    return types.void(strip, x, chosen, integers, integers, out), emit


@numba.njit(nogil=True, fastmath={"contract"}, **INLINED)
def _plain_sum(strip, x, chosen, start, stop, out):  # type: ignore[no-untyped-def]
    for k in range(strip.shape[1]):
        out[k] = 0
    for p in range(start, stop):
        weight, place = strip.dtype.type(x[p]), chosen[p]
        for k in range(strip.shape[1]):
            out[k] += weight * strip[place, k]


def _try_sum(strip, x, chosen):  # type: ignore[no-untyped-def]
    _sum_in_registers(strip, x, chosen, 0, 1, x)
