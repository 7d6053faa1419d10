"""SGDClassifier and Snap ML: both are told how many epochs to make.

*SGDClassifier* would leave its bias free; to pose the same problem it gets a column of ones, made
beforehand. Its own stopping rule is switched off, as in `bench.solvers.sgdclassifier`.
*Snap ML* (SupportVectorMachine, LogisticRegression) minimises lam n/2 (||w||^2 + b^2) + sum of
losses, found by experiment (tests/bench/ordinary), in two threads.
"""

import numpy as np
from scipy.sparse import csr_array, csr_matrix, hstack, issparse
from sklearn.linear_model import SGDClassifier

from bench.competitor import Effort
from bench.ordinary.solvers.base import EPOCHS, TableSolver, model_of

THREADS = 2
NEVER = 1e-12  # a tolerance that is not reached: the epochs decide


class SGDTableSolver(TableSolver):
    name = "sgdclassifier"
    package = "scikit-learn"
    problems = (("hinge", "regularized"),)  # its squared hinge diverges

    def ladder(self, limit):
        return tuple(Effort(epochs=4**k, seconds=limit) for k in range(7))

    def prepare(self, task):
        ones = np.ones((task.X.shape[0], 1), dtype=task.X.dtype)
        if issparse(task.X):
            return csr_array(hstack([task.X, csr_array(ones)]))
        return np.hstack([task.X, ones])

    def run(self, X, task, effort):
        sgd = SGDClassifier(
            loss=task.loss,
            alpha=task.lam,
            fit_intercept=False,
            tol=None,
            max_iter=effort.epochs,
            random_state=0,
            n_jobs=THREADS,
        ).fit(X, task.y)
        return model_of(sgd.coef_[:, :-1], sgd.coef_[:, -1])


class SnapMLTableSolver(TableSolver):
    name = "snapml"
    package = "snapml"
    problems = (("hinge", "regularized"), ("logistic", "regularized"))
    survives_a_fork = False

    def ladder(self, limit):
        return EPOCHS

    def run(self, X, task, effort):
        import snapml

        options = {
            "regularizer": task.lam * X.shape[0],
            "fit_intercept": True,
            "tol": NEVER,
            "max_iter": effort.epochs,
            "n_jobs": THREADS,
            "random_state": 0,
        }
        if task.loss == "logistic":
            svm = snapml.LogisticRegression(dual=True, **options)
        else:
            svm = snapml.SupportVectorMachine(loss=task.loss, **options)
        svm.fit(csr_matrix(X) if issparse(X) else X, task.y)
        return model_of(svm.coef_, np.ravel(svm.intercept_))
