"""Kernel classifiers of several classes, one-vs-one: fit, scores and bounds of pairs of classes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.around import compilation_for
from pegasos.certificate.stopping import Certificate, Outcome
from pegasos.certificate.trace import Trace
from pegasos.data.rows import FloatArray, Rows, as_rows, float_type, shape
from pegasos.data.validate import checked_rows
from pegasos.errors import InvalidParameter
from pegasos.estimators import votes
from pegasos.estimators.callbacks import EpochCallbacks, uses_callbacks
from pegasos.estimators.classification import Classification
from pegasos.estimators.kernel import KernelEstimator, check_dense
from pegasos.estimators.labels import Kind
from pegasos.estimators.one_vs_one import Course, Pairs, Task, Training
from pegasos.estimators.pair_certificate import (
    certificate_of,
    history_of,
    outcome_of,
    record_of,
    trace_of,
)
from pegasos.estimators.parameters import Parameters, one_of, seeded
from pegasos.interrupt import Interrupts
from pegasos.parallel import one_blas_thread, ranges
from pegasos.problem.class_pairs import add_pair_scores
from pegasos.problem.gram import Cross
from pegasos.problem.kernels import Precomputed
from pegasos.problem.pairs import matrix
from pegasos.problem.scaling import lam_of
from pegasos.progress import Watch, watch_for

MULTICLASS, SHAPES = ("ovo", "ovr"), ("ovr", "ovo")
VALUES_AT_A_TIME = 16_000_000  # decision values of pairs that are made into labels together


class PairExpansion(NamedTuple):
    """What a warm start of pairs goes on from: coefficients (n, K - 1), see `class_pairs`."""

    of_pairs: FloatArray


class Whole(NamedTuple):
    """What is known of all pairs together, as `Solution` has it of one problem."""

    certificate: Certificate
    trace: Trace
    outcome: Outcome


class PairwiseKernelClassification(Classification, KernelEstimator):
    """Classification with kernels, of which several classes may be trained pair by pair."""

    C_: Any
    lam_: Any
    _ends_of_classes: Any  # where the support vectors of each class begin, and where the last end

    @property
    def _several(self) -> Kind:
        return "pairs" if self.multiclass == "ovo" else "multiclass"

    def _check_multiclass(self) -> None:
        """Refuse what is no way to train or to show several classes."""
        one_of(self.multiclass, "multiclass", MULTICLASS)
        one_of(self.decision_function_shape, "decision_function_shape", SHAPES)
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise InvalidParameter(
                'decision_function_shape="ovo" has a column per pair of classes, which '
                'multiclass="ovr" does not train; use multiclass="ovo".'
            )

    # ---- fit

    def _fit_models(
        self,
        parameters: Parameters,
        rows: Rows,
        Y: FloatArray,
        sample_weight: FloatArray | None,
        *,
        data: dict[str, Any],
        decided: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        if self._labels.kind != "pairs":
            super()._fit_models(parameters, rows, Y, sample_weight, data=data, decided=decided)
            return
        self._rows, precision = rows, float_type(rows)
        task = self._task(parameters, rows, Y.argmax(axis=1), sample_weight)
        n_pairs = self._labels.n_models
        callbacks = EpochCallbacks(
            self, data, n_pairs, lambda B, b: self._pair_weights(B, b, task.codes, precision)
        )
        watch = watch_for(self.verbose, parameters.tol, callbacks, pairs=n_pairs)
        pairs, solution = train(
            task, watch, Interrupts(keeps=self.on_interrupt == "keep"), uses_callbacks(self)
        )
        self._keep_pairs(task, pairs, solution, precision)
        callbacks.finish()
        self._warn(solution, rows)

    def _task(
        self, parameters: Parameters, rows: Rows, codes: Any, sample_weight: FloatArray | None
    ) -> Task:
        n, K = shape(rows)[0], len(self.classes_)
        S = float(n) if sample_weight is None else float(sample_weight.sum())
        self.C_, self.lam_ = lam_of(self.C, self.lam, S)
        counts = np.bincount(codes, minlength=K).astype(float)
        values = int((K - 2) * (counts**2).sum() + counts.sum() ** 2)  # of all pairs' matrices
        state = vars(self).get("_state") if self.warm_start else None
        previous = state.of_pairs if isinstance(state, PairExpansion) else None
        fits = previous is not None and previous.shape == (n, K - 1)
        return Task(
            kernel=self._kernel, rows=rows, codes=codes, n_classes=K, weights=sample_weight,
            loss=parameters.loss, solver=parameters.solver, bias=parameters.bias, C=self.C_,
            stopping=parameters.kernel_stopping(values), budget=self._budget(),
            seeds=seeded(self.random_state).randint(2**31 - 1, size=self._labels.n_models),
            previous=previous if fits else None,
            goes_on=bool(self.warm_start),
        )  # fmt: skip

    def _keep_pairs(self, task: Task, pairs: Pairs, solution: Whole, precision: Any) -> None:
        """Set the fitted attributes; say what is not proven."""
        if np.any(pairs.C != task.C):  # a solver was given another measure of the penalty
            self.lam_ = self.lam_ * self.C_ / pairs.C
            self.C_ = pairs.C
        self._state = None if pairs.last is None else PairExpansion(pairs.last)
        self.certificate_, self.history_ = solution.certificate, history_of(pairs)
        self.n_iter_ = solution.certificate.epochs
        weights = self._pair_weights(pairs.B, pairs.b, task.codes, precision)
        for name, value in weights.items():
            setattr(self, name, value)
        self.n_kernel_evaluations_ = pairs.evaluations
        self.cache_hits_, self.cache_misses_ = pairs.hits, pairs.misses
        self._ball = None
        if self.certificate_.is_proven:
            self._ball = pairs.balls(self.support_, task.bias == "free")
        if pairs.is_indefinite or (self.certificate_.kernel_tested_on and self._ball is None):
            self._warn_indefinite()

    def _pair_weights(
        self, B: FloatArray, b: FloatArray, codes: Any, precision: Any
    ) -> dict[str, Any]:
        """Return the fitted attributes that hold the models: support vectors by class."""
        support = np.flatnonzero(B.any(axis=1))
        support = support[np.argsort(codes[support], kind="stable")]
        vectors = matrix(self._rows, support)
        if isinstance(self._kernel, Precomputed):
            vectors = np.empty((0, 0), dtype=precision)
        ends = np.searchsorted(codes[support], np.arange(len(self.classes_) + 1))
        return {
            "support_": support.astype(np.int32),
            "support_vectors_": vectors,
            "dual_coef_": np.ascontiguousarray(B[support].T),
            "intercept_": b + 0.0,
            "_ends_of_classes": ends,
        }

    def _previous(self, Y: FloatArray) -> Any | None:
        state = vars(self).get("_state")
        return None if isinstance(state, PairExpansion) else super()._previous(Y)

    # ---- scores

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
        if self.decision_function_shape == "ovo" and self._labels.kind == "multiclass":
            raise InvalidParameter(
                'decision_function_shape="ovo" has a column per pair of classes, but the models '
                'are of one class against the rest each; fit with multiclass="ovo".'
            )


def train(
    task: Task, watch: Watch, interrupts: Interrupts, one_by_one: bool
) -> tuple[Pairs, Whole]:
    """Train all pairs; return them, and what is known of them together."""
    compilation, begin = compilation_for(task.loss, watch), time.perf_counter()

    def seconds() -> float:
        return time.perf_counter() - begin - compilation.seconds

    def note(training: Training, p: int) -> None:
        done, n_pairs, models = course.done, training.pairs.n_pairs, training.pairs
        now = seconds()
        watch.certified(record_of(models, done, now), now * (n_pairs - done) / done)
        course.must_stop |= watch.epoch(done, lambda: (models.B, models.b))
        if done < n_pairs and not course.must_stop:
            watch.advanced(done, seconds)

    course = Course(interrupts, seconds)
    with interrupts, watch, compilation, one_blas_thread:
        pairs = Training(task, course, note).run(one_by_one)
        certificate = certificate_of(pairs, task.stopping.tol, seconds())
        watch.finished(certificate)
    outcome: Outcome = outcome_of(pairs)
    return pairs, Whole(certificate, trace_of(pairs), outcome)
