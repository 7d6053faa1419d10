"""What only a fresh process can tell: the first call, and the peak extra memory of a fit.

*First call.* Seconds of a first fit of a few rows: imports, and compilation or loading what an
earlier process compiled. (scikit-learn is imported before, by the adapters.)

*Extra memory.* After that first fit the child loads nothing more, returns free memory to the
system, resets the kernel's high-water mark of resident memory (Linux: writing 5 to
/proc/self/clear_refs) and fits. Reported is the mark after the fit minus the resident memory before
it: copies of X, work arrays and the model, in whatever language they were allocated. Pages that the
allocator kept from earlier work and uses again are not seen; the trim makes them few.

    python -m bench.fresh a9a 1e-4 linearsvc      prints a JSON object
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.datasets import DATASETS, Dataset
from bench.measure import timed
from bench.solvers import SOLVERS, Effort

EFFORT = Effort(tol=1e-2, epochs=3)  # memory does not depend on how long a fit lasts
ROOT = Path(__file__).resolve().parents[1]


class Fresh(NamedTuple):
    """Seconds of the first call, and extra bytes (None where the kernel does not tell)."""

    first_call: float
    extra_bytes: int | None


def in_fresh_process(dataset: Dataset, solver: str, limit: float = 600.0) -> Fresh:
    """Measure one solver on one dataset in a new process."""
    command = [sys.executable, "-m", "bench.fresh", dataset.name, repr(dataset.lam), solver]
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "PYTHONPATH": path}
    child = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit
    )
    if child.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{child.stderr[-2000:]}")
    return Fresh(**json.loads(child.stdout.splitlines()[-1]))


def measure_here(dataset: Dataset, solver_name: str) -> Fresh:
    """Measure in this process, which should be fresh."""
    solver = SOLVERS[solver_name]
    X, y = dataset.sample()
    solver.prepare(X, y)
    first_call, _ = timed(solver, X, y, dataset.lam, EFFORT)
    solver.prepare(dataset.X, dataset.y)
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return Fresh(first_call, None)
    before = resident("VmRSS")
    timed(solver, dataset.X, dataset.y, dataset.lam, EFFORT)
    return Fresh(first_call, max(0, resident("VmHWM") - before))


def resident(field: str) -> int:
    """Read a field of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}.")


if __name__ == "__main__":
    name, lam, solver_name = sys.argv[1:]
    result = measure_here(DATASETS[name].load(float(lam)), solver_name)
    print(json.dumps(result._asdict()))
