"""The optimum of a problem without bias, known by certificate; kept in .cache."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from bench.harness.optimum import remembered
from papers.harness.data import Split
from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.errors import ToleranceNotReached

TOL = 1e-5


class Optimum(NamedTuple):
    """P* lies in [dual, primal]; the test error in percent, ||w|| and mean hinge loss there."""

    dual: float
    primal: float
    test_error: float
    norm: float
    hinge: float

    def suboptimality(self, objective: np.ndarray | float) -> np.ndarray:
        """Return P - P*, overstated by at most `primal - dual`."""
        return np.maximum(np.asarray(objective) - self.dual, 0.0)

    @property
    def nu(self) -> float:
        """The slack per row of a w of length 1: what the batch perceptron is given."""
        return self.hinge / self.norm


def optimum(split: Split, lam: float, gamma: float | None = None, tol: float = TOL) -> Optimum:
    """Return the optimum at lam, of the Gaussian kernel if `gamma` is given."""
    key = f"{split.name} lam={lam:.6g} gamma={gamma} tol={tol:g}"
    compute = lambda: solved(split, lam, gamma, tol)  # noqa: E731
    return Optimum(*remembered("papers_optimum", key, (split.X, split.y), compute))


def solved(split: Split, lam: float, gamma: float | None, tol: float) -> Optimum:
    """Solve to a relative gap of `tol`."""
    if gamma is None:
        model = PegasosClassifier(lam=lam, bias="none", tol=tol, max_iter=100_000)
    else:
        model = KernelPegasosClassifier(
            kernel="rbf", gamma=gamma, lam=lam, bias="none", tol=tol, max_iter=100_000
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ToleranceNotReached)
        model.fit(split.X, split.y)
    found = model.certificate_
    margins = np.where(split.y > 0, 1.0, -1.0) * model.decision_function(split.X)
    hinge = float(np.maximum(0.0, 1.0 - margins).mean())
    norm = float(np.sqrt(max(0.0, 2.0 * (found.primal - hinge) / lam)))
    error = 100.0 * float(np.mean(model.predict(split.X_test) != split.y_test))
    return Optimum(float(found.dual), float(found.primal), error, norm, hinge)
