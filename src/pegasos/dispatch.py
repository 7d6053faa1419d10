"""Type-tag dispatch: how one kernel serves every loss and every row container.

A loss or a row container is a `NamedTuple` (a tag). A generic function such as `slope(loss, z, y)`
is declared once with `by_tag` and implemented once per tag class. Compiled code picks the
implementation from the *type* of the first argument, at compile time; plain Python picks it from
the class of the object, so every kernel also runs with `NUMBA_DISABLE_JIT=1`.

Tags are what Numba can cache on disk: jitclass instances, jitted functions as arguments and
closures never hit the cache in a new process. Tags of user-defined losses are the exception: they
exist in one process only, so kernels compiled for them are kept out of the disk cache.

As tuples, tags of two classes that hold the same numbers would be equal; `distinct` ones are not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.extending import overload

from pegasos.disk_cache import keep_on_disk
from pegasos.numba_private.compiler_lock import fork_only_between_compilations
from pegasos.numba_private.options import INLINED, PLAIN, UNCOUNTED
from pegasos.numba_private.tags import class_of

F = TypeVar("F", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def distinct(cls: Class) -> Class:
    """Make the tags of a class equal to each other only, by value: to no other tuple.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @distinct
    ... class Metres(NamedTuple):
    ...     length: float
    >>> Metres(1.0) == Metres(1.0), Metres(1.0) == (1.0,)
    (True, False)
    """

    def is_equal(self: Any, other: Any) -> bool:
        return type(self) is type(other) and tuple.__eq__(self, other)

    def is_other(self: Any, other: Any) -> bool:
        return not is_equal(self, other)

    def hash_of(self: Any) -> int:
        return hash((type(self), tuple.__hash__(self)))

    methods: Any = {"__eq__": is_equal, "__ne__": is_other, "__hash__": hash_of}
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


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

    What `apply.otherwise` accepts serves the tags that register none.
    """
    implementations: dict[type, Callable[..., Any]] = {}
    default: list[Callable[..., Any]] = []

    @functools.wraps(stub)
    def generic(tag: Any, *args: Any) -> Any:
        found = implementations.get(type(tag), *default)
        if found is None:
            raise KeyError(type(tag))
        return found(tag, *args)

    def register(cls: type) -> Callable[[F], F]:
        def accept(implementation: F) -> F:
            implementations[cls] = implementation
            return implementation

        return accept

    def otherwise(implementation: F) -> F:
        default[:] = [implementation]
        return implementation

    def choose(*arguments: Any) -> Callable[..., Any] | None:
        tag = class_of(arguments[0], implementations)
        return implementations.get(tag, *default)  # type: ignore[arg-type]

    choose.__signature__ = inspect.signature(stub)  # type: ignore[attr-defined]
    choose.__name__ = stub.__name__
    overload(generic, strict=False, jit_options=INLINED)(choose)
    generic.register = register  # type: ignore[attr-defined]
    generic.otherwise = otherwise  # type: ignore[attr-defined]
    return generic


def compiled(function: F) -> Any:
    """Compile a function: cached on disk if possible, GIL released, no fast-math."""
    return _cached(function, PLAIN)


def kernel(function: F) -> Any:
    """Compile a loop that allocates nothing, as `compiled` does but without reference counts.

    Counting references to the arrays that helpers are handed, atomically, can take several times
    as long as the work on a short row. What it calls must be `inlined` or the function of a tag.
    """
    return _cached(function, UNCOUNTED)


def inlined(function: F) -> Any:
    """Compile a helper into the loop that calls it; it allocates nothing, as `kernel`."""
    return _helper(function, INLINED)


def apart(function: F) -> Any:
    """Compile a helper once beside the loops that call it: for one that is long, not its callers.

    It allocates nothing, as `inlined`.
    """
    return _helper(function, UNCOUNTED)


def reordering_sums(function: F) -> Any:
    """Inline a helper whose sums may be reordered, so that they vectorise; IEEE otherwise."""
    return _helper(function, {"fastmath": {"reassoc", "contract"}, **INLINED})


def contracting(function: F) -> Any:
    """Inline a helper whose products and sums may be fused where a processor can; IEEE else."""
    return _helper(function, {"fastmath": {"contract"}, **INLINED})


def dividing(function: F) -> Any:
    """Inline a helper whose divisors are never 0: without a test for it, loops vectorise."""
    return _helper(function, {"error_model": "numpy", **INLINED})


def _helper(function: F, options: dict[str, Any]) -> Any:
    """Compile a function for loops that call it; by itself only if Python calls it, as tests do.

    What turns Python's arguments into Numba's, and back, takes as long to compile as the helper.
    """
    alone = numba.njit(nogil=True, **options)(function)
    if alone is function:  # NUMBA_DISABLE_JIT
        return function

    @functools.wraps(function)
    def helper(*arguments: Any) -> Any:
        return alone(*arguments)

    helper.py_func = function  # type: ignore[attr-defined]
    overload(helper, strict=False, jit_options=options)(lambda *arguments: function)
    return helper


def _cached(function: F, options: dict[str, bool]) -> Any:
    dispatcher = numba.njit(nogil=True, **options)(function)
    keep_on_disk(dispatcher)
    return dispatcher


fork_only_between_compilations()
