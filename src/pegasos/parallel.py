"""Threads over compiled and NumPy code that releases the GIL.

Work is split into parts in a fixed way and every part writes to its own place, so that results do
not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_pools: dict[int, ThreadPoolExecutor] = {}  # by process: a pool does not survive a fork


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(work: Callable[[T], None], parts: Iterable[T]) -> None:
    """Do the work on every part, on all cores; return when all are done."""
    parts = list(parts)
    if len(parts) < 2 or cores() < 2:
        for part in parts:
            work(part)
        return
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools[os.getpid()] = ThreadPoolExecutor(cores(), "pegasos")
    waiting = [pool.submit(work, part) for part in parts[1:]]
    try:
        work(parts[0])
    finally:
        errors = [future.exception() for future in waiting]  # all are done before we go on
    for error in errors:
        if error is not None:
            raise error


def ranges(stop: int, length: int) -> list[tuple[int, int]]:
    """Split 0..stop into ranges of at most `length`."""
    return [(first, min(stop, first + length)) for first in range(0, stop, length)]
