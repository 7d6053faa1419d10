"""Problems of `bench.joint`: tables with a test part, the objective, who competes, the optimum."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bench.datasets import mnist8, news20
from bench.harness.competitor import Competitor, Effort
from bench.harness.files import Data, cached, open_data
from bench.harness.optimum import Optimum, remembered
from bench.harness.problem import Floats, Problem
from bench.objective import scores
from bench.ordinary.tables import letter, standardised
from bench.solvers.base import UNLIMITED, asked, model_of
from bench.task import Model

BIASES = {"hinge": "regularized", "logistic": "free"}  # as the peers have them
C = 1.0
TRAIN = 0.75  # of the rows; MNIST has a test set of its own
AIM, ENOUGH = 1e-6, 1e-4  # relative gap asked of an optimum, and what is worth remembering


@dataclass(frozen=True, kw_only=True)
class JointTask(Problem):
    """One model of all classes, and rows to test it on."""

    loss: str
    test: Data = field(repr=False)

    @property
    def key(self) -> str:
        return f"{self.name} {self.loss}"

    @property
    def bias(self) -> str:
        return BIASES[self.loss]

    def judge(self, model: Model) -> dict[str, Any]:
        X, y = self.test
        found = (scores(X, np.asarray(model.W, dtype=np.float64)) + model.b).argmax(axis=1)
        error = 100.0 * float(np.mean(found != y))
        return {"objective": self.objective(model), "proven": model.proven, "test_error": error}

    def objective(self, model: Model) -> float:
        """Return P in float64, from the data and the model alone."""
        W, b = np.asarray(model.W, dtype=np.float64), np.asarray(model.b, dtype=np.float64)
        losses = joint_losses(scores(self.X, W) + b, self.y, self.loss)
        square = np.sum(W * W) + (np.sum(b * b) if self.bias == "regularized" else 0.0)
        return float(self.lam / 2 * square + losses.mean())


def joint_losses(Z: Floats, y: Any, loss: str) -> Floats:
    """Return the losses of rows with scores Z (n, K)."""
    rows = np.arange(len(y))
    U = Z - Z[rows, y][:, None]
    if loss == "hinge":
        U += 1.0
        U[rows, y] = 0.0
        return np.asarray(U.max(axis=1))
    top = U.max(axis=1)
    return np.asarray(top + np.log(np.exp(U - top[:, None]).sum(axis=1)))


def mnist(part: str) -> Data:
    """Return the ten digits, pixels / 255."""

    def parse() -> Data:
        X, _ = mnist8.parse(part)
        with open_data("mnist", f"{part}-labels-idx1-ubyte.xz") as file:
            digits = np.frombuffer(file.read(), np.uint8, offset=mnist8.LABEL_HEADER)
        return X, digits.astype(np.int64)

    return cached(f"mnist10-{part}", parse)


def mnist_raw(part: str) -> Data:
    X, y = mnist(part)
    return np.rint(X * np.float32(255)), y


TABLES: dict[str, Callable[[], Data]] = {
    "letter-raw": letter,
    "letter-std": standardised(letter),
    "news20": lambda: cached(news20.NAME, news20.parse),
    "mnist": lambda: mnist("train"),
    "mnist-raw": lambda: mnist_raw("train"),
}
TESTS = {"mnist": lambda: mnist("t10k"), "mnist-raw": lambda: mnist_raw("t10k")}


def tasks(name: str) -> Iterator[JointTask]:
    """Yield the problems on a table, loaded once."""
    X, y = TABLES[name]()
    if name in TESTS:
        test = TESTS[name]()
    else:
        order = np.random.default_rng(0).permutation(len(y))
        cut = int(TRAIN * len(y))
        test = X[order[cut:]], y[order[cut:]]
        X, y = X[order[:cut]], y[order[:cut]]
    for loss in BIASES:
        yield JointTask(name, X, y, 1.0 / (C * len(y)), loss=loss, test=test)


class Ours(Competitor):
    """PegasosClassifier, with its defaults."""

    name, package, is_ours, tols = "pegasos", "pegasos", True, (1e-3,)

    def run(self, X: Any, problem: JointTask, effort: Effort) -> Model:
        return self.fitted(X, problem, effort)[0]

    def fitted(self, X: Any, problem: JointTask, effort: Effort) -> tuple[Model, Any]:
        """Return the model and the certificate."""
        from pegasos import PegasosClassifier

        svm = PegasosClassifier(
            multiclass="joint", loss=problem.loss, bias=problem.bias, C=problem.C, tol=effort.tol,
            max_time=effort.seconds, random_state=0,
        ).fit(X, problem.y)  # fmt: skip
        certificate = svm.certificate_
        proven = float(np.max(certificate.relative_gap))
        return model_of(svm.coef_, svm.intercept_, proven), certificate


class CrammerSinger(Competitor):
    """LinearSVC's joint hinge; its default tolerance is 1e-4."""

    name, package, survives_a_fork = "linearsvc-crammer-singer", "scikit-learn", True
    tols = (1.0, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4)

    def supports(self, problem: JointTask) -> bool:
        return problem.loss == "hinge"

    def run(self, X: Any, problem: JointTask, effort: Effort) -> Model:
        svm = LinearSVC(
            multi_class="crammer_singer", C=problem.C, random_state=0, **asked(effort)
        ).fit(X, problem.y)
        return model_of(svm.coef_, svm.intercept_)


class Multinomial(Competitor):
    """LogisticRegression's softmax, by lbfgs or saga."""

    package, survives_a_fork = "scikit-learn", True

    def __init__(self, method: str) -> None:
        self.method, self.name = method, f"logisticregression-{method}"
        self.tols = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

    def supports(self, problem: JointTask) -> bool:
        return problem.loss == "logistic"

    def run(self, X: Any, problem: JointTask, effort: Effort) -> Model:
        model = LogisticRegression(
            C=problem.C, solver=self.method, random_state=0, max_iter=UNLIMITED, tol=effort.tol
        ).fit(X, problem.y)
        return model_of(model.coef_, model.intercept_)


OURS = Ours()
SOLVERS = (OURS, CrammerSinger(), Multinomial("lbfgs"), Multinomial("saga"))


def remembered_optimum(task: JointTask, limit: float) -> Optimum:
    """Return the optimum of a task: an interval by our own tight fit, its upper end recomputed."""

    def certified() -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gap is judged by the caller
            model, certificate = OURS.fitted(task.X, task, Effort(tol=AIM, seconds=limit))
        return [float(np.sum(certificate.dual)), task.objective(model)]

    return Optimum(
        *remembered(
            "joint_optimum", task.key, (task.X, task.y), certified,
            lambda found: Optimum(*found).relative_gap <= ENOUGH,
        )
    )  # fmt: skip
