"""What an adapter is: a name, the container it is fastest with, its efforts, and `run`.

Each effort is a fit from scratch; `ladder` lists them from little to much, the way a user of that
solver would ask for more. Every fit may use both cores.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from bench.harness.competitor import Competitor, Effort
from bench.harness.problem import Matrix
from bench.kernel.datasets.base import KernelDataset
from bench.kernel.objective import Expansion

CACHE_MB = 2000  # for kernel values, everybody's
TOLS = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4)  # of libsvm's stopping rule
TOLS_OF_LARGE = (0.1, 1e-2, 1e-3)  # where a fit takes minutes
NARROW = 1000  # columns up to which some take sparse rows better as dense ones


class KernelSolver(Competitor):
    """One competitor on the kernel SVM of `bench.kernel`."""

    tols = TOLS
    tols_of_large = TOLS_OF_LARGE

    def supports(self, problem: KernelDataset) -> bool:
        """Tell whether the solver can take the problem; those here have a bias, always."""
        return problem.has_bias

    def ladder(self, limit: float, is_large: bool = False) -> tuple[Effort, ...]:
        tols = self.tols_of_large if is_large else self.tols
        return tuple(Effort(tol=tol, seconds=limit) for tol in tols)

    def prepare(self, problem: KernelDataset) -> Matrix:
        return self.container(problem.X)

    @abstractmethod
    def container(self, X: Matrix) -> Matrix:
        """Return rows in the container and type that the solver is fastest with; not timed."""


def as_dense(X: Matrix, dtype: type) -> Matrix:
    """Return rows as a C-ordered array."""
    return np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=dtype)


def as_csr(X: Matrix, dtype: type) -> csr_matrix:
    """Return rows as a csr_matrix, which every peer recognises, with 32-bit indices."""
    X = csr_matrix(X, dtype=dtype)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.sort_indices()
    return X


def expansion(svm: Any, evaluations: int | None = None) -> Expansion:
    """Read a fitted estimator with scikit-learn's attributes; labels -1 and +1."""
    coef = svm.dual_coef_
    coef = coef.toarray() if issparse(coef) else np.asarray(coef)
    return Expansion(
        np.asarray(svm.support_, dtype=np.int64),
        coef.reshape(-1).astype(np.float64),
        float(np.asarray(svm.intercept_).reshape(-1)[0]),
        evaluations,
    )
