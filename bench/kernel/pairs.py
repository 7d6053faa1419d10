"""The judge of one-vs-one models: true suboptimality of all pairs together.

Every pair of classes is a binary problem with the same C; a model's objective is the sum of

    P = 1/2 ||f||^2 + C sum_i max(0, 1 - y_i (f(x_i) + b)),

recomputed in float64, and each pair's optimum is bounded from below by the dual value of the best
coefficients seen so far, whoever they came from (`bench.kernel.objective`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bench.harness.problem import Floats, Matrix
from bench.kernel.datasets.base import KernelDataset
from bench.kernel.objective import Expansion, dual_bound, judge


class Pairs:
    """The pairs of one training set, and the best lower bounds of their optima."""

    def __init__(self, X: Matrix, y: NDArray, C: float, gamma: float) -> None:
        self.X, self.y, self.C, self.gamma = X, y, C, gamma
        self.classes = np.unique(y)
        self.bounds = np.zeros(len(self.classes) * (len(self.classes) - 1) // 2)

    def value(self, svm) -> float:
        """Return the objective of a fitted SVC, summed over pairs; remember its bounds."""
        total = 0.0
        for k, (problem, model) in enumerate(self.problems(svm)):
            scale = 1.0 / problem.lam  # from lam/2 ||f||^2 + mean loss
            total += scale * judge(problem, model).primal
            self.bounds[k] = max(self.bounds[k], scale * dual_bound(problem, model))
        return total

    def suboptimality(self, value: float) -> float:
        """Return how far a value is above the sum of the best bounds, relative to it."""
        bound = float(self.bounds.sum())
        return value / bound - 1.0 if bound > 0.0 else np.inf

    def problems(self, svm) -> Iterator[tuple[KernelDataset, Expansion]]:
        """Yield each pair of classes with its part of a model, positive for the first class.

        In libsvm's layout the support vectors of class i have their coefficients against class j
        in row j - 1 if i < j, and in row j if i > j.
        """
        coef = svm.dual_coef_.toarray() if issparse(svm.dual_coef_) else np.asarray(svm.dual_coef_)
        support = np.asarray(svm.support_, dtype=np.int64)
        own = np.searchsorted(self.classes, self.y[support])
        intercepts = np.ravel(svm.intercept_)
        for k, (i, j) in enumerate(combinations(range(len(self.classes)), 2)):
            rows = np.flatnonzero(np.isin(self.y, self.classes[[i, j]]))
            first, second = np.flatnonzero(own == i), np.flatnonzero(own == j)
            chosen = np.concatenate([first, second])
            part: Floats = np.concatenate([coef[j - 1, first], coef[i, second]]).astype(float)
            sign = -1.0 if len(self.classes) == 2 else 1.0  # of two, the second is positive
            y = np.where(self.y[rows] == self.classes[i], 1, -1)
            X = self.X[rows]
            problem = KernelDataset(
                f"{i}-{j}", X, y, 1.0 / (self.C * len(y)),
                X_test=X[:1], y_test=y[:1], gamma=self.gamma,
            )  # fmt: skip
            places = np.searchsorted(rows, support[chosen])
            yield problem, Expansion(places, sign * part, sign * float(intercepts[k]))
