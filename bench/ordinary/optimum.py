"""The optimum of a task: an interval certified by our own tight fit, its upper end recomputed.

Suboptimality is taken against the lower end, so it is never understated. Where the interval is
wider than 1e-6 (relative) it is used all the same and the page says so: thresholds below its width
cannot be shown then, by anybody. Only narrow intervals are remembered, in
.cache/bench/ordinary_optimum.json, under a checksum of the data.
"""

from __future__ import annotations

import json
import warnings

import numpy as np

from bench.competitor import Effort
from bench.datasets.base import CACHE, checksum
from bench.optimum import ENOUGH, Optimum
from bench.ordinary.solvers import OURS
from bench.ordinary.task import Task

AIM = 1e-7
SECONDS = 30.0  # for one optimum
FILE = CACHE / "ordinary_optimum.json"
TINY = 1e-300  # stands for a bound that is not positive: everything is far from it


def remembered_optimum(task: Task, aim: float = AIM, enough: float = ENOUGH) -> Optimum:
    """Return the optimum of a task, solved once per state of its data if it can be."""
    key = f"{task.key} {checksum(task.X, task.y):08x} {task.epsilon:g}"
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if key in known:
        return Optimum(*known[key])
    optimum = certified_optimum(task, aim)
    if optimum.relative_gap <= enough:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps({**known, key: tuple(optimum)}, indent=1))
    return optimum


def certified_optimum(task: Task, aim: float = AIM) -> Optimum:
    """Solve to a relative gap of `aim`, or as far as the seconds go; sum the models' intervals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is judged by the caller
        model, certificate = OURS.fitted(task.X, task, Effort(tol=aim, seconds=SECONDS))
    dual, primal = float(np.sum(certificate.dual)), task.objective(model)
    return Optimum(max(dual, TINY), primal)
