"""Linear classification: binary, one-vs-rest and multilabel, certified."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pegasos.data.rows import FloatArray, shape
from pegasos.data.validate import checked_data, checked_weights
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.estimators.base import LinearEstimator
from pegasos.problem.losses import Hinge, Logistic, SquaredHinge
from pegasos.problem.scaling import with_class_weight

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}


class PegasosClassifier(ClassifierMixin, LinearEstimator):
    """Linear support vector classification with a proof of how good the fit is."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: Any = "hinge",
        bias: str = "free",
        bias_scale: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        stop: str = "gap",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.bias = bias
        self.bias_scale = bias_scale
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.stop = stop
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosClassifier:
        """Fit to rows X and labels y."""
        self.is_multilabel_ = y is not None and type_of_target(y).startswith("multilabel")
        rows, y = checked_data(self, X, y, multi_output=self.is_multilabel_)
        n, _ = shape(rows)
        weights = checked_weights(sample_weight, n)
        if self.is_multilabel_:
            Y = self._encode_labels(y)
        else:
            Y, weights = self._encode_classes(y, weights)
        self._fit_models(rows, Y, weights, LOSSES[self.loss])
        return self

    def _encode_classes(self, y: Any, weights: Any) -> tuple[FloatArray, Any]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        seen = codes if weights is None else codes[weights > 0]
        if len(np.unique(seen)) < 2:
            raise InvalidData(
                f"y has one class only ({self.classes_[seen[0]]!r}"
                f"{', counting rows of positive weight' if weights is not None else ''}); a "
                "classifier needs at least two."
            )
        weights = with_class_weight(self.class_weight, self.classes_, codes, weights)
        if len(self.classes_) == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None], weights
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0), weights

    def _encode_labels(self, y: Any) -> FloatArray:
        if self.class_weight is not None:
            raise InvalidParameter(
                "class_weight does not apply to multilabel y; use sample_weight instead."
            )
        y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        self.classes_ = np.arange(y.shape[1])
        return np.where(y > 0, 1.0, -1.0)

    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values: shape (n,) for two classes, (n, K) otherwise."""
        Z = self._scores(X)
        return Z[:, 0] if self._is_binary() else Z

    def _is_binary(self) -> bool:
        return not self.is_multilabel_ and len(self.classes_) == 2

    def predict(self, X: Any) -> Any:
        """Return the predicted labels."""
        return self._labels(self._scores(X))

    def _labels(self, Z: FloatArray) -> Any:
        if self.is_multilabel_:
            return (Z > 0.0).astype(int)
        if self._is_binary():
            return self.classes_[(Z[:, 0] > 0.0).astype(int)]
        return self.classes_[Z.argmax(axis=1)]

    @available_if(lambda self: _needs_logistic(self))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities (logistic loss only)."""
        P = 1.0 / (1.0 + np.exp(-np.clip(self._scores(X), -700.0, 700.0)))
        if self.is_multilabel_:
            return P
        if self._is_binary():
            return np.hstack([1.0 - P, P])
        return P / P.sum(axis=1, keepdims=True)

    def certain(self, X: Any) -> Any:
        """Tell which predicted labels can no longer change, however long training went on."""
        low, high = self._bounds(X)
        if self._is_binary():
            return (low[:, 0] > 0.0) | (high[:, 0] < 0.0)
        if self.is_multilabel_:
            return (low > 0.0) | (high < 0.0)
        best = self._scores(X).argmax(axis=1)
        rows = np.arange(len(best))
        least = low[rows, best].copy()
        high[rows, best] = -np.inf
        return least > high.max(axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _needs_logistic(estimator: Any) -> bool:
    if estimator.loss == "logistic":
        return True
    raise AttributeError(
        f'predict_proba needs loss="logistic"; this estimator has loss={estimator.loss!r}.'
    )
