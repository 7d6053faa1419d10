"""scikit-learn's SGDClassifier: alpha = lam, the "optimal" schedule, plain or averaged.

Its own stopping rule is switched off (tol=None): it watches a running sum, not the objective. It
would leave its bias free; to pose the same problem it gets a column of ones, made beforehand.
"""

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.linear_model import SGDClassifier

from bench.harness.competitor import Effort
from bench.solvers.base import THREADS, LinearSolver, model_of


class SGDClassifierSolver(LinearSolver):
    package = "scikit-learn"
    survives_a_fork = True
    counts_epochs = True
    problems = (("hinge", "regularized"),)  # its squared hinge diverges

    def __init__(self, is_averaged=False, growth=2):
        self.is_averaged, self.growth = is_averaged, growth  # of the epochs, from rung to rung
        self.name = "sgdclassifier-averaged" if is_averaged else "sgdclassifier"

    def ladder(self, limit, is_large=False):
        rungs = range(1 + int(np.log(4096) / np.log(self.growth) + 0.5))
        return tuple(Effort(epochs=self.growth**k, seconds=limit) for k in rungs)

    def prepare(self, problem):
        X = problem.X
        if problem.bias == "none":
            return X
        ones = np.ones((X.shape[0], 1), dtype=X.dtype)
        return csr_array(hstack([X, csr_array(ones)])) if issparse(X) else np.hstack([X, ones])

    def run(self, X, problem, effort):
        sgd = SGDClassifier(
            loss=problem.loss,
            alpha=problem.lam,
            fit_intercept=False,
            average=self.is_averaged,
            tol=None,
            max_iter=effort.epochs,
            random_state=0,
            n_jobs=None if problem.bias == "none" else THREADS,
        ).fit(X, problem.y)
        if problem.bias == "none":
            return model_of(sgd.coef_)
        return model_of(sgd.coef_[:, :-1], sgd.coef_[:, -1])
