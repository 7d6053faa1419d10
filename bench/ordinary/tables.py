"""The tables by name: `family-scaling`, each with its penalties, raw and scaled.

    raw   the columns as the file has them       std   mean 0, spread 1       unit   range [0, 1]

Regression is raw in the target as well (epsilon: a tenth of its spread), or standardised with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.datasets import load_svmlight_file

from bench.datasets import a9a, cov1, mnist8
from bench.harness.files import Data, cached, numbers, open_data
from bench.task import CLASSIFICATION, REGRESSION, Task

PART = 0.1  # epsilon, in spreads of the target


class Table(NamedTuple):
    """How to load a table, and what to ask on it."""

    load: Callable[[], Data]
    penalties: tuple[str, ...] = ("C=1",)
    problems: tuple[tuple[str, str], ...] = CLASSIFICATION

    def tasks(self, name: str, losses: tuple[str, ...]) -> Iterator[Task]:
        """Yield the problems on this table, loaded once."""
        asked = [problem for problem in self.problems if problem[0] in losses]
        if not asked:
            return
        X, y = self.load()
        epsilon = PART * float(np.std(y)) if self.problems is REGRESSION else 0.0
        for penalty in self.penalties:
            letter, value = penalty.split("=")
            lam = float(value) if letter == "lam" else 1.0 / (float(value) * X.shape[0])
            for loss, bias in asked:
                yield Task(name, X, y, lam, setting=penalty, loss=loss, bias=bias, epsilon=epsilon)


def standardised(load: Callable[[], Data]) -> Callable[[], Data]:
    def centred() -> Data:
        X, y = load()
        mean, spread = (f(X, axis=0, dtype=np.float64) for f in (np.mean, np.std))
        scaled = (X - mean) / np.where(spread > 0, spread, 1.0)
        return np.ascontiguousarray(scaled, dtype=X.dtype), y

    return centred


def with_scaled_target(load: Callable[[], Data]) -> Callable[[], Data]:
    def scaled() -> Data:
        X, y = standardised(load)()
        return X, (y - y.mean()) / y.std()

    return scaled


def in_unit_range(load: Callable[[], Data]) -> Callable[[], Data]:
    def scaled() -> Data:
        X, y = load()
        return cov1.in_unit_range(X), y

    return scaled


def covtype() -> Data:
    """Return class 1 against the rest, the rows of `bench.datasets.cov1`, unscaled."""

    def parse() -> Data:
        X, kind = cov1.sample(cov1.TRAINING_ROWS)
        return X, np.where(kind == 1, 1, -1)

    return cached("covtype-raw", parse)


def mnist8_unit() -> Data:
    return cached("mnist8", mnist8.parse)


def mnist8_raw() -> Data:
    X, y = mnist8_unit()
    return np.rint(X * np.float32(255)), y


def letter() -> Data:
    """Return the 26 classes as 0..25."""

    def parse() -> Data:
        with open_data("letter", "letter.dat.xz") as file:
            lines = [line.split(b",") for line in file.read().split()]
        X = np.array([line[:-1] for line in lines], dtype=np.float64)
        return X, np.array([line[-1][0] - ord("A") for line in lines])

    return cached("letter", parse)


def letter_halves() -> Data:
    """Return A to M against N to Z."""
    X, y = letter()
    return X, np.where(y < 13, 1, -1)


def cal_housing() -> Data:
    def parse() -> Data:
        table = numbers("cal_housing", "cal_housing.csv.xz")
        return np.ascontiguousarray(table[:, :-1]), table[:, -1]

    return cached("cal_housing", parse)


def abalone() -> Data:
    def parse() -> Data:
        with open_data("abalone", "abalone.xz") as file:
            X, y = load_svmlight_file(file, n_features=8)
        return X.toarray(), y

    return cached("abalone", parse)


def of_sklearn(name: str) -> Callable[[], Data]:
    """Return a loader of one of scikit-learn's own tables; two classes become -1/+1."""

    def load() -> Data:
        X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
        return X, np.where(y == 1, 1, -1) if name == "breast_cancer" else y

    return load


def diabetes() -> Data:
    return sklearn_datasets.load_diabetes(return_X_y=True, scaled=False)


COV1, MNIST8 = ("lam=1e-05", "lam=1e-06"), ("lam=0.0001", "lam=1e-05")
TABLES = {
    "breast_cancer-raw": Table(of_sklearn("breast_cancer")),
    "breast_cancer-std": Table(standardised(of_sklearn("breast_cancer"))),
    "wine-raw": Table(of_sklearn("wine")),
    "wine-std": Table(standardised(of_sklearn("wine"))),
    "digits-raw": Table(of_sklearn("digits")),
    "digits-std": Table(standardised(of_sklearn("digits"))),
    "diabetes-raw": Table(diabetes, problems=REGRESSION),
    "diabetes-std": Table(with_scaled_target(diabetes), problems=REGRESSION),
    "abalone-raw": Table(abalone, problems=REGRESSION),
    "abalone-std": Table(with_scaled_target(abalone), problems=REGRESSION),
    "cal_housing-raw": Table(cal_housing, problems=REGRESSION),
    "cal_housing-std": Table(with_scaled_target(cal_housing), problems=REGRESSION),
    "letter2-raw": Table(letter_halves),
    "letter2-std": Table(standardised(letter_halves)),
    "letter-raw": Table(letter),
    "letter-std": Table(standardised(letter)),
    "a9a": Table(lambda: cached("a9a", a9a.parse), ("C=1", "C=100")),
    "mnist8-raw": Table(mnist8_raw, MNIST8),
    "mnist8-std": Table(standardised(mnist8_raw), MNIST8),
    "mnist8-unit": Table(mnist8_unit, MNIST8),
    "cov1-raw": Table(covtype, COV1),
    "cov1-std": Table(standardised(covtype), COV1),
    "cov1-unit": Table(in_unit_range(covtype), COV1),
}
