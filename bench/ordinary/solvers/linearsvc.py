"""scikit-learn's LinearSVC and LinearSVR: liblinear's dual coordinate descent or primal Newton.

`intercept_scaling` is 1, its default, so the bias is the weight of a constant column of ones and
penalised. `dual="auto"` is one of the two rows, True if there are fewer rows than columns or the
loss allows nothing else.
"""

from sklearn.svm import LinearSVC, LinearSVR

from bench.ordinary.solvers.base import UNLIMITED, TableSolver, model_of

DUAL_TOLS = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6)
PRIMAL_TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


class LinearSVCTableSolver(TableSolver):
    package = "scikit-learn"

    def __init__(self, is_dual=True):
        self.is_dual = is_dual
        self.name = f"linearsvc-{'dual' if is_dual else 'primal'}"
        self.tols = DUAL_TOLS if is_dual else PRIMAL_TOLS
        losses = ("hinge", "squared_hinge") if is_dual else ("squared_hinge",)
        self.problems = tuple((loss, "regularized") for loss in losses)

    def run(self, X, task, effort):
        svm = LinearSVC(
            loss=task.loss,
            dual=self.is_dual,
            C=task.C,
            tol=effort.tol,
            max_iter=UNLIMITED,
            random_state=0,
        ).fit(X, task.y)
        return model_of(svm.coef_, svm.intercept_)


class LinearSVRTableSolver(TableSolver):
    name = "linearsvr"
    package = "scikit-learn"
    tols = DUAL_TOLS
    problems = (("epsilon_insensitive", "regularized"),)

    def run(self, X, task, effort):
        svm = LinearSVR(
            epsilon=task.epsilon,
            C=task.C,
            dual=True,
            tol=effort.tol,
            max_iter=UNLIMITED,
            random_state=0,
        ).fit(X, task.y)
        return model_of(svm.coef_, svm.intercept_)
