"""What the kernel estimators share: the kernel, and expansions over support vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.numbers import MOST
from pegasos.data.rows import FloatArray, Rows, as_rows, float_type
from pegasos.data.validate import checked_rows
from pegasos.errors import InvalidParameter, NotCertified
from pegasos.estimators.base import CertifiedEstimator
from pegasos.kernel_matrix.checks import check_dense, check_precomputed, check_symmetric
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.kernel_matrix.side import matrix
from pegasos.problem.gamma import check_gamma, resolved_gamma
from pegasos.problem.kernels import KERNELS, Custom, Kernel, Precomputed, kernel_of
from pegasos.problem.objective import Problem
from pegasos.problem.scaling import is_number, positive
from pegasos.solve import Solution
from pegasos.solvers.refusals import listed
from pegasos.solvers.warm_start import Expansion

MOST_CACHE = 1e9  # megabytes, a petabyte: more is a slip of the pen


class KernelEstimator(CertifiedEstimator):
    """Scores of K kernel models side by side."""

    _has_kernel: ClassVar[bool] = True

    support_: Any
    support_vectors_: Any
    dual_coef_: FloatArray
    _kernel: Kernel

    def _against_support(self, X: Any) -> Cross:
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        if isinstance(self._kernel, Precomputed):
            check_dense(rows)
            return Cross(self._kernel, rows, rows, self.support_)
        return Cross(self._kernel, rows, as_rows(self.support_vectors_))

    def _scores(self, X: Any) -> FloatArray:
        cross = self._against_support(X)
        Z = np.zeros((cross.shape[0], len(self.dual_coef_)))
        cross.add_scores(np.ascontiguousarray(self.dual_coef_.T), Z)
        return Z + self.intercept_

    def _bounds(self, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        check_is_fitted(self)
        if "certificate_" in vars(self) and not self.certificate_.is_proven:
            raise NotCertified(
                "The kernel is not positive semi-definite, so nothing is proven about the optimum."
            )
        if isinstance(vars(self).get("_kernel"), Precomputed):
            raise NotCertified(
                "With a precomputed kernel, bounds need the values K(x, x) of new rows, which the "
                "matrix does not hold. Pass the kernel as a function."
            )
        return super()._bounds(X)

    def _seen(self, X: Any) -> Any:
        return self._against_support(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def check_kernel(estimator: Any) -> None:
    """Refuse kernel parameters that make no sense, whatever the data."""
    kernel, coef0 = estimator.kernel, estimator.coef0
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
        raise InvalidParameter(
            f"kernel must be one of {listed(KERNELS, ', ')}, or a function of two matrices; got "
            f"kernel={kernel!r}."
        )
    check_gamma(estimator.gamma)
    if not is_number(coef0) or not -MOST <= coef0 <= MOST:
        raise InvalidParameter(
            f"coef0 must be a finite number from {-MOST:g} to {MOST:g}; got "
            f"coef0={coef0!r}. It is the constant of poly and sigmoid kernels."
        )
    positive(estimator.degree, "degree", "It is the power of the polynomial kernel.")
    if estimator.cache_size is not None:
        advice = "It is in megabytes; None fits the machine."
        positive(estimator.cache_size, "cache_size", advice, 1e-6, MOST_CACHE)


def kernel_for(estimator: Any, rows: Rows, sample_weight: FloatArray | None) -> Kernel:
    """Return the kernel that the parameters stand for on these rows."""
    kernel, gamma = estimator.kernel, 0.0
    if callable(kernel):
        check_symmetric(Custom(kernel), rows)
    elif kernel == "precomputed":
        check_precomputed(rows)
    elif kernel != "linear":
        gamma = resolved_gamma(estimator.gamma, rows, sample_weight)
    return kernel_of(kernel, gamma, estimator.coef0, estimator.degree)


def model_found(
    kernel: Kernel, rows: Rows, B: FloatArray, b: FloatArray, support: Any
) -> dict[str, Any]:
    """Return the fitted attributes that hold expansions with coefficients B (n, K), biases b.

    `support` are the rows with coefficients, in the order they are to have.
    """
    vectors = matrix(rows, support)
    if isinstance(kernel, Precomputed):
        vectors = np.empty((0, 0), dtype=float_type(rows))
    return {
        "_kernel": kernel,
        "support_": support.astype(np.int32),
        "support_vectors_": vectors,
        "dual_coef_": np.ascontiguousarray(B[support].T),
        "intercept_": b + 0.0,
    }


def support_of(B: FloatArray) -> Any:
    """Return the rows with coefficients that are not 0."""
    return np.flatnonzero(B.any(axis=1))


def state_found(estimator: Any, problem: Problem, solution: Solution) -> dict[str, Any]:
    """Return what was computed, and what bounds and warm starts need."""
    gram, support = problem.rows, support_of(solution.W)
    state = None
    if estimator.warm_start:
        state = Expansion(solution.state.coefficients(problem).copy())
    is_proven = solution.certificate.is_proven
    return {
        "n_kernel_evaluations_": gram.evaluations,
        "cache_hits_": gram.hits,
        "cache_misses_": gram.misses,
        "_ball": solution.ball.on_support(support) if is_proven else None,
        "_state": state,
    }


def previous_state(estimator: Any, Y: FloatArray) -> Expansion | None:
    """Return what to continue from: the last fit's expansion, if rows and models agree."""
    state = vars(estimator).get("_state") if estimator.warm_start else None
    return state if isinstance(state, Expansion) and state.B.shape == Y.shape else None
