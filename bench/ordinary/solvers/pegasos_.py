"""Ours with its defaults, but for the problem (C, loss, bias, epsilon) and `tol`.

`tol` is a proven relative gap, so two rungs do: one for each threshold. Validation and certificate
are part of the time.
"""

import numpy as np

from bench.ordinary.solvers.base import TableSolver, model_of
from bench.ordinary.tables import CLASSIFICATION, REGRESSION


class OurTableSolver(TableSolver):
    package = "pegasos"
    is_ours = True
    problems = CLASSIFICATION + REGRESSION
    tols = (1e-3, 1e-5)
    survives_a_fork = False  # and it obeys max_time

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs
        self.name = "pegasos" if n_jobs is None else f"pegasos n_jobs={n_jobs}"

    def version(self):
        """Return the version, or None while there is no such parameter."""
        from pegasos import PegasosClassifier

        is_there = self.n_jobs is None or "n_jobs" in PegasosClassifier().get_params()
        return super().version() if is_there else None

    def run(self, X, task, effort):
        return self.fitted(X, task, effort)[0]

    def fitted(self, X, task, effort):
        """Return the model and the certificate."""
        from pegasos import PegasosClassifier, PegasosRegressor

        options = {"C": task.C, "bias": task.bias, "tol": effort.tol, "max_time": effort.seconds}
        if self.n_jobs is not None:
            options["n_jobs"] = self.n_jobs
        if task.is_regression:
            svm = PegasosRegressor(epsilon=task.epsilon, random_state=0, **options)
        else:
            svm = PegasosClassifier(loss=task.loss, random_state=0, **options)
        svm.fit(X, task.y)
        certificate = svm.certificate_
        proven = float(np.max(certificate.relative_gap))
        return model_of(svm.coef_, svm.intercept_, proven), certificate
