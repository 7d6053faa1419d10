"""libsvm, as scikit-learn's SVC: SMO with shrinking, float64, one thread (it has no other).

SVC has two builds of libsvm. Timed once each, on a busy machine: dense rows 3.4 times faster on
USPS, CSR 16 times faster on money-fx, little between them on Adult's first 8000 rows. So every
dataset keeps its own container.
"""

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import SVC

from bench.kernel.solvers.base import CACHE_MB, KernelSolver, as_csr, as_dense, expansion


class LibsvmSolver(KernelSolver):
    name = "libsvm"
    package = "scikit-learn"
    survives_a_fork = True
    tols_of_large = (1e-2,)  # where a fit takes minutes, one that gets near 1e-3

    def container(self, X):
        return as_csr(X, np.float64) if issparse(X) else as_dense(X, np.float64)

    def run(self, X, problem, effort):
        svm = SVC(C=problem.C, gamma=problem.gamma, tol=effort.tol, cache_size=CACHE_MB)
        return expansion(svm.fit(X, problem.y))
