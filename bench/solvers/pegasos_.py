"""Ours through the public estimators, from scratch; validation and certificate are in the time.

`OurSolver` has the library's defaults, but for the problem (C, loss, bias, epsilon) and `tol`,
which is a proven relative gap: two rungs do, one for each threshold of `bench.ordinary`. The
benchmark without bias asks for SDCA and cutting planes by tolerance and for Pegasos (k = 1) by
epochs, and counts what they have reached, as it does for everybody.
"""

import numpy as np

from bench.harness.competitor import Effort
from bench.solvers.base import EPOCHS, UNLIMITED, LinearSolver, model_of
from bench.task import CLASSIFICATION, REGRESSION

NEVER = 1e-15  # a tolerance that is not reached: the epochs decide


class OurSolver(LinearSolver):
    package = "pegasos"
    is_ours = True
    problems = CLASSIFICATION + REGRESSION
    tols = (1e-3, 1e-5)

    def __init__(self, n_jobs=None):
        self.options = {} if n_jobs is None else {"n_jobs": n_jobs}
        self.name = "pegasos" if n_jobs is None else f"pegasos n_jobs={n_jobs}"

    def run(self, X, problem, effort):
        return self.fitted(X, problem, effort)[0]

    def fitted(self, X, task, effort):
        """Return the model and the certificate."""
        from pegasos import PegasosClassifier, PegasosRegressor

        options = {"C": task.C, "bias": task.bias, "max_time": effort.seconds, "random_state": 0}
        options |= {"tol": NEVER if effort.tol is None else effort.tol, **self.options}
        if effort.epochs is not None:
            options["max_iter"] = effort.epochs
        if task.is_regression:
            svm = PegasosRegressor(epsilon=task.epsilon, **options)
        else:
            svm = PegasosClassifier(loss=task.loss, multiclass="ovr", **options)
        svm.fit(X, task.y)
        certificate = svm.certificate_
        proven = float(np.max(certificate.relative_gap))
        return model_of(svm.coef_, svm.intercept_, proven), certificate


class OneOfOurs(OurSolver):
    """One of our solvers by name, in one thread.

    An epoch of cutting planes is a cut, and they keep a vector per cut and model: one model only.
    """

    counts_epochs = True

    def __init__(self, solver, takes_several=True):
        self.takes_several = takes_several
        self.options = {"solver": solver, "max_iter": UNLIMITED, "n_jobs": 1}
        self.name = f"pegasos-{solver}"
        self.tols = (0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)

    def supports(self, problem):
        return super().supports(problem) and (self.takes_several or problem.n_models == 1)

    def ladder(self, limit, is_large=False):
        if self.name == "pegasos-pegasos":
            return tuple(Effort(epochs=rung.epochs, seconds=limit) for rung in EPOCHS)
        return super().ladder(limit)

    def run(self, X, problem, effort):
        return super().run(X, problem, effort)._replace(proven=None)
