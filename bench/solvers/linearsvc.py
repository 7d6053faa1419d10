"""scikit-learn's LinearSVC and LinearSVR: liblinear's dual coordinate descent or primal Newton.

LinearSVC minimises 1/2 ||w||^2 + C sum_i loss, which is P/lam for C = 1/(lam n). It copies the data
into liblinear's own format in float64; that copy is part of its fit. `intercept_scaling` is 1, its
default, so the bias is the weight of a constant column of ones and penalised. `dual="auto"` is one
of the two rows, True if there are fewer rows than columns or the loss allows nothing else.
"""

from sklearn.svm import LinearSVC, LinearSVR

from bench.solvers.base import LinearSolver, asked, model_of

DUAL_TOLS = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6)
PRIMAL_TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
FINE_TOLS = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5)  # where three thresholds count


class LinearSVCSolver(LinearSolver):
    package = "scikit-learn"
    survives_a_fork = True
    counts_epochs = True

    def __init__(self, name="linearsvc", is_dual=True, tols=FINE_TOLS):
        self.name, self.is_dual, self.tols = name, is_dual, tols
        losses = ("hinge", "squared_hinge") if is_dual else ("squared_hinge",)
        self.problems = tuple((loss, "regularized") for loss in losses)

    def run(self, X, problem, effort):
        svm = LinearSVC(
            loss=problem.loss,
            dual=self.is_dual,
            C=problem.C,
            fit_intercept=problem.bias != "none",
            random_state=0,
            **asked(effort),
        ).fit(X, problem.y)
        return model_of(svm.coef_, svm.intercept_)


class LinearSVRSolver(LinearSolver):
    name = "linearsvr"
    package = "scikit-learn"
    survives_a_fork = True
    tols = DUAL_TOLS
    problems = (("epsilon_insensitive", "regularized"),)

    def run(self, X, problem, effort):
        svm = LinearSVR(
            epsilon=problem.epsilon, C=problem.C, dual=True, random_state=0, **asked(effort)
        ).fit(X, problem.y)
        return model_of(svm.coef_, svm.intercept_)
