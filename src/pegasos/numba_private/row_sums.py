"""Rows of a matrix with some columns, summed up or added to, in terms of LLVM; or a plain loop.

A loop over the columns inside a loop over rows loads and stores every sum once per row, and tests
each time whether sums and matrix overlap. Here the sums of 16 columns, or of four, stay in
registers. Sums are added up in the order of the plain loop: bits do not depend on which is used.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from pegasos.numba_private.intrinsics import compiles
from pegasos.numba_private.options import INLINED

try:
    from numba.core import cgutils
except ImportError:
    cgutils = None

FEW, MANY = 4, 16  # columns at a time; fewer than FEW are left to the plain loop
TRIAL = "void(float64[:, ::1], float64[::1], intp[::1])"


def sum_rows(W: Any, x: Any, chosen: Any, start: int, stop: int, out: Any) -> None:
    """Write sum_p x[p] W[chosen[p], k] into out[k], start <= p < stop; places are not checked."""
    out[:] = 0.0
    for p in range(start, stop):
        out += x[p] * W[chosen[p]]


def add_to_rows(W: Any, x: Any, chosen: Any, start: int, stop: int, c: Any) -> None:
    """Add x[p] c[k] to W[chosen[p], k] for start <= p < stop; places are not checked."""
    for p in range(start, stop):
        W[chosen[p]] += c * x[p]


@overload(sum_rows, strict=False, jit_options=INLINED)
def _sum_rows(W: Any, x: Any, chosen: Any, start: Any, stop: Any, out: Any) -> Any:
    def plain(W, x, chosen, start, stop, out):  # type: ignore[no-untyped-def]
        out[:] = 0.0
        for p in range(start, stop):
            weight, place = x[p], chosen[p]
            for k in range(W.shape[1]):
                out[k] += weight * W[place, k]

    def in_registers(W, x, chosen, start, stop, out):  # type: ignore[no-untyped-def]
        K, k = W.shape[1], 0
        if K < FEW:
            out[:] = 0.0
            for p in range(start, stop):
                weight, place = x[p], chosen[p]
                for q in range(K):
                    out[q] += weight * W[place, q]
            return
        while k + MANY <= K:
            _sum_many(W, x, chosen, start, stop, k, out)
            k += MANY
        while k < K:
            k = min(k, K - FEW)  # some of the last may be summed up twice
            _sum_few(W, x, chosen, start, stop, k, out)
            k += FEW

    return in_registers if _is_possible(W, x, chosen, out) else plain


@overload(add_to_rows, strict=False, jit_options=INLINED)
def _add_to_rows(W: Any, x: Any, chosen: Any, start: Any, stop: Any, c: Any) -> Any:
    def plain(W, x, chosen, start, stop, c):  # type: ignore[no-untyped-def]
        for p in range(start, stop):
            weight, place = x[p], chosen[p]
            for k in range(W.shape[1]):
                W[place, k] += c[k] * weight

    def in_registers(W, x, chosen, start, stop, c):  # type: ignore[no-untyped-def]
        K, k = W.shape[1], 0
        while k + MANY <= K:
            _add_many(W, x, chosen, start, stop, k, c)
            k += MANY
        while k + FEW <= K:
            _add_few(W, x, chosen, start, stop, k, c)
            k += FEW
        if k < K:
            for p in range(start, stop):
                weight, place = x[p], chosen[p]
                for q in range(k, K):
                    W[place, q] += c[q] * weight

    return in_registers if _is_possible(W, x, chosen, c) else plain


def _is_possible(W: Any, x: Any, chosen: Any, other: Any) -> bool:
    """Whether arrays are such that vectors may be read from them, and Numba lets us."""
    is_on_end = all(array.layout == "C" for array in (W, x, chosen, other))
    is_double = W.ndim == 2 and W.dtype == types.float64 and other.dtype == types.float64
    return (
        is_on_end and is_double and isinstance(chosen.dtype, types.Integer)
        and compiles("sum of rows", _try, TRIAL)
    )  # fmt: skip


def _emitter(lanes: int, adds: bool) -> Any:
    """Return what emits a loop over p for so many columns, from `first` on."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ir, index = cgutils.ir, cgutils.intp_t
        kind, of_x, of_chosen, *_, of_numbers = signature.args
        matrix, weights, places, numbers = (
            context.make_array(known)(context, builder, array)
            for known, array in zip(
                (kind, of_x, of_chosen, of_numbers), (*arguments[:3], arguments[6]), strict=True
            )
        )
        begin, end, first = arguments[3:6]
        _, width = cgutils.unpack_tuple(builder, matrix.shape)
        vector = ir.VectorType(ir.DoubleType(), lanes)
        undefined = ir.Constant(vector, ir.Undefined)
        to_all = ir.Constant(ir.VectorType(cgutils.int32_t, lanes), None)
        own = builder.bitcast(builder.gep(numbers.data, [first]), vector.as_pointer())
        total = cgutils.alloca_once(builder, vector)
        builder.store(builder.load(own, align=8) if adds else ir.Constant(vector, None), total)
        with cgutils.for_range_slice(builder, begin, end, index(1), index) as (p, _):
            weight = builder.load(builder.gep(weights.data, [p]))
            weight = context.cast(builder, weight, of_x.dtype, types.float64)
            weight = builder.insert_element(undefined, weight, cgutils.int32_t(0))
            weight = builder.shuffle_vector(weight, undefined, to_all)
            place = builder.load(builder.gep(places.data, [p]))
            place = context.cast(builder, place, of_chosen.dtype, types.intp)
            place = builder.add(builder.mul(place, width), first)
            row = builder.bitcast(builder.gep(matrix.data, [place]), vector.as_pointer())
            values = builder.load(row, align=8)
            if adds:
                changed = builder.fadd(values, builder.fmul(builder.load(total), weight))
                builder.store(changed, row, align=8)
            else:
                changed = builder.fadd(builder.load(total), builder.fmul(weight, values))
                builder.store(changed, total)
        if not adds:
            builder.store(builder.load(total), own, align=8)
        return context.get_dummy_value()

    return emit


