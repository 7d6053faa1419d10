"""liblinear itself, from its authors' package: -s 3 (dual, hinge), -B -1 (no bias), C = 1/(lam n).

It ends after 300 epochs whatever -e asks, so finer tolerances end there too, and it draws its order
from an unseeded rand(), so two fits differ in their last digits.
Its Python wrapper reads CSR quickly and dense rows one at a time in Python, so dense data is
handed over as CSR; building its problem is part of the time, as it is for a user.
"""

import numpy as np
from scipy.sparse import csr_matrix

from bench.solvers.base import Effort, Solver


class LiblinearSolver(Solver):
    name = "liblinear"
    package = "liblinear-official"
    counts_epochs = False  # its limit of 300 epochs is compiled in

    def ladder(self):
        return tuple(Effort(tol=tol) for tol in (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5))

    def run(self, X, y, lam, effort):
        from liblinear.liblinearutil import parameter, problem, train

        C = 1.0 / (lam * X.shape[0])
        options = parameter(f"-s 3 -c {C!r} -B -1 -e {effort.tol!r} -q")
        # csr_matrix, not csr_array: the wrapper recognises only the former. No entry is copied.
        model = train(problem(y.astype(np.float64), csr_matrix(X)), options)
        labels = model.get_labels()
        if model.nr_class == 2:
            w = np.ctypeslib.as_array(model.w, (X.shape[1],)).copy()
            return w * labels[0]  # w points to the label seen first
        W = np.ctypeslib.as_array(model.w, (X.shape[1] * model.nr_class,))
        return W.reshape(X.shape[1], model.nr_class)[:, np.argsort(labels)].copy()
