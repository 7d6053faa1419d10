"""What a person sees of a fit while it runs: gap, epochs and a forecast of the time left."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any


class Watch:
    """Silent observer; the base of those that show something."""

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def certified(self, record: Any, seconds_left: float) -> None:
        """Take note of a certificate and of the forecast of the seconds to `tol` (nan: unknown)."""

    def epoch(self, epochs: int, judge: Any, seconds: Callable[[], float]) -> bool:
        """Take note of a complete epoch; return True to end the fit."""
        return False