def _typed(W: Any, x: Any, chosen: Any, numbers: Any) -> Any:
    integers = [types.intp] * 3
    return types.void(W, x, chosen, *integers, numbers)


@intrinsic
def _sum_many(typing: Any, W: Any, x: Any, chosen: Any, start: Any, stop: Any, first: Any, out: Any) -> Any:  # fmt: skip  # noqa: E501
    return _typed(W, x, chosen, out), _emitter(MANY, adds=False)


@intrinsic
def _sum_few(typing: Any, W: Any, x: Any, chosen: Any, start: Any, stop: Any, first: Any, out: Any) -> Any:  # fmt: skip  # noqa: E501
    return _typed(W, x, chosen, out), _emitter(FEW, adds=False)


@intrinsic
def _add_many(typing: Any, W: Any, x: Any, chosen: Any, start: Any, stop: Any, first: Any, c: Any) -> Any:  # fmt: skip  # noqa: E501
    return _typed(W, x, chosen, c), _emitter(MANY, adds=True)


@intrinsic
def _add_few(typing: Any, W: Any, x: Any, chosen: Any, start: Any, stop: Any, first: Any, c: Any) -> Any:  # fmt: skip  # noqa: E501
    return _typed(W, x, chosen, c), _emitter(FEW, adds=True)


def _try(W, x, chosen):  # type: ignore[no-untyped-def]
    _sum_many(W, x, chosen, 0, 1, 0, x)
    _sum_few(W, x, chosen, 0, 1, 0, x)
    _add_many(W, x, chosen, 0, 1, 0, x)
    _add_few(W, x, chosen, 0, 1, 0, x)
