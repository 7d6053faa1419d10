"""Test error against kernel evaluations, along a fit: the curves of [CSS12] Fig. 2.

Table 2 of the paper, without bias: sigma^2 = 0.5 (gamma 1) on Reuters money-fx and sigma^2 = 10
(gamma 0.05) on Adult, lam = 1/n on both; the stochastic batch perceptron is given lam, not nu.
Evaluations are counted in two ways:

    as the paper does   n for every step (its Sec. 4: a response costs as much as updating all of
                        them), the number of support vectors for a step of the perceptron
    as computed here    all responses are maintained, so a step that does not change the model is
                        free, and a row of the kernel matrix that was computed once is kept
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bench.kernel.datasets import DATASETS, KernelDataset
from bench.kernel.objective import dense, gaussian, pieces
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solvers.batch_perceptron import batch_perceptron
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.perceptron.kernel import KernelPerceptron
from pegasos.solvers.responses import lookahead
from pegasos.solvers.sdca.kernel import KernelSDCA

GAMMAS = {"money-fx": 1.0, "a9a": 0.05}
EPOCHS = 10  # as in the paper, or as many kernel rows as ten epochs of n steps
SOLVERS_DRAWN = {
    "SBP": BatchPerceptron(),
    "Pegasos": KernelPegasos(output="last"),
    "SDCA": KernelSDCA(),
    "Perceptron": KernelPerceptron(passes=EPOCHS, output="last"),
}
FIRST = 32  # steps before the first point of a curve
POINTS_PER_DECADE = 8
BUDGET = 6 << 30  # bytes for kernel values

Course = list[tuple[float, float, float]]  # evaluations counted both ways, test error in percent


def problem(name: str) -> KernelDataset:
    """Return a dataset with the paper's parameters."""
    dataset = DATASETS[name].load()
    return replace(dataset, gamma=GAMMAS[name], lam=1.0 / len(dataset.y), has_bias=False)


def kernel_of_test_rows(dataset: KernelDataset) -> np.ndarray:
    """Return kernel values of the test rows (lines) and the training rows, in float32."""
    X = dense(dataset.X)
    blocks = pieces(np.arange(dataset.X_test.shape[0]), 1024)
    return np.vstack(
        [gaussian(dataset.X_test[rows], X, dataset.gamma).astype(np.float32) for rows in blocks]
    )


def course(
    solver, dataset: KernelDataset, K_test: np.ndarray, seed: int, limit: float = np.inf
) -> Course:
    """Return test errors at equally spaced logarithms of the steps taken, so many seconds long."""
    end = time.perf_counter() + limit
    marks = iter(budgets(EPOCHS * len(dataset.y)))
    points, due = [], next(marks)
    for steps, counted, computed, coef in models(solver, dataset, seed):
        if steps >= due:
            scores = K_test @ coef().astype(np.float32)
            wrong = np.where(scores >= 0.0, 1, -1) != dataset.y_test
            points.append((float(counted), float(computed), 100.0 * float(wrong.mean())))
            due = next((mark for mark in marks if mark > steps), np.inf)
        if time.perf_counter() > end:
            break
    return points


def budgets(most: int) -> list[int]:
    """Return the steps at which models are looked at."""
    decades = np.log10(most / FIRST)
    steps = np.arange(int(POINTS_PER_DECADE * decades) + 1) / POINTS_PER_DECADE
    return [int(mark) for mark in FIRST * 10.0**steps]


def models(solver, dataset: KernelDataset, seed: int) -> Iterator[tuple]:
    """Yield (steps, evaluations counted and computed, how to get the coefficients) as they go."""
    gram = Gram(Gaussian(dataset.gamma), as_rows(dataset.X), BUDGET)
    Y = dataset.y[:, None].astype(np.float64)
    posed = make_problem(Hinge(), gram, Y, None, dataset.lam, "none")
    state, epochs, steps, counted = solver.start(posed, seed, None), 0, 0, 0
    is_perceptron = isinstance(solver, KernelPerceptron)
    while epochs < EPOCHS:
        moves = max(1, steps // 200)  # in one call: a few at first
        batch_perceptron.VALUES_PER_CALL = lookahead.VALUES_PER_CALL = moves * len(Y)
        support = np.count_nonzero(state.coefficients(posed)) if is_perceptron else len(Y)
        step = solver.advance(posed, state)
        epochs += step.ends_epoch
        steps += step.rows_visited
        counted += step.rows_visited * support
        yield steps, counted, gram.evaluations, lambda: state.coefficients(posed)[:, 0]


def averaged(courses: list[Course]) -> np.ndarray:
    """Return the mean course over seeds, shape (points, 3), as far as all of them went."""
    length = min(map(len, courses))
    return np.mean(np.array([course[:length] for course in courses]), axis=0)
