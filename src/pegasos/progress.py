"""What a person sees of a fit while it runs: gap, epochs and a forecast of the time left.

All of it goes to stderr, and only if asked for, but for a line about compiling that takes its time;
the logger "pegasos" hears it in any case.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from pegasos.certificate.stopping import USELESS, Certificate, in_percent, plain, within
from pegasos.certificate.trace import Record
from pegasos.data.rows import FloatArray
from pegasos.numba_private import events

SECONDS_BETWEEN_LINES = 2.0
FAR_OFF = 24 * 3600.0  # seconds: a forecast beyond is none
SECONDS_BETWEEN_UPDATES = 0.1
SECONDS_OF_PATIENCE = 1.0  # before somebody who waits for the compiler is told

logger = logging.getLogger("pegasos")

Model = Callable[[], tuple[FloatArray, FloatArray]]


class Watch:
    """Silent observer of a fit; the base of those that show something."""

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def announce(self, text: str) -> None:
        """Take note of something that makes the user wait."""

    def planned(self, text: str) -> None:
        """Take note of the solver that was chosen, and why."""

    def advanced(self, epochs: float, seconds: Callable[[], float]) -> None:
        """Take note of some progress: `epochs` passes over the rows, the last one in part."""

    def certified(self, record: Record, seconds_left: float) -> None:
        """Take note of a certificate and of the forecast of the seconds to `tol` (nan: unknown)."""

    def epoch(self, epochs: int, model: Model) -> bool:
        """Take note of a complete epoch; return True to end the fit.

        `model` certifies the present state, if it is not yet, and returns weights and biases.
        """
        return False

    def finished(self, certificate: Certificate) -> None:
        """Take note of the end."""


class Watches(Watch):
    """Several observers as one."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self.watches = watches
        self._open = ExitStack()

    def __enter__(self) -> Watch:
        for watch in self.watches:
            self._open.enter_context(watch)
        return self

    def __exit__(self, *details: Any) -> None:
        self._open.__exit__(*details)

    def announce(self, text: str) -> None:
        for watch in self.watches:
            watch.announce(text)

    def planned(self, text: str) -> None:
        for watch in self.watches:
            watch.planned(text)

    def advanced(self, epochs: float, seconds: Callable[[], float]) -> None:
        for watch in self.watches:
            watch.advanced(epochs, seconds)

    def certified(self, record: Record, seconds_left: float) -> None:
        for watch in self.watches:
            watch.certified(record, seconds_left)

    def epoch(self, epochs: int, model: Model) -> bool:
        return any([watch.epoch(epochs, model) for watch in self.watches])

    def finished(self, certificate: Certificate) -> None:
        for watch in self.watches:
            watch.finished(certificate)


class Log(Watch):
    """Write to the logger "pegasos": certificates at level DEBUG, the rest at INFO."""

    def announce(self, text: str) -> None:
        logger.info("%s", text)

    planned = announce

    def certified(self, record: Record, seconds_left: float) -> None:
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s", state_of(record, seconds_left))

    def finished(self, certificate: Certificate) -> None:
        logger.info("%s", certificate)


class Hints(Watch):
    """Explain waiting and say nothing else; with PEGASOS_QUIET=1 not even that."""

    def announce(self, text: str) -> None:
        if os.environ.get("PEGASOS_QUIET", "0") in ("", "0"):
            _write(text)


class Lines(Watch):
    """Plain lines, at most one every two seconds and one at the end: for files and pipes."""

    def __init__(self, pairs: int = 0) -> None:
        self._pairs, self._last = pairs, time.perf_counter()
        self._record: Record | None = None
        self._left = float("nan")

    def announce(self, text: str) -> None:
        _write(text)

    planned = announce

    def advanced(self, epochs: float, seconds: Callable[[], float]) -> None:
        now = time.perf_counter()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        if self._record is None:
            _write(f"{step(epochs, self._pairs)}, {seconds():.1f} s, no certificate yet")
        else:
            passed = seconds() - self._record.seconds
            left = self._left - passed
            _write(state_of(self._record, left, epochs, seconds(), self._pairs))

    def certified(self, record: Record, seconds_left: float) -> None:
        self._record, self._left = record, seconds_left

    def finished(self, certificate: Certificate) -> None:
        _write(str(certificate))


