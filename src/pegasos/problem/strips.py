"""Weighted sums of rows of a matrix, a strip of columns at a time whose sums stay in registers.

A loop over columns inside a loop over the rows would load and store every sum once per row. A
compiler does not keep that many sums in registers of its own accord, so the vectors are written
out here, in the terms of LLVM, which splits them into what a processor has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LINE = 64  # bytes that a processor's cache loads at a time
LINES = 3  # of a strip: one register each where registers are widest
STRIP = LINES * LINE  # bytes
NEAR = 1 << 20  # bytes that a core has in a cache of its own
FEW = 4  # a strip of which one column in so many, or fewer, is used is mostly empty


class Strips(NamedTuple):
    """The columns of a matrix of d rows, all in strips or, if they would take too much, in none.

    Every strip is a matrix of its own, (d, STRIP bytes), and begins where a cache line does. The
    last one is filled up with zeros.
    """

    all: Any
    none: Any


def in_strips(rows: Any, most: int) -> Strips:
    """Return rows as the columns of a matrix, in strips if these have no more columns than most.

    Nor are a few rows put into a strip that is mostly empty and too large for a cache.
    """
    q, d = rows.shape
    kind = rows.dtype
    length, line = STRIP // kind.itemsize, LINE // kind.itemsize
    count = -(-q // length)
    if count * length > most or (FEW * q < length and d * STRIP > NEAR):
        return Strips(np.empty((0, d, length), dtype=kind), np.ascontiguousarray(rows.T))
    room = np.empty(count * d * length + line, dtype=kind)
    skipped = -room.ctypes.data % LINE // kind.itemsize
    strips = room[skipped : skipped + count * d * length].reshape(count, d, length)
    for k in range(count):
        some = rows[k * length : (k + 1) * length]
        strips[k, :, : len(some)] = some.T
        strips[k, :, len(some) :] = 0
    return Strips(strips, np.empty((0, 0), dtype=kind))


def weighted_strip(strip: Any, x: Any, chosen: Any, start: int, stop: int, out: Any) -> None:
    """Write sum_p x[p] strip[chosen[p], k] into out[k], start <= p < stop.

    Arrays are contiguous (others do not compile), the strip is (d, STRIP bytes), `out` no shorter;
    places are not checked.
    """
    out[: strip.shape[1]] = x[start:stop].astype(strip.dtype) @ strip[chosen[start:stop]]


@overload(weighted_strip, strict=False, jit_options={"_nrt": False})
def _weighted_strip(strip: Any, x: Any, chosen: Any, start: Any, stop: Any, out: Any) -> Any:
    is_on_end = all(array.layout == "C" for array in (strip, x, chosen, out))
    if not is_on_end or strip.ndim != 2 or not isinstance(strip.dtype, types.Float):
        return None
    if out.dtype != strip.dtype or not isinstance(chosen.dtype, types.Integer):
        return None

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
