"""What the classifiers share: labels to targets, decision values to labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from pegasos.data.numbers import check_targets, checked_weights
from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.data.validate import checked_data
from pegasos.errors import InvalidParameter
from pegasos.estimators.base import CertifiedEstimator
from pegasos.estimators.labels import (
    Kind,
    Labels,
    check_two_classes,
    columns_of,
    is_multilabel,
    labels_of,
)
from pegasos.problem.losses import Logistic
from pegasos.problem.scaling import with_class_weight


def _is_logistic(estimator: Any) -> bool:
    loss = estimator.loss
    if isinstance(loss, Logistic) or (isinstance(loss, str) and loss == "logistic"):
        return True
    raise AttributeError(f'predict_proba needs loss="logistic"; this estimator has loss={loss!r}.')


class Classification(ClassifierMixin, CertifiedEstimator):
    """Binary, one-vs-rest and multilabel classification on top of K models side by side."""

    _labels: Labels

    @property
    def _several(self) -> Kind:
        """How more than two classes are trained."""
        return "multiclass"

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, FloatArray, FloatArray | None]:
        """Return rows, targets (n, K) and weights of data to fit; set what is known of labels."""
        check_targets(y)
        has_columns = is_multilabel(y)
        rows, y = checked_data(self, X, y, multi_output=has_columns)
        weights = checked_weights(sample_weight, shape(rows)[0])
        if has_columns:
            self._refuse_class_weight()
            self._labels, codes = columns_of(y)
        else:
            self._labels, codes = labels_of(y, self._several)
            weights = with_class_weight(self.class_weight, self._labels.classes, codes, weights)
            check_two_classes(self._labels, codes, weights)
        self.classes_ = self._labels.classes
        return rows, self._labels.targets(codes), weights

    def _refuse_class_weight(self) -> None:
        if self.class_weight is not None:
            raise InvalidParameter(
                "class_weight does not apply to multilabel y, whose rows have several classes; use "
                "sample_weight instead."
            )

    def _stream_labels(self, classes: Any) -> Labels:
        """Return the labels of a stream: those of the first call, or of the fit before it."""
        known: Labels | None = vars(self).get("_labels")
        if known is not None and known.kind == "multilabel":
            raise InvalidParameter("partial_fit has no multilabel form; use fit.")
        if known is not None and known.kind == "pairs":  # a stream has one model per class
            known = replace(known, kind="multiclass")
        if known is not None and classes is None:
            return known
        if classes is None:
            raise InvalidParameter(
                "classes must be passed on the first call to partial_fit: all labels that may ever "
                "occur in y."
            )
        labels = labels_of(np.asarray(classes))[0]
        if len(labels.classes) < 2:
            raise InvalidParameter(f"classes must name at least two classes; got {classes!r}.")
        if known is not None and not np.array_equal(labels.classes, known.classes):
            raise InvalidParameter(
                f"classes={classes!r} is not the same as on the last call to partial_fit, "
                f"{known.classes.tolist()!r}."
            )
        return labels

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

    def _squeezed(self, Z: FloatArray) -> FloatArray:
        return Z[:, 0] if self._labels.kind == "binary" else Z

    def _squeezed_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._squeezed(low), self._squeezed(high)

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
        P = 1.0 / (1.0 + np.exp(-np.clip(self._scores(X), -700.0, 700.0)))
        return self._labels.probabilities(P)

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
        Z, low, high = self._bounds(X)
        return self._labels.certain(Z, low, high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        # Without a bias, decisions pass through the origin: on data that is not centred, scores
        # are poor however good the fit.
        tags.classifier_tags.poor_score = self.bias == "none"
        return tags
