"""Rows of a matrix with some columns, summed up or added to, in terms of LLVM; or a plain loop.

A loop over the columns inside a loop over rows loads and stores every sum once per row, and tests
each time whether sums and matrix overlap. Here the sums of 16 columns stay in registers, of the
last four with them: alone, they would take as long, each addition waiting for the one before. Sums
are added up in the order of the plain loop: bits do not depend on which is used.
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

FEW, SOME, MANY, MOST = 4, 8, 16, 20  # columns at a time; fewer are left to the plain loop
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
        while k + FEW <= K:
            left = K - k
            if MOST <= left < 2 * MANY:
                _sum(W, x, chosen, (start, stop, k), out, MOST)
                k += MOST
            elif left >= MANY:
                _sum(W, x, chosen, (start, stop, k), out, MANY)
                k += MANY
            elif left >= SOME:
                _sum(W, x, chosen, (start, stop, k), out, SOME)
                k += SOME
            else:
                _sum(W, x, chosen, (start, stop, k), out, FEW)
                k += FEW
        if k < K:  # some are summed up twice
            _sum(W, x, chosen, (start, stop, K - FEW), out, FEW)

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
        while k + FEW <= K:
            left = K - k
            if MOST <= left < 2 * MANY:
                _add(W, x, chosen, (start, stop, k), c, MOST)
                k += MOST
            elif left >= MANY:
                _add(W, x, chosen, (start, stop, k), c, MANY)
                k += MANY
            elif left >= SOME:
                _add(W, x, chosen, (start, stop, k), c, SOME)
                k += SOME
            else:
                _add(W, x, chosen, (start, stop, k), c, FEW)
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
        kind, of_x, of_chosen, _, of_numbers, _ = signature.args
        matrix, weights, places, numbers = (
            context.make_array(known)(context, builder, array)
            for known, array in zip(
                (kind, of_x, of_chosen, of_numbers), (*arguments[:3], arguments[4]), strict=True
            )
        )
        begin, end, first = cgutils.unpack_tuple(builder, arguments[3])
        _, width = cgutils.unpack_tuple(builder, matrix.shape)
        zero = cgutils.int32_t(0)

        def vector_at(array: Any, place: Any, column: int, vector: Any) -> Any:
            address = builder.gep(array.data, [builder.add(place, index(column))])
            return builder.bitcast(address, vector.as_pointer())

        sums = []
        for column, count in _vectors(lanes):
            vector = ir.VectorType(ir.DoubleType(), count)
            own, total = (
                vector_at(numbers, first, column, vector),
                cgutils.alloca_once(builder, vector),
            )
            builder.store(builder.load(own, align=8) if adds else ir.Constant(vector, None), total)
            sums.append((column, vector, own, total))
        with cgutils.for_range_slice(builder, begin, end, index(1), index) as (p, _):
            number = builder.load(builder.gep(weights.data, [p]))
            number = context.cast(builder, number, of_x.dtype, types.float64)
            place = builder.load(builder.gep(places.data, [p]))
            place = context.cast(builder, place, of_chosen.dtype, types.intp)
            place = builder.add(builder.mul(place, width), first)
            for column, vector, _, total in sums:
                undefined = ir.Constant(vector, ir.Undefined)
                to_all = ir.Constant(ir.VectorType(cgutils.int32_t, vector.count), None)
                weight = builder.insert_element(undefined, number, zero)
                weight = builder.shuffle_vector(weight, undefined, to_all)
                row, known = vector_at(matrix, place, column, vector), builder.load(total)
                values = builder.load(row, align=8)
                if adds:
                    builder.store(builder.fadd(values, builder.fmul(known, weight)), row, align=8)
                else:
                    builder.store(builder.fadd(known, builder.fmul(weight, values)), total)
        for _, _, own, total in [] if adds else sums:
            builder.store(builder.load(total), own, align=8)
        return context.get_dummy_value()

    return emit


def _vectors(lanes: int) -> list[tuple[int, int]]:
    """Cut columns into vectors: where each begins, and how many it has."""
    found, column = [], 0
    for count in (MANY, SOME, FEW):
        if column + count <= lanes:
            found.append((column, count))
            column += count
    return found


@intrinsic(prefer_literal=True)
def _sum(typing: Any, W: Any, x: Any, chosen: Any, span: Any, out: Any, lanes: Any) -> Any:
    return _typed(W, x, chosen, out, lanes), _emitter(lanes.literal_value, adds=False)


@intrinsic(prefer_literal=True)
def _add(typing: Any, W: Any, x: Any, chosen: Any, span: Any, c: Any, lanes: Any) -> Any:
    return _typed(W, x, chosen, c, lanes), _emitter(lanes.literal_value, adds=True)


def _typed(W: Any, x: Any, chosen: Any, numbers: Any, lanes: Any) -> Any:
    span = types.UniTuple(types.intp, 3)
    return types.void(W, x, chosen, span, numbers, lanes)


def _try(W, x, chosen):  # type: ignore[no-untyped-def]
    _sum(W, x, chosen, (0, 1, 0), x, FEW)
    _add(W, x, chosen, (0, 1, 0), x, FEW)
