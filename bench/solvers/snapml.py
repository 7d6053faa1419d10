"""IBM Snap ML: dual coordinate descent for SVMs and logistic regression, regularizer = lam n.

The scaling is found by experiment (tests/bench): it minimises n P, with b^2 beside ||w||^2 where it
has a bias. It stops improving at a relative suboptimality of up to 2e-3 on some small problems,
however many epochs it is given. One thread in the benchmark without bias, two in the others.
"""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from bench.solvers.base import EPOCHS, THREADS, LinearSolver, asked, model_of


class SnapMLSolver(LinearSolver):
    name = "snapml"
    package = "snapml"
    counts_epochs = True
    problems = (("hinge", "regularized"), ("logistic", "regularized"))

    def ladder(self, limit, is_large=False):
        return EPOCHS

    def run(self, X, problem, effort):
        import snapml

        has_bias = problem.bias != "none"
        options = asked(effort._replace(tol=None)) | {
            "regularizer": problem.lam * X.shape[0],
            "fit_intercept": has_bias,
            "n_jobs": THREADS if has_bias else 1,
            "random_state": 0,
        }
        if problem.loss == "logistic":
            svm = snapml.LogisticRegression(dual=True, **options)
        else:
            svm = snapml.SupportVectorMachine(loss=problem.loss, **options)
        svm.fit(csr_matrix(X) if issparse(X) else X, problem.y)
        return model_of(svm.coef_, np.ravel(svm.intercept_) if has_bias else 0.0)
