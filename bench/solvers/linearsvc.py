"""scikit-learn's LinearSVC: liblinear's dual coordinate descent with shrinking, C = 1/(lam n).

LinearSVC minimises 1/2 ||w||^2 + C sum_i hinge, which is P/lam. It copies the data into
liblinear's own format in float64; that copy is part of its fit.
"""

from sklearn.svm import LinearSVC

from bench.solvers.base import Effort, Solver

UNLIMITED = 4000  # epochs; the default of 1000 would end the finer tolerances early


class LinearSVCSolver(Solver):
    name = "linearsvc"
    package = "scikit-learn"

    def ladder(self):
        tols = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5)
        return tuple(Effort(tol=tol, epochs=UNLIMITED) for tol in tols)

    def run(self, X, y, lam, effort):
        svm = LinearSVC(
            loss="hinge",
            dual=True,
            C=1.0 / (lam * X.shape[0]),
            fit_intercept=False,
            tol=1e-12 if effort.tol is None else effort.tol,
            max_iter=effort.epochs,
            random_state=0,
        )
        return svm.fit(X, y).coef_.T
