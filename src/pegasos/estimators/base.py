"""What the linear estimators share: parameters to problem, solution to fitted attributes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import FloatArray, Rows, all_scores, float_type, shape, stored_values
from pegasos.data.validate import checked_rows
from pegasos.errors import FitInterrupted, InvalidParameter, ToleranceNotReached
from pegasos.problem.objective import blocks, flat, make_problem
from pegasos.problem.scaling import lam_of, positive
from pegasos.solve import Solution, solve
from pegasos.solvers.catalogue import linear_solver

TINY = 50_000  # stored values up to which `auto` goes to machine precision
WISH = 1e-14
WISHED_VALUES = 50_000_000  # values read at most on the way there


class LinearEstimator(BaseEstimator):
    """Fit K linear models side by side and keep their certificate."""

    coef_: FloatArray
    intercept_: FloatArray

    def _fit_models(
        self, rows: Rows, Y: FloatArray, sample_weight: FloatArray | None, loss: Any
    ) -> Solution:
        """Solve for labels Y (n, K); set what all estimators set."""
        n, _ = shape(rows)
        S = float(n) if sample_weight is None else float(sample_weight.sum())
        self.C_, self.lam_ = lam_of(self.C, self.lam, S)
        solver = linear_solver(self.solver)
        problem = make_problem(loss, rows, Y, sample_weight, self.lam_, self.bias, self.bias_scale)
        solution = solve(
            problem,
            solver,
            self._stopping(rows, Y.shape[1]),
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            previous=self._previous_state(Y),
        )
        self._state = solution.state if self.warm_start else None
        self.ball_ = solution.ball
        self.certificate_ = solution.certificate
        self.history_ = solution.trace.as_dict()
        self.n_iter_ = solution.certificate.epochs
        self.coef_ = solution.W.T.astype(float_type(rows), copy=False)
        self.intercept_ = solution.b
        self._warn(solution)
        return solution

    def _previous_state(self, Y: FloatArray) -> Any | None:
        """Return the state to continue from: that of the last fit, if the shapes agree."""
        state = getattr(self, "_state", None) if self.warm_start else None
        return state if state is not None and state.A.shape == Y.shape else None

    def _stopping(self, rows: Rows, K: int) -> Stopping:
        positive(self.tol, "tol", "tol=1e-3 asks for an objective within 0.1 % of the optimum.")
        positive(self.max_iter, "max_iter", "It limits the passes over the data.")
        if self.max_time is not None:
            positive(self.max_time, "max_time", "It is in seconds; None means no limit.")
        if self.stop not in ("gap", "decisions"):
            raise InvalidParameter(f'stop must be "gap" or "decisions"; got {self.stop!r}.')
        values = stored_values(rows) * K
        is_tiny = self.solver == "auto" and values <= TINY and self.stop == "gap"
        return Stopping(
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            max_time=np.inf if self.max_time is None else float(self.max_time),
            rule=self.stop,
            wish=WISH if is_tiny else np.inf,
            wish_epochs=min(20_000, WISHED_VALUES // max(1, values)) if is_tiny else 0,
        )

    def _warn(self, solution: Solution) -> None:
        certificate = solution.certificate
        if solution.outcome is Outcome.INTERRUPT:
            warnings.warn(
                f"Fit interrupted; the model so far is kept: {certificate}.",
                FitInterrupted,
                stacklevel=4,
            )
        elif not certificate.is_within_tol and solution.outcome is not Outcome.DECISIONS:
            warnings.warn(f"{certificate}.", ToleranceNotReached, stacklevel=4)

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        W = np.ascontiguousarray(np.atleast_2d(self.coef_).T, dtype=np.float64)
        Z = np.empty((shape(rows)[0], W.shape[1]))
        for start, stop in blocks(rows):
            all_scores(rows, start, stop, flat(W), Z)
        return Z + self.intercept_

    def _bounds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self)
        low, high = self.ball_.bounds(checked_rows(self, X, reset=False))
        return low, high
