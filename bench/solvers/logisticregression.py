"""scikit-learn's LogisticRegression, C = 1/(lam n): its methods by name.

Only "liblinear" penalises the bias, as the weight of a constant column of ones; the others leave it
free. On several classes they would fit one joint (multinomial) model, another problem, so there
they are asked one against the rest.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from bench.solvers.base import LinearSolver, asked, model_of

TOLS = {
    "lbfgs": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8),
    "newton-cholesky": (1e-1, 1e-2, 1e-4, 1e-6, 1e-8),
    "saga": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "liblinear": (1e-1, 1e-2, 1e-3, 1e-4, 1e-6),
}


class LogisticRegressionSolver(LinearSolver):
    package = "scikit-learn"
    survives_a_fork = True

    def __init__(self, method):
        self.method = method
        self.name = f"logisticregression-{method}"
        self.problems = (("logistic", "regularized" if method == "liblinear" else "free"),)
        self.tols = TOLS[method]

    def run(self, X, problem, effort):
        alone = LogisticRegression(
            C=problem.C, solver=self.method, random_state=0, **asked(effort._replace(epochs=None))
        )
        if problem.n_models == 1:
            alone.fit(X, problem.y)
            return model_of(alone.coef_, alone.intercept_)
        models = OneVsRestClassifier(alone).fit(X, problem.y).estimators_
        coef = np.vstack([model.coef_ for model in models])
        return model_of(coef, np.concatenate([model.intercept_ for model in models]))
