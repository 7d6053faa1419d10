"""Threads over compiled and NumPy code that releases the GIL.

Work is split into parts in a fixed way and every part writes to its own place, so that results do
not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

T = TypeVar("T")

BLAS = ThreadpoolController()

_here = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}  # by process: a pool does not survive a fork


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(work: Callable[[T], None], parts: Iterable[T]) -> None:
    """Do the work on every part, on all cores; return when all are done.

    Within the work of another call it is done by the thread that asks: none may be free.
    """
    parts = list(parts)
    if len(parts) < 2 or cores() < 2 or getattr(_here, "is_at_work", False):
        for part in parts:
            work(part)
        return
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools[os.getpid()] = ThreadPoolExecutor(cores(), "pegasos")
    gate = _Gate()
    try:
        waiting = [pool.submit(gate.let_through, work, part) for part in parts[1:]]
        work(parts[0])
        errors = [future.exception() for future in waiting]
    except BaseException:  # our own part's, or Ctrl-C
        gate.close()
        raise
    for error in errors:
        if error is not None:
            raise error


class OneBlasThread:
    """While anyone is inside, matrix products take one thread; parts run side by side instead.

    The limit is of the whole process: it is set by the first to come in, and taken back by the last
    to go out, whichever threads they are.
    """

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.limit = BLAS.limit(limits=1, user_api="blas")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limit.restore_original_limits()


one_blas_thread = OneBlasThread()


def _forget_threads() -> None:
    """In a forked child: nobody is inside, and no lock is held."""
    one_blas_thread.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


class _Gate:
    """What the parts of a call pass through: once closed, none is under way and none begins.

    An exception that a signal raises in the caller must leave no thread behind that writes to
    arrays which the caller believes to be its own again.
    """

    def __init__(self) -> None:
        self.inside, self.is_closed, self.change = 0, False, threading.Condition()

    def let_through(self, work: Callable[[T], None], part: T) -> None:
        with self.change:
            if self.is_closed:
                return
            self.inside += 1
        try:
            _here.is_at_work = True
            work(part)
        finally:
            _here.is_at_work = False
            with self.change:
                self.inside -= 1
                self.change.notify_all()

    def close(self) -> None:
        with self.change:
            self.is_closed = True
            self.change.wait_for(lambda: self.inside == 0)


def ranges(stop: int, length: int) -> list[tuple[int, int]]:
    """Split 0..stop into ranges of at most `length`."""
    return [(first, min(stop, first + length)) for first in range(0, stop, length)]
