"""The kernel runs of Tables 2 and 3 and of Fig. 5: four methods on four sets, no bias."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bench.kernel.table2 import EPSILONS, LAMS
from papers.harness import data
from papers.harness.course import Course, course, marks
from papers.harness.data import Split
from papers.harness.optimum import Optimum, optimum
from papers.harness.report import Report, Scale
from pegasos import LASVM, Decomposition, KernelPegasos, KernelSDCA

GAMMAS = {"money-fx": 1.0, "a9a": 0.05, "usps8": 2.0, "mnist8": 0.02}
QUICK_ROWS = {"money-fx": 7770, "a9a": 6000, "usps8": 7291, "mnist8": 6000}
MOST_ROWS, MOST_TESTS = 33_000, 5_000  # of the full run: their kernel values fit in memory
METHODS: dict[str, Any] = {
    "Pegasos": KernelPegasos(sampling="iid", output="last"),
    "SDCA": KernelSDCA(sampling="iid"),
    "SVM-Light": Decomposition(working_set=10),  # its default: ten rows at a time
    "LASVM": LASVM(),
}
ALLOWED = 1.1
LIMIT = 60.0  # CPU seconds per method, of the full run


class Runs(NamedTuple):
    """All methods on one set; `epsilon` is the paper's."""

    split: Split
    lam: float
    epsilon: float
    optimum: Optimum
    courses: dict[str, Course]

    def suboptimality(self, method: str) -> np.ndarray:
        """Return P - P* along a course."""
        return self.optimum.suboptimality(self.courses[method].objective)


@cache
def runs(scale: Scale) -> dict[str, Runs]:
    """Run all methods on all sets, one seed each, as the paper does."""
    report, found = Report({}), {}
    for name, gamma in GAMMAS.items():
        split = data.kernel_set(
            name, *scale.pick((QUICK_ROWS[name], 1500), (MOST_ROWS, MOST_TESTS))
        )
        lam = LAMS[name] if scale.is_full and split.n < MOST_ROWS else 1.0 / split.n
        report.say(f"{split.label}, {split.n:,} rows: the optimum at lam {lam:.3g}")
        best, courses = optimum(split, lam, gamma), {}
        for method, solver in METHODS.items():
            courses[method] = one_course(split, lam, gamma, method, solver, scale)
            last = best.suboptimality(courses[method].objective[-1])
            report.say(f"{name}  {method}: {courses[method].seconds[-1]:.3g} s, {last:.2e}")
        found[name] = Runs(split, lam, EPSILONS[name], best, courses)
    return found


def one_course(
    split: Split, lam: float, gamma: float, method: str, solver: Any, scale: Scale
) -> Course:
    """Run one method for some passes or until the limit."""
    n, limit = split.n, scale.pick(6.0, LIMIT)
    epochs = {"LASVM": 6, "SVM-Light": 20_000}.get(method, scale.pick(20, 200))
    steps = marks(n // 32, epochs * n, 5)
    return course(split, lam, solver, steps, gamma=gamma, max_time=limit)
