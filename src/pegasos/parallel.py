"""Threads over compiled and NumPy code that releases the GIL.

Work is split into parts in a fixed way and every part writes to its own place, so that results do
not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from types import TracebackType
from typing import Any, TypeVar

from pegasos.blas_threads import libraries, limit

T = TypeVar("T")

_here = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}  # by process: a pool does not survive a fork


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def limited_to(threads: int | None) -> Iterator[None]:
    """Let `each` have no more parts under way at a time, in what this thread does meanwhile.

    None is no limit but the number of cores.
    """
    before = getattr(_here, "limit", None)
    _here.limit = threads
    try:
        yield
    finally:
        _here.limit = before


def each(work: Callable[[T], None], parts: Iterable[T], at_once: int | None = None) -> None:
    """Do the work on every part, on all cores; return when all are done.

    No more than `at_once` parts are under way at a time, nor than this thread is `limited_to`.
    The thread that asks takes parts like the others, as many as it can: whoever is free takes the
    next. Within the work of another call it does all of them itself: nobody may be free.
    """
    parts = list(parts)
    threads = 1
    if len(parts) > 1 and not getattr(_here, "is_at_work", False):
        limits = (cores(), len(parts), at_once, getattr(_here, "limit", None))
        threads = min(n for n in limits if n is not None)
    if threads < 2:
        for part in parts:
            work(part)
        return
    pool = _pools.get(os.getpid()) or _pools.setdefault(
        os.getpid(), ThreadPoolExecutor(cores() - 1, "pegasos", _use_one_openmp_thread)
    )
    bench = _Bench(work, parts)
    try:
        helpers = [pool.submit(bench.help) for _ in range(threads - 1)]
        _here.is_at_work = threads >= cores()  # nobody would be free
        bench.take_turns()
        _here.is_at_work = False
        errors = [None if helper.cancel() else helper.exception() for helper in helpers]
    except BaseException:  # our own part's, or Ctrl-C
        bench.close()
        raise
    finally:
        _here.is_at_work = False
    try:
        for error in errors:
            if error is not None:
                raise error
    finally:  # an error knows this frame: a frame that knew the error would keep both alive
        errors = helpers = error = None  # type: ignore[assignment]
        bench.clear()


def _use_one_openmp_thread() -> None:
    limit(libraries(True), 1)


class OneBlasThread(ContextDecorator):
    """While anyone is inside, matrix products take one thread; parts run side by side instead.

    Sums then have one order, whatever the number of cores, and no thread of a library is under way
    that a fork would end in the middle of its work, for its caller to wait for ever.

    The limit is of the whole process: it is set by the first to come in, and taken back by the last
    to go out, whichever threads they are.
    """

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.before: list[int] = []

    def __enter__(self) -> None:
        _here.depth = getattr(_here, "depth", 0) + 1
        if _here.depth > 1:
            return
        _here.before = limit(libraries(True), 1)
        with self.lock:
            self.inside += 1
            if not self.before:
                self.before = limit(libraries(False), 1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        _here.depth -= 1
        if _here.depth > 0:
            return
        limit(libraries(True), _here.before)
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                limit(libraries(False), self.before)
                self.before = []

    def forget_others(self) -> None:
        """In a forked child: only the thread that forked is there, and no lock is held.

        A limit that others had set is taken back by the next to go out.
        """
        self.lock = threading.Lock()
        self.inside = 1 if getattr(_here, "depth", 0) else 0


one_blas_thread = OneBlasThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread.forget_others)


class _Bench:
    """Where the parts of a call lie, for threads to take one after the other.

    Once it is closed, none is under way and none begins: an exception that a signal raises in the
    caller must leave no thread behind that writes to arrays which the caller believes to be its own
    again.
    """

    def __init__(self, work: Callable[[Any], None], parts: list[Any]) -> None:
        self.work, self.parts = work, parts[::-1]
        self.inside, self.is_closed, self.change = 0, False, threading.Condition()

    def take_turns(self) -> None:
        """Do one part after the other, as long as there are any."""
        while not self.is_closed:
            try:
                part = self.parts.pop()
            except IndexError:  # another thread may have been quicker
                return
            self.work(part)

    def help(self) -> None:
        """Do so as a helper, whom closing has to wait for."""
        with self.change:
            if self.is_closed:
                return
            self.inside += 1
        try:
            _here.is_at_work = True
            self.take_turns()
        finally:
            _here.is_at_work = False
            with self.change:
                self.inside -= 1
                self.change.notify_all()

    def clear(self) -> None:
        """Forget the work, and the arrays it knows: a helper that never came may keep the bench."""
        self.parts, self.work = [], _no_work

    def close(self) -> None:
        """Let nothing begin any more, and wait until nobody is at work."""
        with self.change:
            self.is_closed = True
            self.change.wait_for(lambda: self.inside == 0)
        self.clear()


def _no_work(part: Any) -> None:
    del part


def ranges(stop: int, length: int) -> list[tuple[int, int]]:
    """Split 0..stop into ranges of at most `length`."""
    return [(first, min(stop, first + length)) for first in range(0, stop, length)]
