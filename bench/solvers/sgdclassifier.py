"""scikit-learn's SGDClassifier: alpha = lam, the "optimal" schedule, plain or averaged.

Its own stopping rule is switched off (tol=None): it watches a running sum, not the objective.
"""

from sklearn.linear_model import SGDClassifier

from bench.solvers.base import EPOCHS, Solver


class SGDClassifierSolver(Solver):
    package = "scikit-learn"

    def __init__(self, is_averaged=False):
        self.is_averaged = is_averaged
        self.name = "sgdclassifier-averaged" if is_averaged else "sgdclassifier"

    def ladder(self):
        return EPOCHS

    def run(self, X, y, lam, effort):
        sgd = SGDClassifier(
            loss="hinge",
            alpha=lam,
            fit_intercept=False,
            average=self.is_averaged,
            tol=None,
            max_iter=effort.epochs,
            random_state=0,
        )
        return sgd.fit(X, y).coef_.T
