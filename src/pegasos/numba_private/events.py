"""Hear when Numba begins and ends to compile.

`numba.core.event` (Numba 0.53). Without, nothing is heard: nobody is told that a fit compiles, and
the time that takes is part of the fit's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pegasos.numba_private import note_absence

KIND = "numba:compile"


@contextmanager
def heard(on_start: Callable[[], None], on_end: Callable[[], None]) -> Iterator[None]:
    """Call the first when the compiler, in any thread, begins something and the second after it."""
    try:
        from numba.core import event

        listener = _listener(event.Listener, on_start, on_end)
        event.register(KIND, listener)
    except Exception as error:  # whatever a version that has other events raises
        note_absence("events of the compiler", error)
        listener = None
    try:
        yield
    finally:
        if listener is not None:
            event.unregister(KIND, listener)


def _listener(base: Any, on_start: Callable[[], None], on_end: Callable[[], None]) -> Any:
    class Listener(base):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            on_start()

        def on_end(self, event: Any) -> None:
            on_end()

    return Listener()
