"""What only a fresh process can tell: peak extra memory. How to start one, and how to read it.

The child returns free memory to the system, resets the kernel's high-water mark of resident memory
(Linux: writing 5 to /proc/self/clear_refs) and works. Reported is the mark after the work minus the
resident memory before it: copies of X, caches, work arrays and the model, in whatever language they
were allocated. Pages that the allocator kept from earlier work and uses again are not seen; the
trim makes them few.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def in_fresh_process(module: str, *arguments: str, limit: float | None = 600.0) -> dict[str, Any]:
    """Run `python -m module arguments` and return the JSON object of its last line."""
    command = [sys.executable, "-m", module, *arguments]
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "PYTHONPATH": path}
    child = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit
    )
    if child.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{child.stderr[-2000:]}")
    return json.loads(child.stdout.splitlines()[-1])


def extra_bytes(work: Callable[[], object]) -> int | None:
    """Do the work; return the peak resident memory during it, less that before it.

    None where the kernel does not tell; the work is not done then.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return None
    before = resident("VmRSS")
    work()
    return max(0, resident("VmHWM") - before)


def resident(field: str) -> int:
    """Read a field of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}.")
