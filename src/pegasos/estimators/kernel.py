"""What the kernel estimators share: the kernel, its matrix, and expansions over support vectors."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.predictions import Ball
from pegasos.certificate.stopping import Stopping
from pegasos.data.numbers import MOST
from pegasos.data.rows import CsrRows, FloatArray, Rows, as_rows, shape
from pegasos.data.validate import checked_rows
from pegasos.errors import IndefiniteKernel, InvalidData, InvalidParameter, NotCertified
from pegasos.estimators.base import CertifiedEstimator, stack_level
from pegasos.estimators.parameters import Parameters
from pegasos.parallel import ranges
from pegasos.problem.gamma import check_gamma, resolved_gamma
from pegasos.problem.gram import Cross, Gram
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from pegasos.problem.memory import MEGABYTE, memory_share
from pegasos.problem.objective import Problem
from pegasos.problem.pairs import checked_values, matrix
from pegasos.problem.scaling import is_number, positive
from pegasos.solve import Solution

KERNELS = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")
MOST_CACHE = 1e9  # megabytes, a petabyte: more is a slip of the pen
ASYMMETRIC = 1e-5  # difference of K and K', against the largest value, that is no rounding


class Expansion(NamedTuple):
    """What a warm start goes on from, whichever solver made it: coefficients (n, K)."""

    B: FloatArray

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion."""
        return self.B


class KernelEstimator(CertifiedEstimator):
    """Fit K kernel models side by side."""

    _has_kernel: ClassVar[bool] = True

    support_: Any
    support_vectors_: Any
    dual_coef_: FloatArray
    _kernel: Kernel

    def _check_kernel(self) -> None:
        """Refuse kernel parameters that make no sense, whatever the data."""
        if not callable(self.kernel):
            one_of_kernels(self.kernel)
        check_gamma(self.gamma)
        if not is_number(self.coef0) or not -MOST <= self.coef0 <= MOST:
            raise InvalidParameter(
                f"coef0 must be a finite number from {-MOST:g} to {MOST:g}; got "
                f"coef0={self.coef0!r}. It is the constant of poly and sigmoid kernels."
            )
        positive(self.degree, "degree", "It is the power of the polynomial kernel.")
        if self.cache_size is not None:
            advice = "It is in megabytes; None fits the machine."
            positive(self.cache_size, "cache_size", advice, 1e-6, MOST_CACHE)

    def _kernel_for(self, rows: Rows, sample_weight: FloatArray | None) -> Kernel:
        """Return the kernel that the parameters stand for on these rows."""
        gamma = 0.0
        if callable(self.kernel):
            check_symmetric(Custom(self.kernel), rows)
        elif self.kernel == "precomputed":
            check_precomputed(rows)
        elif self.kernel != "linear":
            gamma = resolved_gamma(self.gamma, rows, sample_weight)
        return self._kernel_with(gamma)

    def _kernel_with(self, gamma: float) -> Kernel:
        """Return the kernel that the other parameters stand for with this gamma, if it has one."""
        if callable(self.kernel):
            return Custom(self.kernel)
        kernels: dict[str, Kernel] = {
            "linear": Linear(),
            "rbf": Gaussian(gamma),
            "poly": Polynomial(gamma, float(self.coef0), float(self.degree)),
            "sigmoid": Sigmoid(gamma, float(self.coef0)),
            "laplacian": Laplacian(gamma),
            "precomputed": Precomputed(),
        }
        return kernels[self.kernel]

    def _stopping(self, parameters: Parameters, rows: Rows, Y: FloatArray) -> Stopping:
        return parameters.kernel_stopping(len(Y) * Y.size)

    def _fit_kernel(self, kernel: Kernel, *fit: Any, **options: Any) -> None:
        """Fit the models; a fit that fails leaves the kernel of the one before."""
        before = vars(self).get("_kernel")
        self._kernel = kernel
        try:
            self._fit_models(*fit, **options)
        except BaseException:
            self.__dict__.update({"_kernel": before} if before is not None else {})
            raise
        finally:
            self.__dict__.pop("_rows", None)

    def _container(self, rows: Rows) -> Any:
        self._rows = rows
        return Gram(self._kernel, rows, self._budget())

    def _budget(self) -> int:
        """Return the bytes of memory for kernel values."""
        megabytes = memory_share() if self.cache_size is None else float(self.cache_size)
        return int(megabytes * MEGABYTE)

    def _weights(self, W: FloatArray, b: FloatArray, precision: Any) -> dict[str, Any]:
        support = np.flatnonzero(W.any(axis=1))
        vectors = matrix(self._rows, support)
        if isinstance(self._kernel, Precomputed):
            vectors = np.empty((0, 0), dtype=precision)
        return {
            "support_": support.astype(np.int32),
            "support_vectors_": vectors,
            "dual_coef_": np.ascontiguousarray(W[support].T),
            "intercept_": b + 0.0,
        }

    def _settle(self, problem: Problem, solution: Solution) -> None:
        """Keep what predictions need, drop the training rows, and say what is not proven."""
        gram = problem.rows
        if self.warm_start:
            self._state = Expansion(solution.state.coefficients(problem).copy())
        self.n_kernel_evaluations_ = gram.evaluations
        self.cache_hits_, self.cache_misses_ = gram.hits, gram.misses
        self._ball = on_support(solution.ball, self.support_)
        if not self.certificate_.is_proven:
            self._ball = None
        if gram.is_indefinite or (self.certificate_.kernel_tested_on and self._ball is None):
            self._warn_indefinite()

    def _warn_indefinite(self) -> None:
        warnings.warn(
            f"The kernel is not positive semi-definite ({self.kernel!r} on these rows): the "
            "fit is a stationary point, not a proven optimum, and certain(X) has no answer. "
            'Check the kernel, or use one that is, such as kernel="rbf".',
            IndefiniteKernel,
            stacklevel=stack_level(),
        )

    def _previous(self, Y: FloatArray) -> Any | None:
        state = vars(self).get("_state") if self.warm_start else None
        return state if state is not None and state.B.shape == Y.shape else None

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


