"""One linear problem on one table: data, penalty, loss and bias; and the judge of its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bench.harness.problem import Floats, Problem
from bench.objective import objective, scores

LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive")
CLASSIFICATION = (
    ("hinge", "regularized"),
    ("squared_hinge", "regularized"),
    ("logistic", "regularized"),
    ("logistic", "free"),
)
REGRESSION = (("epsilon_insensitive", "regularized"),)


class Model(NamedTuple):
    """What a fit returns; `proven` is the relative gap that it claims to have proven, if any."""

    W: Floats  # shape (d, K)
    b: Floats  # shape (K,)
    proven: float | None = None


@dataclass(frozen=True, kw_only=True)
class Task(Problem):
    """A training problem of a linear model."""

    setting: str = ""  # "C=1" or "lam=1e-05", as it was asked for
    loss: str = "hinge"
    bias: str = "none"  # or "regularized", as the weight of a column of ones, or "free"
    epsilon: float = 0.0

    @property
    def key(self) -> str:
        problem = "" if self.bias == "none" else f" {self.loss} {self.bias}"
        return f"{self.name} {self.setting or f'lam={self.lam:g}'}{problem}"

    @property
    def is_regression(self) -> bool:
        return self.loss == "epsilon_insensitive"

    def judge(self, model: Model) -> dict[str, Any]:
        return {"objective": self.objective(model), "proven": model.proven}

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
