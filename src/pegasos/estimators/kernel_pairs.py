"""Kernel classifiers of several classes: pairs of classes one-vs-one, their scores and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import FloatArray, Rows, as_rows, shape
from pegasos.data.validate import checked_rows
from pegasos.estimators.classification import Classification
from pegasos.estimators.kernel import KernelEstimator
from pegasos.estimators.labelled import Labelled
from pegasos.estimators.labels import Labels
from pegasos.estimators.parameters import one_of
from pegasos.kernel_matrix.checks import check_dense
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.kernel_matrix.pair_scores import add_pair_scores
from pegasos.kernel_matrix.side import matrix
from pegasos.one_vs_one.models import PairExpansion, Pairs, Task
from pegasos.parallel import ranges
from pegasos.problem import votes
from pegasos.problem.kernels import Precomputed
from pegasos.solvers.refusals import check_models_and_shape, check_multiclass_and_shape

MULTICLASS, SHAPES = ("ovo", "ovr"), ("ovr", "ovo")
VALUES_AT_A_TIME = 16_000_000  # decision values of pairs that are made into labels together


class PairwiseKernelClassification(Classification, KernelEstimator):
    """Classification with kernels, of which several classes may be trained pair by pair."""

    C_: Any
    lam_: Any
    _ends_of_classes: Any  # where the support vectors of each class begin, and where the last end

    def _against_classes(self, rows: Rows) -> list[tuple[int, slice, Cross]]:
        """Return new rows against the support vectors of each class that has any."""
        ends = self._ends_of_classes
        places = [slice(*ends[c : c + 2]) for c in range(len(self.classes_))]
        used = [c for c, place in enumerate(places) if place.stop > place.start] or [0]
        if isinstance(self._kernel, Precomputed):
            check_dense(rows)
            return [
                (c, places[c], Cross(self._kernel, rows, rows, self.support_[places[c]]))
                for c in used
            ]
        vectors = self.support_vectors_
        return [
            (c, places[c], Cross(self._kernel, rows, as_rows(vectors[places[c]]))) for c in used
        ]

    @property
    def _is_of_pairs(self) -> bool:
        labels = vars(self).get("_labels")
        return labels is not None and labels.kind == "pairs"

    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n,), (n, n_classes), (n, n_pairs) or (n, n_labels)
            Of two classes: f(x) + b, positive for the second. Of several: a value per class,
            largest for the predicted one, or one per pair; see `decision_function_shape`.
            Multilabel: positive where a label is given.
        """
        return np.asarray(self._of_scores(X, self._squeezed))

    def _scores(self, X: Any) -> FloatArray:
        return self._of_scores(X, np.asarray) if self._is_of_pairs else super()._scores(X)

    def _of_scores(self, X: Any, made: Callable[[FloatArray], Any]) -> Any:
        """Of pairs, (n, P), so many rows at a time."""
        if not self._is_of_pairs:
            return super()._of_scores(X, made)
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        n, length = shape(rows)[0], max(1, VALUES_AT_A_TIME // len(self.intercept_))
        parts, found = ranges(n, length), []
        for first, stop in parts:
            some = rows if len(parts) == 1 else as_rows(matrix(rows, slice(first, stop)))
            Z = np.zeros((stop - first, len(self.intercept_)))
            add_pair_scores(self._against_classes(some), self.dual_coef_.T, Z)
            found.append(made(Z + self.intercept_))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _seen(self, X: Any) -> Any:
        if not self._is_of_pairs:
            return super()._seen(X)
        return self._against_classes(checked_rows(self, X, reset=False))

    def _squeezed(self, Z: FloatArray) -> FloatArray:
        self._check_shape()
        is_by_class = self._labels.kind == "pairs" and self.decision_function_shape == "ovr"
        return votes.class_values(Z) if is_by_class else super()._squeezed(Z)

    def _squeezed_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        self._check_shape()
        if self._labels.kind == "pairs" and self.decision_function_shape == "ovr":
            return votes.class_values(low, high), votes.class_values(high, low)
        return super()._squeezed_bounds(low, high)

    def _check_shape(self) -> None:
        """Refuse a shape that the fitted models cannot be shown in."""
        one_of(self.decision_function_shape, "decision_function_shape", SHAPES)
        check_models_and_shape(self._labels.kind, self.decision_function_shape)


def check_multiclass(estimator: Any) -> None:
    """Refuse what is no way to train or to show several classes."""
    one_of(estimator.multiclass, "multiclass", MULTICLASS)
    one_of(estimator.decision_function_shape, "decision_function_shape", SHAPES)
    check_multiclass_and_shape(estimator.multiclass, estimator.decision_function_shape)


# ---- what a fit finds


def support_found(data: Labelled, model: dict[str, Any]) -> dict[str, Any]:
    """Return counts of the support vectors of a fit, and what a stream goes on from."""
    support = model["support_"]
    targets = data.targets[support]
    return {
        "n_support_": support_counts(data.labels, model["dual_coef_"], targets),
        "_targets_of_support": targets,
        "_weights_of_support": None if data.weights is None else data.weights[support],
        "_online": None,
    }


def support_counts(labels: Labels, coefficients: FloatArray, targets: FloatArray) -> Any:
    """Return the number of support vectors per class; multilabel: per model.

    Coefficients are (K, m), targets (m, K).
    """
    if labels.kind == "multilabel":
        return np.count_nonzero(coefficients, axis=1)
    positive = np.count_nonzero(targets > 0.0, axis=0)
    return np.append(len(targets) - positive, positive) if len(positive) == 1 else positive


def by_class(support: Any, codes: Any) -> Any:
    """Return support vectors class by class, as expansions of pairs have them."""
    return support[np.argsort(codes[support], kind="stable")]


def ends_found(codes: Any, n_classes: int) -> dict[str, Any]:
    """Return where the support vectors of each class begin, given their classes in order."""
    return {"_ends_of_classes": np.searchsorted(codes, np.arange(n_classes + 1))}


def pair_penalty_found(C: float, lam: float, pairs: Pairs) -> dict[str, Any]:
    """Return the penalty on both scales; of each pair, if a solver found one of its own."""
    if np.any(pairs.C != C):
        return {"C_": pairs.C, "lam_": lam * C / pairs.C}
    return {"C_": C, "lam_": lam}


def pair_state_found(estimator: Any, task: Task, pairs: Pairs) -> dict[str, Any]:
    """Return what was computed, and what bounds and warm starts need."""
    is_proven, is_free = estimator.certificate_.is_proven, task.bias == "free"
    return {
        "n_kernel_evaluations_": pairs.evaluations,
        "cache_hits_": pairs.hits,
        "cache_misses_": pairs.misses,
        "_ball": pairs.balls(estimator.support_, is_free) if is_proven else None,
        "_state": None if pairs.last is None else PairExpansion(pairs.last),
    }


def previous_pairs(estimator: Any, n: int, n_classes: int) -> FloatArray | None:
    """Return the coefficients to continue from: the last fit's, if rows and classes agree."""
    state = vars(estimator).get("_state") if estimator.warm_start else None
    if isinstance(state, PairExpansion) and state.of_pairs.shape == (n, n_classes - 1):
        return state.of_pairs
    return None
