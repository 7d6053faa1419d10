"""Linear regression with the epsilon-insensitive loss, certified."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from pegasos.data.rows import FloatArray, shape
from pegasos.data.validate import checked_data, checked_weights
from pegasos.estimators.base import LinearEstimator
from pegasos.problem.losses import EpsilonInsensitive


class PegasosRegressor(RegressorMixin, LinearEstimator):
    """Linear support vector regression with a proof of how good the fit is."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: str = "free",
        bias_scale: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        stop: str = "gap",
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.bias_scale = bias_scale
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.stop = stop
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosRegressor:
        """Fit to rows X and targets y."""
        rows, y = checked_data(self, X, y, y_numeric=True)
        Y = np.ascontiguousarray(y, dtype=np.float64)[:, None]
        weights = checked_weights(sample_weight, shape(rows)[0])
        self._fit_models(rows, Y, weights, EpsilonInsensitive(float(self.epsilon)))
        self.coef_ = self.coef_[0]
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return predicted targets."""
        return self._scores(X)[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
