"""Ctrl-C as a request: the fit ends soon and keeps its model; a second Ctrl-C ends it at once.

A second one within two seconds also ends the next fit, and with it the loop that runs one fit after
the other, such as a search.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

SECONDS_TO_SECOND = 2.0  # within which a second Ctrl-C means the loop around the fit


class Interrupted(Exception):
    """Ctrl-C came during work that may be thrown away."""


class _Last:
    """When this process was last asked to end a fit."""

    seconds = float("-inf")


class Interrupts:
    """Collect Ctrl-C while a fit runs in the main thread; elsewhere do nothing.

    With `keeps` False, Ctrl-C means what it always does: KeyboardInterrupt, at once.
    """

    def __init__(self, keeps: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self.pending = False
        self._keeps, self._clock = keeps, clock
        self._raises = False
        self._earlier: Any = None

    def __enter__(self) -> Interrupts:
        if self._keeps and threading.current_thread() is threading.main_thread():
            self._earlier = signal.getsignal(signal.SIGINT)
            if self._earlier is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._note)
            else:  # the application has its own idea of Ctrl-C
                self._earlier = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._earlier is not None:
            signal.signal(signal.SIGINT, self._earlier)

    def _note(self, number: int, frame: Any) -> None:
        now = self._clock()
        if self.pending or now - _Last.seconds <= SECONDS_TO_SECOND:
            _Last.seconds = float("-inf")
            raise KeyboardInterrupt
        self.pending, _Last.seconds = True, now
        if self._raises:
            raise Interrupted

    @contextmanager
    def raising(self, allowed: bool) -> Iterator[None]:
        """Inside this block the first Ctrl-C raises `Interrupted`, if allowed."""
        self._raises = allowed
        try:
            yield
        finally:
            self._raises = False
