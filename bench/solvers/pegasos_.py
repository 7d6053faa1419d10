"""Ours: SDCA by tolerance (a proven gap, checked in the time), and Pegasos (k = 1) by epochs.

Both are fits through the public estimator, from scratch, with validation and certificate included.
"""

import numpy as np

from bench.solvers.base import EPOCHS, Effort, Solver

TOLS = (0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
UNLIMITED = 100_000  # epochs; the tolerance decides
NEVER = 1e-15  # a tolerance that is not reached: the epochs decide


class OurSolver(Solver):
    package = "pegasos"
    is_ours = True

    def solver_argument(self):
        """Return what PegasosClassifier takes as `solver`."""
        raise NotImplementedError

    def run(self, X, y, lam, effort):
        from pegasos import PegasosClassifier

        svm = PegasosClassifier(
            lam=lam,
            loss="hinge",
            bias="none",
            solver=self.solver_argument(),
            tol=NEVER if effort.tol is None else effort.tol,
            max_iter=UNLIMITED if effort.epochs is None else effort.epochs,
            random_state=0,
        )
        return np.asarray(svm.fit(X, y).coef_).T


class OurSDCA(OurSolver):
    name = "pegasos-sdca"

    def ladder(self):
        return tuple(Effort(tol=tol) for tol in TOLS)

    def solver_argument(self):
        return "sdca"


class OurPegasos(OurSolver):
    name = "pegasos-pegasos"

    def ladder(self):
        return EPOCHS

    def solver_argument(self):
        return "pegasos"
