"""Type-tag dispatch: how one kernel serves every loss and every row container.

A loss or a row container is a `NamedTuple` (a tag). A generic function such as `slope(loss, z, y)`
is declared once with `by_tag` and implemented once per tag class. Compiled code picks the
implementation from the *type* of the first argument, at compile time; plain Python picks it from
the class of the object, so every kernel also runs with `NUMBA_DISABLE_JIT=1`.

Tags are what Numba can cache on disk: jitclass instances, jitted functions as arguments and
closures never hit the cache in a new process. Tags of user-defined losses are the exception: they
exist in one process only, so kernels compiled for them are kept out of the disk cache.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload

from pegasos.disk_cache import cache_for

F = TypeVar("F", bound=Callable[..., Any])

INLINED = {"forceinline": True, "_nrt": False}


def by_tag(stub: F) -> Any:
    """Turn the signature of `stub` into a generic function, dispatched on its first argument.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Double(NamedTuple):
    ...     pass
    >>> @by_tag
    ... def apply(tag, x):
    ...     '''Apply a tag to a number.'''
    >>> @apply.register(Double)
    ... def _(tag, x):
    ...     return 2.0 * x
    >>> apply(Double(), 4.0)
    8.0
    """
    implementations: dict[type, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def generic(tag: Any, *args: Any) -> Any:
        return implementations[type(tag)](tag, *args)

    def register(cls: type) -> Callable[[F], F]:
        def accept(implementation: F) -> F:
            implementations[cls] = implementation
            return implementation

        return accept

    def choose(*arguments: Any) -> Callable[..., Any] | None:
        return implementations.get(getattr(arguments[0], "instance_class", None))  # type: ignore[arg-type]

    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]
    choose.__name__ = stub.__name__
    overload(generic, strict=False, jit_options=INLINED)(choose)
    generic.register = register  # type: ignore[attr-defined]
    return generic


def compiled(function: F) -> Any:
    """Compile a function: cached on disk if possible, GIL released, no fast-math."""
    return _cached(function, {})


def kernel(function: F) -> Any:
    """Compile a loop that allocates nothing, as `compiled` does but without reference counts.

    Counting references to the arrays that helpers are handed, atomically, can take several times
    as long as the work on a short row. What it calls must be `inlined` or the function of a tag.
    """
    return _cached(function, {"_nrt": False})


def inlined(function: F) -> Any:
    """Compile a helper into the loop that calls it; it allocates nothing, as `kernel`."""
    return numba.njit(nogil=True, **INLINED)(function)


def apart(function: F) -> Any:
    """Compile a helper once beside the loops that call it: for one that is long, not its callers.

    It allocates nothing, as `inlined`.
    """
    return numba.njit(nogil=True, _nrt=False)(function)


def reordering_sums(function: F) -> Any:
    """Inline a helper whose sums may be reordered, so that they vectorise; IEEE otherwise."""
    return numba.njit(nogil=True, fastmath={"reassoc", "contract"}, **INLINED)(function)


def contracting(function: F) -> Any:
    """Inline a helper whose products and sums may be fused where a processor can; IEEE else."""
    return numba.njit(nogil=True, fastmath={"contract"}, **INLINED)(function)


def dividing(function: F) -> Any:
    """Inline a helper whose divisors are never 0: without a test for it, loops vectorise."""
    return numba.njit(nogil=True, error_model="numpy", **INLINED)(function)


def _cached(function: F, options: dict[str, bool]) -> Any:
    dispatcher = numba.njit(nogil=True, **options)(function)
    if hasattr(dispatcher, "_cache"):  # absent under NUMBA_DISABLE_JIT
        dispatcher._cache = cache_for(function) or dispatcher._cache
    return dispatcher


if hasattr(os, "register_at_fork"):  # a child could not compile if a thread it lacks held the lock
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


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


def prefetch(array: Any, position: int) -> None:
    """Ask the processor to fetch flat position `position` of a contiguous array; no effect else."""


@overload(prefetch, strict=False)
def _prefetch(array: Any, position: Any) -> Any:
    return lambda array, position: _prefetch_address(array, position)


@intrinsic
def _larger_number(typing_context: Any, a: Any, b: Any) -> Any:
    """Emit a choice of which the compiler is told that neither number is NaN."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = arguments
        known = ("nnan", "nsz")
        is_larger = builder.fcmp_ordered(">", first, second, flags=known)
        return builder.select(is_larger, first, second, flags=known)

    return types.float64(types.float64, types.float64), emit


def larger(a: float, b: float) -> float:
    """Return the larger of two numbers, none NaN: a loop that looks for the largest vectorises.

    With `max` it does not, whatever is said about NaN in the options of the loop.
    """
    return a if a > b else b


@overload(larger, strict=False, jit_options=INLINED)
def _larger(a: Any, b: Any) -> Any:
    return lambda a, b: _larger_number(a, b)
