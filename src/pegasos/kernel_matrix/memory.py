"""Memory for kernel values: what a fit may take by default, and what others hold already."""

from __future__ import annotations

import multiprocessing
import os
import threading
import weakref
from pathlib import Path
from typing import Any

from pegasos.parallel import cores

MEGABYTE = 1 << 20
SHARE_OF_MEMORY = 0.25  # what `cache_size=None` takes of the machine's memory, all fits together
LEAST_CACHE = 256  # megabytes

_stores: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def note_store(owner: Any, size: int) -> None:
    """Take note that an object keeps a store of so many bytes, as long as it lives."""
    with _lock:
        _stores[owner] = size


def held() -> int:
    """Return the bytes of all stores of this process."""
    with _lock:
        return sum(_stores.values())


def memory_share() -> float:
    """Return the megabytes that a cache may take by default.

    That is a share of the machine's memory, less what the stores of other fits may grow to.
    """
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        total = int(4.0 * LEAST_CACHE * MEGABYTE / SHARE_OF_MEMORY)
    else:
        if multiprocessing.parent_process() is not None:  # one worker of several
            total //= cores()
        limit = Path("/sys/fs/cgroup/memory.max")  # of a container
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            total = min(total, int(text))
    return max(LEAST_CACHE, (SHARE_OF_MEMORY * total - held()) / MEGABYTE)


def budget_of(cache_size: float | None) -> int:
    """Return the bytes that a cache may take: so many megabytes, or by default the share."""
    return int((memory_share() if cache_size is None else float(cache_size)) * MEGABYTE)


def _forget_lock() -> None:
    """In a forked child: no lock is held."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