class Bar(Watch):
    """A progress bar (rich): full when the gap, on a log scale, has come down to the tolerance.

    With pairs of classes, when all of them are done.
    """

    def __init__(self, tol: float, pairs: int = 0) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[gap]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
        )
        self._tol, self._pairs = tol, pairs
        self._record: Record | None = None
        self._left = float("nan")
        self._first_gap = float("nan")
        self._last = self._filled = 0.0

    def __enter__(self) -> Watch:
        self._progress.start()
        self._task = self._progress.add_task(
            "pegasos", total=None, gap=f"gap ? > {in_percent(self._tol)}", left=""
        )
        return self

    def __exit__(self, *details: Any) -> None:
        self._progress.stop()

    def announce(self, text: str) -> None:
        self._console.print(f"pegasos: {text}", highlight=False)

    planned = announce

    def advanced(self, epochs: float, seconds: Callable[[], float]) -> None:
        now = time.perf_counter()
        if now - self._last >= SECONDS_BETWEEN_UPDATES:
            self._last = now
            self._show(epochs, seconds())

    def certified(self, record: Record, seconds_left: float) -> None:
        self._record, self._left = record, seconds_left
        gap = record.relative_gap
        if self._pairs:
            self._filled = min(0.99, record.epoch / self._pairs)
            return
        if not 0.0 < gap < math.inf:
            return
        if math.isnan(self._first_gap):
            self._first_gap = max(gap, 2.0 * self._tol)
        whole = math.log(self._first_gap / self._tol)
        self._filled = min(0.99, max(0.0, math.log(self._first_gap / gap) / whole))

    def _show(self, epochs: float, seconds: float) -> None:
        changes: dict[str, Any] = {"description": step(int(epochs), self._pairs)}
        if self._record is not None:
            changes["gap"] = self._comparison(self._record.relative_gap)
            changes |= {"total": 1.0, "completed": self._filled}
            if self._left < FAR_OFF:
                left = max(0.0, self._left - (seconds - self._record.seconds))
                changes["left"] = f"about {duration(left)} left"
        self._progress.update(self._task, **changes)

    def _comparison(self, gap: float) -> str:
        return f"gap {in_percent(gap)} {'<=' if gap <= self._tol else '>'} {in_percent(self._tol)}"

    def finished(self, certificate: Certificate) -> None:
        self._progress.update(
            self._task,
            description=step(self._pairs or certificate.epochs, self._pairs),
            total=1.0,
            completed=1.0 if certificate.is_within_tol else self._filled,
            gap=self._comparison(certificate.relative_gap),
            left="",
        )
        self._progress.stop()
        self._console.print(f"pegasos: {certificate}", highlight=False, soft_wrap=True)


def step(count: float, pairs: int) -> str:
    """Say how far a fit is: in epochs, or in pairs of classes, if it has any."""
    if pairs:
        return f"pair {count:.0f} of {pairs:,}"
    return f"epoch {count}" if isinstance(count, int) else f"epoch {count:.3g}"


def watch_for(verbose: int, tol: float, *others: Watch, pairs: int = 0) -> Watch:
    """Return what shows a fit: nothing for 0; a bar on a terminal or in a notebook; else lines.

    A fit of so many `pairs` of classes counts these instead of epochs.
    """
    shows: Watch = Hints()
    if verbose:
        from rich.console import Console

        console = Console(stderr=True)
        is_live = console.is_terminal or console.is_jupyter
        shows = Bar(tol, pairs) if is_live else Lines(pairs)
    return Watches([Log(), shows, *others])


def state_of(
    record: Record,
    left: float,
    epochs: float | None = None,
    seconds: float | None = None,
    pairs: int = 0,
) -> str:
    """Describe a fit in one line: `left` seconds to go, nan if unknown."""
    gap = in_percent(record.relative_gap)
    known = within(record.relative_gap) if record.is_proven else f"gap {gap}, no proof"
    if record.is_proven and record.relative_gap > USELESS:
        known = "not yet bounded usefully"
    forecast = f", about {duration(max(0.0, left))} left" if left < FAR_OFF else ""
    return (
        f"{step(record.epoch if epochs is None else epochs, pairs)}, "
        f"{record.seconds if seconds is None else seconds:.1f} s, objective {record.primal:.6g}, "
        f"{known}{forecast}"
    )


def duration(seconds: float) -> str:
    """Write a duration as a person would say it."""
    if seconds < 0.995:
        return f"{plain(seconds)} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.0f} h"


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"pegasos: {text}\n")
        sys.stderr.flush()


class Compilation:
    """Tell that Numba compiles, if it takes long, and for how long this thread waited for it.

    By the clock from which these seconds are to be taken away: of the processor it shows fewer.
    """

    def __init__(
        self,
        announce: Callable[[str], None],
        text: str,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.seconds, self._clock = 0.0, clock
        self._announce, self._text = announce, text
        self._thread, self._depth, self._begin = threading.get_ident(), 0, 0.0
        self._has_announced = False
        self._hearing = events.heard(self.on_start, self.on_end)

    def __enter__(self) -> Compilation:
        self._hearing.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._hearing.__exit__(*details)

    def on_start(self) -> None:
        if threading.get_ident() != self._thread:
            return
        if self._depth == 0:
            self._begin = self._clock()
        self._depth += 1
        self._tell()

    def on_end(self) -> None:
        if threading.get_ident() != self._thread or self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0:
            self.seconds += self._clock() - self._begin
            self._begin = math.inf
        self._tell()

    def _tell(self) -> None:
        """Announce it once it has taken long; helpers compile one by one, so that this is soon."""
        waited = self.seconds + max(0.0, self._clock() - self._begin)
        if not self._has_announced and waited > SECONDS_OF_PATIENCE:
            self._has_announced = True
            self._announce(self._text)
