"""Peak extra memory of a fit, in a fresh process; see `bench.process`.

The child imports, loads the data, brings it into the solver's container, fits a few rows and then
measures one fit: kernel cache, work arrays, copies of the data and the model.

    python -m bench.kernel.fresh usps8 libsvm "tol 0.01" 600      prints a JSON object
"""

from __future__ import annotations

import json
import sys

from bench.kernel.datasets import DATASETS, KernelDataset
from bench.kernel.measure import warm_up
from bench.kernel.solvers import SOLVERS
from bench.ladder import timed
from bench.process import extra_bytes, in_fresh_process


def measure_fresh(dataset: KernelDataset, solver: str, effort: str, limit: float) -> int | None:
    """Measure one rung of a solver's ladder in a new process."""
    arguments = (dataset.name, solver, effort, repr(limit))
    return in_fresh_process("bench.kernel.fresh", *arguments, limit=None)["extra_bytes"]


def measure_here(dataset: KernelDataset, solver_name: str, effort: str, limit: float) -> int | None:
    """Measure in this process, which should be fresh."""
    solver = SOLVERS[solver_name]
    warm_up(solver, dataset, limit)
    X = solver.container(dataset.X)
    rung = {str(rung): rung for rung in solver.ladder(limit, dataset.is_large)}[effort]
    return extra_bytes(lambda: timed(solver, X, dataset, rung))


if __name__ == "__main__":
    name, solver_name, effort, limit = sys.argv[1:]
    bytes_used = measure_here(DATASETS[name].load(), solver_name, effort, float(limit))
    print(json.dumps({"extra_bytes": bytes_used}))
