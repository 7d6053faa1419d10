"""One problem on one table: data, penalty, loss and kind of bias; and the judge of its models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bench.objective import Floats, Matrix, objective, scores

LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive")
BIASES = ("regularized", "free")


class Model(NamedTuple):
    """What a fit returns; `proven` is the relative gap that it claims to have proven, if any."""

    W: Floats  # shape (d, K)
    b: Floats  # shape (K,)
    proven: float | None = None


@dataclass(frozen=True)
class Task:
    """A training problem. Labels are -1/+1 or 0..K-1; targets of a regression are numbers."""

    table: str
    setting: str  # "C=1" or "lam=1e-05", as it was asked for
    X: Matrix
    y: NDArray
    lam: float
    loss: str
    bias: str
    epsilon: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.table} {self.setting} {self.loss} {self.bias}"

    @property
    def C(self) -> float:  # noqa: N802 (the paper's letter)
        return 1.0 / (self.lam * self.X.shape[0])

    @property
    def is_regression(self) -> bool:
        return self.loss == "epsilon_insensitive"

    @property
    def n_models(self) -> int:
        return 1 if self.is_regression or self.y.min() < 0 else int(self.y.max()) + 1

    @property
    def shape_text(self) -> str:
        n, d = self.X.shape
        kind = "CSR" if issparse(self.X) else "dense"
        models = f", {self.n_models} models" if self.n_models > 1 else ""
        return f"{n:,} x {d:,} {kind} {self.X.dtype}{models}"

    def objective(self, model: Model) -> float:
        """Return P in float64, from the data and the model alone."""
        is_regularised = self.bias == "regularized"
        if not self.is_regression:
            return objective(
                self.X, self.y, self.lam, model.W, model.b, loss=self.loss,
                is_bias_regularised=is_regularised,
            )  # fmt: skip
        W, b = np.asarray(model.W, dtype=np.float64), np.asarray(model.b, dtype=np.float64)
        residual = np.abs(self.y - (scores(self.X, W) + b)[:, 0])
        penalty = np.sum(W * W) + (np.sum(b * b) if is_regularised else 0.0)
        return float(self.lam / 2 * penalty + np.maximum(0.0, residual - self.epsilon).mean())

    def few(self, rows: int = 60) -> Task:
        """Return some rows of every class, to warm a solver up; scaled, so that it ends soon."""
        if self.is_regression:
            chosen = np.arange(min(rows, len(self.y)))
        else:
            order = np.argsort(self.y, kind="stable")
            _, starts = np.unique(self.y[order], return_index=True)
            each = max(2, rows // len(starts))
            chosen = np.sort(np.concatenate([order[start : start + each] for start in starts]))
        X = self.X[chosen]
        X = (X / float(abs(X).max() or 1.0)).astype(X.dtype)  # scipy's division widens
        return replace(self, X=X, y=self.y[chosen], lam=1.0 / len(chosen))
