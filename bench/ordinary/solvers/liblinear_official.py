"""liblinear itself, from its authors' package, with -B 1: a constant column, penalised.

Its dual methods end after 300 epochs whatever -e asks and draw from an unseeded rand(); see
`bench.solvers.liblinear_official`, also on why rows are handed over as CSR.
"""

import numpy as np
from scipy.sparse import csr_matrix

from bench.ordinary.solvers.base import TableSolver, model_of
from bench.ordinary.solvers.linearsvc import DUAL_TOLS, PRIMAL_TOLS

METHODS = {  # -s: what it minimises, and whether it is a dual method (-s 1: see LinearSVC)
    3: ("hinge", True),
    2: ("squared_hinge", False),
    7: ("logistic", True),
    0: ("logistic", False),
    13: ("epsilon_insensitive", True),
}


class LiblinearTableSolver(TableSolver):
    package = "liblinear-official"

    def __init__(self, number):
        loss, is_dual = METHODS[number]
        self.number = number
        self.name = f"liblinear -s {number}"
        self.problems = ((loss, "regularized"),)
        self.tols = DUAL_TOLS if is_dual else PRIMAL_TOLS

    def run(self, X, task, effort):
        from liblinear.liblinearutil import parameter, problem, train

        options = f"-s {self.number} -c {task.C!r} -B 1 -e {effort.tol!r} -q"
        if task.is_regression:
            options += f" -p {task.epsilon!r}"
        posed = problem(task.y.astype(np.float64), csr_matrix(X), bias=1.0)
        model = train(posed, parameter(options))
        d = X.shape[1] + 1
        if task.is_regression:
            w = np.ctypeslib.as_array(model.w, (d,)).copy()
            return model_of(w[:-1], w[-1])
        labels = model.get_labels()
        if model.nr_class == 2:
            w = np.ctypeslib.as_array(model.w, (d,)) * labels[0]  # w points to the first label
            return model_of(w[:-1], w[-1])
        W = np.ctypeslib.as_array(model.w, (d * model.nr_class,)).reshape(d, model.nr_class)
        W = W[:, np.argsort(labels)]
        return model_of(W[:-1].T, W[-1])