def one_of_kernels(kernel: Any) -> None:
    """Refuse an unknown name of a kernel."""
    if not isinstance(kernel, str) or kernel not in KERNELS:
        names = ", ".join(f'"{name}"' for name in KERNELS)
        raise InvalidParameter(
            f"kernel must be one of {names}, or a function of two matrices; got kernel={kernel!r}."
        )


def check_precomputed(rows: Rows) -> None:
    """Refuse a kernel matrix that is sparse, not square or not symmetric."""
    check_dense(rows)
    n, m = shape(rows)
    if n != m:
        raise InvalidData(
            f'kernel="precomputed" needs a square matrix, one row and one column per training row; '
            f"X has shape ({n}, {m})."
        )
    largest = max(float(rows.X.max(initial=0)), -float(rows.X.min(initial=0)))
    for first, stop in ranges(n, max(1, 1_000_000 // n)):
        difference = np.subtract(rows.X[first:stop], rows.X[:, first:stop].T, dtype=np.float64)
        np.abs(difference, out=difference)
        if difference.max() > ASYMMETRIC * largest:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            raise InvalidData(
                f'kernel="precomputed" needs a symmetric matrix; X[{i + first}, {j}] = '
                f"{rows.X[i + first, j]:.6g} but X[{j}, {i + first}] = {rows.X[j, i + first]:.6g}."
            )


def check_dense(rows: Rows) -> None:
    """Refuse a kernel matrix that is sparse."""
    if isinstance(rows, CsrRows):
        raise InvalidData(
            'kernel="precomputed" needs a dense matrix of kernel values; got a sparse one. Use '
            "X.toarray()."
        )


def check_symmetric(kernel: Custom, rows: Rows) -> None:
    """Refuse a function of two matrices that depends on their order."""
    some = matrix(rows, np.arange(min(32, shape(rows)[0])))
    values = checked_values(kernel, some, some)
    difference = np.abs(values - values.T)
    if difference.max() > ASYMMETRIC * np.abs(values).max():
        i, j = np.unravel_index(int(difference.argmax()), difference.shape)
        raise InvalidData(
            f"kernel must be symmetric; of rows {i} and {j} it gives {values[i, j]:.6g} one way "
            f"and {values[j, i]:.6g} the other."
        )


def on_support(ball: Ball, support: Any) -> Ball:
    """Return what is known of the optimum as expansions over the support vectors only."""
    origin = None if ball.origin is None else ball.origin[support]
    return replace(ball, centre=ball.centre[support], origin=origin)
