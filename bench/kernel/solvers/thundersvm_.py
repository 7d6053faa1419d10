"""ThunderSVM (thundersvm-cpu 0.3.3, of 2019): working sets of SMO, OpenMP, float32 kernel values.

What was found before it could take part:

- `thundersvm` 0.3.12 does not load: it wants libcusparse.so.9.0, of CUDA 9. `thundersvm-cpu` does.
- Its CSR input is broken: Python hands labels over as int32, the library reads them as float32, and
  every row becomes a class of its own, so that training does not end. Labels that are the bit
  patterns of -1.0 and 1.0 arrive intact, and then CSR gives the model that dense rows give, sooner
  on all of USPS, Adult and money-fx, where dense rows took minutes. So: CSR always, such labels.
- Its OpenMP threads spin while they wait, which costs much on busy cores;
  OMP_WAIT_POLICY=PASSIVE, set before its library is loaded, spares that.
- `intercept_` holds rho, and the first label seen is its positive class.
- `fit` rounds the caller's CSR values to float32 in place; they are float32 before.
"""

import os

import numpy as np

from bench.kernel.objective import Expansion
from bench.kernel.solvers.base import KernelSolver, as_csr, expansion

THREADS = 2
NEGATIVE, POSITIVE = np.array([-1.0, 1.0], np.float32).view(np.int32)


class ThunderSVMSolver(KernelSolver):
    name = "thundersvm"
    package = "thundersvm-cpu"

    def container(self, X):
        return as_csr(X, np.float32)

    def run(self, X, problem, effort):
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from thundersvm import SVC

        svm = SVC(C=problem.C, gamma=problem.gamma, tol=effort.tol, n_jobs=THREADS)
        svm.fit(X, np.where(problem.y > 0, POSITIVE, NEGATIVE))
        model = expansion(svm)
        sign = 1.0 if problem.y[model.support] @ model.coef > 0.0 else -1.0
        return Expansion(model.support, sign * model.coef, -sign * model.b)
