"""IBM Snap ML's SupportVectorMachine: dual coordinate descent, regularizer = lam n, one thread.

The scaling is found by experiment (tests/bench/test_adapters.py): it minimises
regularizer/2 ||w||^2 + sum_i hinge, which is n P. It stops improving at a relative suboptimality of
up to 2e-3 on some small problems, however many epochs it is given.
"""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from bench.solvers.base import EPOCHS, Solver


class SnapMLSolver(Solver):
    name = "snapml"
    package = "snapml"

    def ladder(self):
        return EPOCHS

    def run(self, X, y, lam, effort):
        from snapml import SupportVectorMachine

        svm = SupportVectorMachine(
            loss="hinge",
            regularizer=lam * X.shape[0],
            fit_intercept=False,
            tol=1e-12,
            max_iter=effort.epochs,
            n_jobs=1,
            random_state=0,
        )
        svm.fit(csr_matrix(X) if issparse(X) else X, y)
        return np.atleast_2d(svm.coef_).T
