"""Fits that can be ended: each in a child process, killed when its time is up.

Nothing else ends a fit inside a peer's compiled code. The child is a fork, so it has the data
without a copy; it times itself and sends the model back. Libraries whose threads do not survive a
fork are not to be called from here.
"""

from __future__ import annotations

import math
import multiprocessing
import traceback
import warnings
from collections.abc import Callable
from typing import Any

GRACE = 1.0  # seconds for the fork and for handing the model over


def within(limit: float, work: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    """Return work(), or (limit, None) if it takes longer than `limit` seconds.

    Where processes cannot fork the work is done here, and no limit holds.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return work()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=send, args=(sender, work), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child.start()
    sender.close()
    try:
        if not receiver.poll(limit + GRACE if math.isfinite(limit) else None):
            return limit, None
        is_done, answer = receiver.recv()
    except EOFError as error:
        raise RuntimeError("The process of a fit ended without an answer.") from error
    finally:
        child.kill()
        child.join()
        receiver.close()
    if not is_done:
        raise RuntimeError(f"A fit in a process of its own failed:\n{answer}")
    return answer if answer[0] <= limit else (limit, None)


def send(sender: Any, work: Callable[[], tuple[float, Any]]) -> None:
    """Do the work and send what it returns, or how it failed."""
    try:
        answer = (True, work())
    except Exception:
        answer = (False, traceback.format_exc())
    sender.send(answer)
