"""Ours, through the public estimator: validation and certificate are part of the time.

Tolerances are proven relative gaps. Sparse rows up to 1000 columns wide are handed over dense, as
to scikit-learn-intelex; on a busy machine no difference to CSR was seen on Adult's first 8000 rows.
"""

import numpy as np
from scipy.sparse import issparse

from bench.kernel.solvers.base import NARROW, KernelSolver, as_dense, expansion

UNLIMITED = 1_000_000  # epochs; the tolerance or the time decides
NEVER = 1e-15  # a tolerance that is not reached: the epochs decide


class OurSolver(KernelSolver):
    package = "pegasos"
    is_ours = True
    tols = (0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
    tols_of_large = (1e-2, 1e-3, 1e-4)

    def __init__(self, solver, cache_mb=None):
        self.solver, self.cache_mb = solver, cache_mb
        self.name = f"pegasos-{solver}"

    def version(self):
        """Return the version that has this solver, or None while it is not in the catalogue."""
        from pegasos.solvers.catalogue import KERNEL_SOLVERS

        is_there = self.solver == "auto" or self.solver in KERNEL_SOLVERS
        return super().version() if is_there else None

    def supports(self, problem):
        return True

    def container(self, X):
        return as_dense(X, X.dtype) if issparse(X) and X.shape[1] <= NARROW else X

    def run(self, X, problem, effort, seed=0):
        from pegasos import KernelPegasosClassifier

        svm = KernelPegasosClassifier(
            kernel="rbf",
            gamma=problem.gamma,
            lam=problem.lam,
            bias="free" if problem.has_bias else "none",
            solver=self.solver,
            tol=NEVER if effort.tol is None else effort.tol,
            max_iter=UNLIMITED if effort.epochs is None else effort.epochs,
            max_time=effort.seconds,
            cache_size=self.cache_mb,
            random_state=seed,
        )
        svm.fit(X, problem.y)
        return expansion(svm, int(np.asarray(svm.history_["evaluations"])[-1]))
