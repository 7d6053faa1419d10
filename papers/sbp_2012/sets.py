"""The sets of Table 2 of [CSS12], without a free bias: sigma^2 = 1/(2 gamma), lam = 1/n."""

from __future__ import annotations

from typing import Any

from papers.harness import data
from papers.harness.course import Course, course, marks, mean, seeds_of
from papers.harness.data import Split
from papers.harness.optimum import Optimum, optimum
from papers.harness.report import Scale
from pegasos import BatchPerceptron

GAMMAS = {"money-fx": 1.0, "a9a": 0.05, "mnist8": 0.02}  # sigma^2 0.5, 10, 25
QUICK_ROWS, QUICK_TESTS = 4_000, 1_500
MOST_ROWS, MOST_TESTS = 20_000, 5_000  # in the full run: a kernel matrix that fits in memory
EPOCHS = 10


def load(name: str, scale: Scale) -> Split:
    """Return a set; some of its rows in the quick run."""
    return data.kernel_set(
        name, scale.pick(QUICK_ROWS, MOST_ROWS), scale.pick(QUICK_TESTS, MOST_TESTS)
    )


def known_optimum(name: str, split: Split) -> Optimum:
    """Return the optimum at lam = 1/n, whose nu the batch perceptron is given."""
    return optimum(split, 1.0 / split.n, GAMMAS[name])


def batch_perceptron(best: Optimum) -> BatchPerceptron:
    """Return the paper's method: nu from the known optimum, steps 1/sqrt(t), the plain average."""
    return BatchPerceptron(nu=best.nu, step="root", output="average")


def averaged(
    split: Split, name: str, solver: Any, scale: Scale, epochs: float = EPOCHS, first: int = 32
) -> Course:
    """Return the mean course over the seeds: test errors against steps."""
    steps = marks(first, int(epochs * split.n), 8)
    gamma, lam = GAMMAS[name], 1.0 / split.n
    seeds = seeds_of(solver, scale)
    return mean([course(split, lam, solver, steps, seed=s, gamma=gamma) for s in seeds])
