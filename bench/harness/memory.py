"""What only a fresh process can tell: the first call, and the peak extra memory of a fit.

*First call.* Seconds of a first fit of a few rows: imports, and compilation or loading what an
earlier process compiled. (scikit-learn is imported before, by the adapters.)

*Extra memory.* After that first fit the child returns free memory to the system, resets the
kernel's high-water mark of resident memory (Linux: writing 5 to /proc/self/clear_refs) and fits.
Reported is the mark after the fit minus the resident memory before it: copies of X, caches, work
arrays and the model, in whatever language they were allocated. Pages that the allocator kept from
earlier work and uses again are not seen; the trim makes them few.

    python -m bench.harness.memory bench.linear "a9a lam=0.0001" linearsvc "[0.01, 3, null]"

prints a JSON object; the module named has `load`, from the key to the problem, and `SOLVERS`.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bench.harness.competitor import Competitor, Effort
from bench.harness.files import ROOT
from bench.harness.ladder import timed
from bench.harness.problem import Problem


class Fresh(NamedTuple):
    """Seconds of the first call, and extra bytes (None where the kernel does not tell)."""

    first_call: float
    extra_bytes: int | None


def measure_fresh(module: str, key: str, solver: str, effort: Effort) -> Fresh:
    """Measure one fit in a new process."""
    command = ["-m", "bench.harness.memory", module, key, solver, json.dumps(effort)]
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "PYTHONPATH": path}
    child = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{child.stderr[-2000:]}")
    return Fresh(**json.loads(child.stdout.splitlines()[-1]))


def measure_here(problem: Problem, solver: Competitor, effort: Effort) -> Fresh:
    """Measure in this process, which should be fresh."""
    few = problem.few()
    first_call, _ = timed(solver, solver.prepare(few), few, effort)
    X = solver.prepare(problem)
    return Fresh(first_call, extra_bytes(lambda: timed(solver, X, problem, effort)))


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


if __name__ == "__main__":
    name, key, solver_name, effort = sys.argv[1:]
    module = import_module(name)
    fresh = measure_here(
        module.load(key), module.SOLVERS[solver_name], Effort(*json.loads(effort))
    )  # fmt: skip
    print(json.dumps(fresh._asdict()))
