"""What the classifiers share: decision values to labels, and what is certain of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from pegasos.data.rows import FloatArray
from pegasos.estimators.base import CertifiedEstimator
from pegasos.estimators.labels import Labels
from pegasos.problem.losses import Logistic


def _is_logistic(estimator: Any) -> bool:
    loss = estimator.loss
    if isinstance(loss, Logistic) or (isinstance(loss, str) and loss == "logistic"):
        return True
    raise AttributeError(f'predict_proba needs loss="logistic"; this estimator has loss={loss!r}.')


class Decisions(ClassifierMixin):
    """Decision values of K outputs side by side, and the labels that they stand for."""

    _labels: Labels
    _scores: Any  # of an estimator: rows to decision values (n, K)

    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values, <w, x> + b.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n,) for two classes, else (n, n_models)
            Positive for the second of two classes; largest for the predicted one of several.
        """
        Z = self._scores(X)
        return self._squeezed(Z)

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n,), or (n, n_labels) for multilabel
            Taken from `classes_`; 0 and 1 for multilabel.
        """
        return self._of_scores(X, lambda Z: self._labels.predicted(Z))

    def _of_scores(self, X: Any, made: Callable[[FloatArray], Any]) -> Any:
        """Return what is made of the decision values of all models."""
        return made(self._scores(X))

    def _squeezed(self, Z: FloatArray) -> FloatArray:
        return Z[:, 0] if self._labels.kind == "binary" else Z


class Classification(Decisions, CertifiedEstimator):
    """Binary, joint, one-vs-rest and multilabel classification on top of K outputs side by side."""

    def decision_bounds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the decision values that the exact optimum would give.

        They follow from the certificate and hold for any rows, seen in training or not, whatever
        rounding does. Their width goes with the square root of the gap: `tol` a hundred times
        smaller makes them ten times narrower. Where nothing is known they are infinite.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        lower, upper : ndarray, each of the shape of `decision_function(X)`
            The optimum's decision values lie between them.
        """
        _, low, high = self._bounds(X)
        return self._squeezed_bounds(low, high)

    def _squeezed_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._squeezed(low), self._squeezed(high)

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities; only with loss="logistic".

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n, n_classes)
            Rows sum to 1, except for multilabel, where labels are independent of each other.
        """
        Z = self._scores(X)
        if self._labels.kind == "joint":
            return np.asarray(softmax(Z, axis=1))
        return self._labels.probabilities(1.0 / (1.0 + np.exp(-np.clip(Z, -700.0, 700.0))))

    def certain(self, X: Any) -> Any:
        """Tell which predicted labels can no longer change, however long training went on.

        Others may well be the optimum's, too: nothing is proven about them. On text, two thirds to
        five sixths of the labels are certain at the default `tol`, and about nine of ten at 1e-4;
        see `decision_bounds`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        is_certain : ndarray of bool of shape (n,), or (n, n_labels) for multilabel
            True where the exact optimum is proven to predict the same label.
        """
        if vars(self).get("_labels") is not None and self._labels.kind == "joint":
            Z, leaders = self._leaders(X)
            return leaders == Z.argmax(axis=1)
        Z, low, high = self._bounds(X)
        return self._labels.certain(Z, low, high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        # Without a bias, decisions pass through the origin: on data that is not centred, scores
        # are poor however good the fit.
        tags.classifier_tags.poor_score = self.bias == "none"
        return tags
