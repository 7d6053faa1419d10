"""Intel's scikit-learn-intelex: oneDAL's SVC (working sets of SMO, MKL, threads by TBB).

Timed once each, on a busy machine: USPS twice as fast in float32 as in float64; Adult (its first
8000 rows), 123 columns wide, 2.7 times faster dense than CSR; money-fx, 8315 wide, 5 times faster
CSR. TBB takes all the cores it is allowed.
"""

import numpy as np
from scipy.sparse import issparse

from bench.kernel.solvers.base import CACHE_MB, NARROW, KernelSolver, as_csr, as_dense, expansion


class IntelexSolver(KernelSolver):
    name = "intelex"
    package = "scikit-learn-intelex"

    def container(self, X):
        if issparse(X) and X.shape[1] > NARROW:
            return as_csr(X, np.float32)
        return as_dense(X, np.float32)

    def run(self, X, problem, effort):
        from sklearnex.svm import SVC

        svm = SVC(C=problem.C, gamma=problem.gamma, tol=effort.tol, cache_size=CACHE_MB)
        svm.fit(X, problem.y)
        if not hasattr(svm, "_onedal_estimator"):
            raise RuntimeError(
                "scikit-learn-intelex fell back to libsvm; its time would be libsvm's."
            )
        return expansion(svm)
