"""A property that is computed once and kept with its object.

As `functools.cached_property`, but without the lock that it has before Python 3.12, which all
objects share: a process forked while another thread held it would wait for it for ever. Two threads
may compute the value twice; it is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class kept_property(Generic[T]):  # noqa: N801
    """Compute a value when it is first asked for; what is kept is found without a call."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, one: Any, owner: type | None = None) -> T:
        value = one.__dict__[self.name] = self.compute(one)
        return value
