"""Instructions that Python has no words for, in terms of LLVM; plain code where they fail.

`numba.core.cgutils`, the contexts and builders that an intrinsic is handed, and llvmlite's `ir`
(Numba 0.49). What fails does so when a loop is compiled; then the loop would be lost. Each
instruction is therefore compiled once by itself before the first loop that would use it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from pegasos.numba_private import note_absence
from pegasos.numba_private.options import INLINED

try:
    from numba.core import cgutils
except ImportError:
    cgutils = None

EXPONENT = {32: (23, 127), 64: (52, 1023)}  # bits behind it, and what stands for 2^0
WHOLE_SINGLE, WHOLE_DOUBLE = np.float32(1.5 * 2.0**23), 1.5 * 2.0**52  # leave no binary places


@functools.cache
def compiles(name: str, trial: Callable[..., None], signature: str) -> bool:
    """Whether Numba can compile a function that uses an instruction."""
    try:
        numba.njit(signature, **INLINED)(trial)
    except Exception as error:
        note_absence(f"the instruction {name}", error)
        return False
    return True


# ---- fetch from memory ahead of time


@intrinsic
def _prefetch_address(typing_context: Any, array: Any, index: Any) -> Any:
    """Emit llvm.prefetch for array[index] (read, keep in all cache levels)."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, _ = signature.args
        view = context.make_array(array_type)(context, builder, arguments[0])
        address = builder.gep(view.data, [arguments[1]])
        byte = cgutils.voidptr_t
        function = cgutils.get_or_insert_function(
            builder.module,
            cgutils.ir.FunctionType(cgutils.ir.VoidType(), [byte, *[cgutils.int32_t] * 3]),
            "llvm.prefetch.p0",
        )
        hints = [cgutils.int32_t(0), cgutils.int32_t(3), cgutils.int32_t(1)]
        builder.call(function, [builder.bitcast(address, byte), *hints])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


def _try_prefetch(array):  # type: ignore[no-untyped-def]
    _prefetch_address(array, 0)


def prefetch(array: Any, position: int) -> None:
    """Ask the processor to fetch flat position `position` of a contiguous array; no effect else."""


@overload(prefetch, strict=False)
def _prefetch(array: Any, position: Any) -> Any:
    if compiles("prefetch", _try_prefetch, "void(float64[::1])"):
        return lambda array, position: _prefetch_address(array, position)
    return lambda array, position: None


# ---- the larger of two numbers


@intrinsic
def _larger_number(typing_context: Any, a: Any, b: Any) -> Any:
    """Emit a choice of which the compiler is told that neither number is NaN."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = arguments
        known = ("nnan", "nsz")
        is_larger = builder.fcmp_ordered(">", first, second, flags=known)
        return builder.select(is_larger, first, second, flags=known)

    return types.float64(types.float64, types.float64), emit


def _try_larger(a):  # type: ignore[no-untyped-def]
    a[0] = _larger_number(a[0], a[1])


def larger(a: float, b: float) -> float:
    """Return the larger of two numbers, none NaN: a loop that looks for the largest vectorises.

    With `max` it does not, whatever is said about NaN in the options of the loop.
    """
    return a if a > b else b


@overload(larger, strict=False, jit_options=INLINED)
def _larger(a: Any, b: Any) -> Any:
    if compiles("larger", _try_larger, "void(float64[::1])"):
        return lambda a, b: _larger_number(a, b)
    return lambda a, b: float(a) if a > b else float(b)


# ---- a power of two


@intrinsic
def _moved_bits(typing: Any, shifted: Any) -> Any:
    """Emit 2^n of the whole number in the last bits of `shifted`, by moving them."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = shifted.bitwidth
        behind, zero = EXPONENT[width]
        whole = cgutils.ir.IntType(width)
        bits = builder.shl(builder.bitcast(arguments[0], whole), whole(behind))
        bits = builder.add(bits, whole(zero << behind))
        return builder.bitcast(bits, arguments[0].type)

    return shifted(shifted), emit


def _try_power(a):  # type: ignore[no-untyped-def]
    a[0] = _moved_bits(a[0])


def power_of_two(shifted: Any) -> Any:
    """Return 2^n of `shifted`, which is n + WHOLE_SINGLE or n + WHOLE_DOUBLE by its type.

    n is an exponent that normal numbers have.
    """
    whole = WHOLE_SINGLE if isinstance(shifted, np.float32) else WHOLE_DOUBLE
    return type(shifted)(math.ldexp(1.0, int(shifted - whole)))


@overload(power_of_two, strict=False, jit_options=INLINED)
def _power_of_two(shifted: Any) -> Any:
    if compiles("power of two", _try_power, "void(float32[::1])"):
        return lambda shifted: _moved_bits(shifted)
    if shifted == types.float32:
        return lambda shifted: np.float32(math.ldexp(1.0, int(shifted - WHOLE_SINGLE)))
    return lambda shifted: math.ldexp(1.0, int(shifted - WHOLE_DOUBLE))
