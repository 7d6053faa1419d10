"""Ctrl-C as a request: the fit ends soon and keeps its model; a second Ctrl-C ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any


class Interrupted(Exception):
    """Ctrl-C came during work that may be thrown away."""


class Interrupts:
    """Collect Ctrl-C while a fit runs in the main thread; elsewhere do nothing."""

    def __init__(self) -> None:
        self.pending = False
        self._raises = False
        self._earlier: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
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
        if self.pending:
            raise KeyboardInterrupt
        self.pending = True
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
