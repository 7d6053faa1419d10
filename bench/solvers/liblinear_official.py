"""liblinear itself, from its authors' package: C = 1/(lam n), -B 1 (a penalised column) or -1.

Its dual methods end after 300 epochs whatever -e asks, so finer tolerances end there too, and draw
their order from an unseeded rand(), so two fits differ in their last digits.
Its Python wrapper reads CSR quickly and dense rows one at a time in Python, so dense data is
handed over as CSR; building its problem is part of the time, as it is for a user.
"""

import numpy as np
from scipy.sparse import csr_matrix

from bench.solvers.base import LinearSolver, model_of
from bench.solvers.linearsvc import DUAL_TOLS, PRIMAL_TOLS

METHODS = {  # -s: what it minimises, and whether it is a dual method (-s 1: see LinearSVC)
    3: ("hinge", True),
    2: ("squared_hinge", False),
    7: ("logistic", True),
    0: ("logistic", False),
    13: ("epsilon_insensitive", True),
}


class LiblinearSolver(LinearSolver):
    package = "liblinear-official"
    survives_a_fork = True

    def __init__(self, number, name=None, tols=None):
        self.number, self.name = number, name or f"liblinear -s {number}"
        loss, is_dual = METHODS[number]
        self.problems = ((loss, "regularized"),)
        self.tols = tols or (DUAL_TOLS if is_dual else PRIMAL_TOLS)

    def run(self, X, problem, effort):
        from liblinear import liblinearutil as liblinear

        bias = -1.0 if problem.bias == "none" else 1.0
        options = f"-s {self.number} -c {problem.C!r} -B {bias:g} -e {effort.tol!r} -q"
        if problem.is_regression:
            options += f" -p {problem.epsilon!r}"
        # csr_matrix, not csr_array: the wrapper recognises only the former. No entry is copied.
        y = problem.y.astype(np.float64)
        posed = liblinear.problem(y, csr_matrix(X), bias=bias)
        model = liblinear.train(posed, liblinear.parameter(options))
        d = X.shape[1] + (bias > 0.0)
        K = model.nr_class if not problem.is_regression and model.nr_class > 2 else 1
        W = np.ctypeslib.as_array(model.w, (d * K,)).reshape(d, K)
        if problem.is_regression:
            W = W.copy()
        else:
            labels = model.get_labels()
            W = W[:, np.argsort(labels)] if K > 1 else W * labels[0]  # w points to the first label
        return model_of(W[:-1].T, W[-1]) if bias > 0.0 else model_of(W.T)
