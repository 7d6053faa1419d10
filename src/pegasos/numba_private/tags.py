"""Which class of named tuple a Numba type stands for.

`instance_class` of `numba.types.NamedTuple` (Numba 0.23) says it. Without, the name of the type
does: "Hinge()" or "DenseRows(array(float64, 2d, C))". No two tags share a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba import types

ATTRIBUTE = "instance_class"


def class_of(numba_type: Any, candidates: Iterable[type] = ()) -> type | None:
    """Return the class of named tuple, of those that come into question; None if it is none."""
    if not isinstance(numba_type, types.BaseTuple):
        return None
    known = getattr(numba_type, ATTRIBUTE, None)
    if known is not None:
        return known
    name = str(numba_type).partition("(")[0]
    return next((candidate for candidate in candidates if candidate.__name__ == name), None)


def parts_of(kind: Any) -> tuple[Any, ...]:
    """Return the Numba types that a tuple of them, or the type of a tuple, consists of."""
    return tuple(kind) if isinstance(kind, tuple | list | types.BaseTuple) else ()
