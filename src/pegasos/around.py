"""What is around a run and never part of it: who watches, what Ctrl-C means, the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pegasos.data.rows import FloatArray
from pegasos.disk_cache import how_often
from pegasos.interrupt import Interrupts
from pegasos.problem.custom_loss import is_custom
from pegasos.progress import Compilation, Log, Watch
from pegasos.recorder import Recording

COMPILES = "compiling for this kind of data (about 10 s), {}"
COMPILES_OWN_LOSS = "compiling for a loss of your own (about 10 s), once per session"

Decided = Callable[[FloatArray, FloatArray], Any]


def has_settled_sign(low: FloatArray, high: FloatArray) -> Any:
    """Tell which decision values keep their sign, given bounds on them."""
    return (low > 0.0) | (high < 0.0)


def compilation_for(
    loss: Any, watch: Watch, clock: Callable[[], float] = time.perf_counter
) -> Compilation:
    """Return what measures compiling for a loss, and announces it; or what to say instead."""
    if isinstance(loss, str):
        text = f"{loss}, {how_often()}"
    else:
        text = COMPILES_OWN_LOSS if is_custom(loss) else COMPILES.format(how_often())
    return Compilation(watch.announce, text, clock)


class Around:
    """The surroundings of a run on a problem with this loss; the rest as in `solve`.

    In place of a loss there may be what to say when compiling takes long.
    """

    def __init__(
        self,
        loss: Any,
        watch: Watch | None = None,
        decided: Decided | None = None,
        interrupts: Interrupts | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.watch = watch or Log()
        self.decided = decided or has_settled_sign
        self.interrupts = interrupts or Interrupts()
        self.recording = recording or Recording([])
        self.clock = time.process_time if self.recording.counts_cpu else time.perf_counter
        self.compilation = compilation_for(loss, self.watch, self.clock)
        self._begin, self._open = self.clock(), ExitStack()

    def __enter__(self) -> Around:
        for part in (self.interrupts, self.watch, self.compilation):
            self._open.enter_context(part)
        return self

    def __exit__(self, *details: Any) -> None:
        self._open.__exit__(*details)

    def seconds(self) -> float:
        """Return the seconds since the beginning, without those spent compiling."""
        return self.clock() - self._begin - self.compilation.seconds
