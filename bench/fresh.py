"""What only a fresh process can tell: the first call, and the peak extra memory of a fit.

*First call.* Seconds of a first fit of a few rows: imports, and compilation or loading what an
earlier process compiled. (scikit-learn is imported before, by the adapters.)

*Extra memory.* After that first fit the child loads nothing more and fits; see `bench.process`.

    python -m bench.fresh a9a 1e-4 linearsvc      prints a JSON object
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

from bench.datasets import DATASETS, Dataset
from bench.ladder import timed
from bench.process import extra_bytes, in_fresh_process
from bench.solvers import SOLVERS, Effort

EFFORT = Effort(tol=1e-2, epochs=3)  # memory does not depend on how long a fit lasts


class Fresh(NamedTuple):
    """Seconds of the first call, and extra bytes (None where the kernel does not tell)."""

    first_call: float
    extra_bytes: int | None


def measure_fresh(dataset: Dataset, solver: str) -> Fresh:
    """Measure one solver on one dataset in a new process."""
    return Fresh(**in_fresh_process("bench.fresh", dataset.name, repr(dataset.lam), solver))


def measure_here(dataset: Dataset, solver_name: str) -> Fresh:
    """Measure in this process, which should be fresh."""
    solver = SOLVERS[solver_name]
    X, y = dataset.sample()
    solver.prepare(X, y)
    first_call, _ = timed(solver, X, y, dataset.lam, EFFORT)
    solver.prepare(dataset.X, dataset.y)
    work = lambda: timed(solver, dataset.X, dataset.y, dataset.lam, EFFORT)  # noqa: E731
    return Fresh(first_call, extra_bytes(work))


if __name__ == "__main__":
    name, lam, solver_name = sys.argv[1:]
    result = measure_here(DATASETS[name].load(float(lam)), solver_name)
    print(json.dumps(result._asdict()))
