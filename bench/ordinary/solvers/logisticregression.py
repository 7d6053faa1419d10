"""scikit-learn's LogisticRegression, C = 1/(lam n): its methods by name.

Only "liblinear" penalises the bias, as the weight of a constant column of ones; the others leave it
free. On several classes they would fit one joint (multinomial) model, another problem, so there
they are asked one against the rest.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from bench.ordinary.solvers.base import UNLIMITED, TableSolver, model_of

TOLS = {
    "lbfgs": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8),
    "newton-cholesky": (1e-1, 1e-2, 1e-4, 1e-6, 1e-8),
    "saga": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "liblinear": (1e-1, 1e-2, 1e-3, 1e-4, 1e-6),
}


class LogisticRegressionSolver(TableSolver):
    package = "scikit-learn"

    def __init__(self, method):
        self.method = method
        self.name = f"logisticregression-{method}"
        self.problems = (("logistic", "regularized" if method == "liblinear" else "free"),)
        self.tols = TOLS[method]

    def run(self, X, task, effort):
        alone = LogisticRegression(
            C=task.C, solver=self.method, tol=effort.tol, max_iter=UNLIMITED, random_state=0
        )
        if task.n_models == 1:
            alone.fit(X, task.y)
            return model_of(alone.coef_, alone.intercept_)
        models = OneVsRestClassifier(alone).fit(X, task.y).estimators_
        coef = np.vstack([model.coef_ for model in models])
        return model_of(coef, np.concatenate([model.intercept_ for model in models]))
