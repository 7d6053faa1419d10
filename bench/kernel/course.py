"""Test error against kernel evaluations, along a fit: the curves of [CSS12] Fig. 2.

Table 2 of the paper, without bias: sigma^2 = 0.5 (gamma 1) on Reuters money-fx and sigma^2 = 10
(gamma 0.05) on Adult, lam = 1/n on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.competitor import Effort
from bench.kernel.datasets import DATASETS, KernelDataset
from bench.kernel.objective import coefficients, percent_wrong
from bench.kernel.perceptron import perceptron
from bench.kernel.solvers import SOLVERS
from bench.kernel.solvers.pegasos_ import OurSolver
from bench.ladder import timed

GAMMAS = {"money-fx": 1.0, "a9a": 0.05}
SOLVERS_DRAWN = {  # label in the figure -> name here
    "SBP": "pegasos-batch_perceptron",
    "Pegasos": "pegasos-pegasos",
    "SDCA": "pegasos-sdca",
    "Perceptron": "perceptron",
}
EPOCHS = (1, 2, 3, 5, 7, 10)  # the paper ends at 10 too, save for 100 of the perceptron on Adult
CACHE_MB = 1  # the paper counts what methods without a cache compute; kept values are not counted
POINTS_PER_DECADE = 8  # of the perceptron's course, by steps

Course = list[tuple[float, float]]  # (kernel evaluations, test error in percent), in order


def problem(name: str) -> KernelDataset:
    """Return a dataset with the paper's parameters."""
    dataset = DATASETS[name].load()
    return replace(dataset, gamma=GAMMAS[name], lam=1.0 / len(dataset.y), has_bias=False)


def is_there(solver_name: str) -> bool:
    """Tell whether a course can be run."""
    return solver_name == "perceptron" or SOLVERS[solver_name].version() is not None


def course(
    solver_name: str, dataset: KernelDataset, seed: int, epochs: Sequence[int] = EPOCHS
) -> Course:
    """Return test errors along a fit; the same solver always gives as many points.

    Our solvers show no models on the way, so each point is a fit from scratch with the same seed
    and more epochs. What they count includes the certificate at the end of a fit, and rows computed
    ahead of need. The perceptron is watched from inside.
    """
    if solver_name == "perceptron":
        return perceptron_course(dataset, seed, max(epochs))
    solver = OurSolver(SOLVERS[solver_name].solver, CACHE_MB)
    X = solver.container(dataset.X)
    points = []
    for k in epochs:
        _, model = timed(solver, X, dataset, Effort(epochs=k), seed)
        points.append((float(model.evaluations), error(dataset, model)))
    return points


def perceptron_course(dataset: KernelDataset, seed: int, epochs: int) -> Course:
    """Return points equally spaced in the logarithm of the steps."""
    points, due = [], 1.0
    last = epochs * dataset.X.shape[0]
    for steps, model in perceptron(dataset, epochs, seed):
        if steps >= due or steps == last:
            points.append((float(model.evaluations), error(dataset, model)))
            due = steps * 10 ** (1 / POINTS_PER_DECADE)
    return points


def error(dataset: KernelDataset, model) -> float:
    """Return the test error in percent."""
    return percent_wrong(dataset, coefficients(dataset, model), model.b)


def averaged(courses: list[Course]) -> np.ndarray:
    """Return the mean course over seeds, shape (points, 2)."""
    return np.mean(np.array(courses), axis=0)
