"""What all estimators share: parameters to problem, solution to fitted attributes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.pair_balls import PairBalls
from pegasos.certificate.predictions import Ball
from pegasos.certificate.stopping import Certificate, Outcome, Stopping
from pegasos.data.rows import FloatArray, Rows, float_type, shape, stored_values
from pegasos.data.validate import checked_rows
from pegasos.errors import (
    FitInterrupted,
    InvalidParameter,
    NotCertified,
    ToleranceNotReached,
)
from pegasos.estimators.callbacks import CallbackSupport, EpochCallbacks
from pegasos.estimators.diagnosis import diagnosis
from pegasos.estimators.parameters import Parameters, seeded, threads_of
from pegasos.interrupt import Interrupts
from pegasos.parallel import limited_to, one_blas_thread
from pegasos.problem.objective import Problem, make_problem
from pegasos.problem.scaling import lam_of
from pegasos.progress import watch_for
from pegasos.solve import Solution, solve


class CertifiedEstimator(CallbackSupport, BaseEstimator):
    """Fit K models side by side and keep their certificate.

    Subclasses say what the rows are to a solver (`_container`), which fitted attributes hold the
    models (`_weights`) and how new rows are scored (`_scored`).
    """

    # What parameters mean where an estimator does not have them.
    bias_scale: float = 1.0
    stop: str = "gap"  # a regressor has no decisions to wait for
    n_jobs: int | None = None
    _has_kernel: ClassVar[bool] = False

    intercept_: FloatArray
    certificate_: Certificate
    _ball: Ball | PairBalls | None

    @one_blas_thread
    def _fit_models(
        self,
        parameters: Parameters,
        rows: Rows,
        Y: FloatArray,
        sample_weight: FloatArray | None,
        *,
        data: dict[str, Any],
        decided: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """Solve for targets Y (n, K); set what all estimators set.

        `data` is what callbacks may see: X, y and metadata as the user passed them.
        """
        n, _ = shape(rows)
        S = float(n) if sample_weight is None else float(sample_weight.sum())
        self.C_, self.lam_ = lam_of(self.C, self.lam, S)
        problem = make_problem(
            parameters.loss, self._container(rows), Y, sample_weight, self.lam_, parameters.bias,
            self.bias_scale,
        )  # fmt: skip
        stopping = self._stopping(parameters, rows, Y)
        precision = float_type(rows)
        callbacks = EpochCallbacks(
            self, data, stopping.max_iter, lambda W, b: self._weights(W, b, precision)
        )
        with limited_to(threads_of(self)):
            solution = solve(
                problem,
                parameters.solver,
                stopping,
                seed=seeded(self.random_state).randint(2**31 - 1),
                previous=self._previous(Y),
                watch=watch_for(self.verbose, stopping.tol, callbacks),
                decided=decided,
                interrupts=Interrupts(keeps=self.on_interrupt == "keep"),
            )
        if solution.lam != self.lam_:  # a solver was given another measure of the penalty
            self.lam_, self.C_ = solution.lam, 1.0 / (solution.lam * S)
        self._state = solution.state if self.warm_start else None
        self._ball = solution.ball
        self.certificate_ = solution.certificate
        self.history_ = solution.trace.as_dict()
        self.n_iter_ = solution.certificate.epochs
        for name, value in self._weights(solution.W, solution.b, precision).items():
            setattr(self, name, value)
        self._settle(problem, solution)
        callbacks.finish()
        self._warn(replace(solution, certificate=self.certificate_), rows)

    def _stopping(self, parameters: Parameters, rows: Rows, Y: FloatArray) -> Stopping:
        """Return the limits of a fit."""
        return parameters.stopping(stored_values(rows) * Y.shape[1])

    def _container(self, rows: Rows) -> Any:
        """Return the rows as solvers are to see them."""
        raise NotImplementedError

    def _weights(self, W: FloatArray, b: FloatArray, precision: Any) -> dict[str, Any]:
        """Return the fitted attributes that hold weights W and biases (K,)."""
        raise NotImplementedError

    def _settle(self, problem: Problem, solution: Solution) -> None:
        """Keep or drop what a fit leaves behind beside its weights."""

    def _previous(self, Y: FloatArray) -> Any | None:
        """Return the state to continue from: that of the last fit, if the shapes agree."""
        raise NotImplementedError

    def _warn(self, solution: Any, rows: Rows) -> None:
        """Warn of an interrupted fit, or of one that a limit ended above the tolerance."""
        if solution.outcome is Outcome.INTERRUPT:
            warnings.warn(
                "Fit interrupted by Ctrl-C, half-trained; the model so far is kept: "
                f"{solution.certificate}. To stop a search or another loop of fits, press Ctrl-C "
                'twice, or set on_interrupt="raise".',
                FitInterrupted,
                stacklevel=stack_level(),
            )
        elif solution.outcome in (Outcome.EPOCHS, Outcome.TIME, Outcome.ROUNDING):
            warnings.warn(
                diagnosis(self, solution, rows), ToleranceNotReached, stacklevel=stack_level()
            )

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        raise NotImplementedError

    @one_blas_thread
    def _bounds(self, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return decision values of shape (n, K) and bounds on the optimum's."""
        check_is_fitted(self)
        if self._ball is None:
            raise NotCertified(
                "partial_fit keeps no certificate, because a stream has no end: bounds on the "
                "optimum are known after fit only."
            )
        with limited_to(threads_of(self)):
            Z, low, high = self._ball.scores_and_bounds(self._seen(X))
        return Z + self.intercept_, low, high

    def _seen(self, X: Any) -> Any:
        """Return new rows as the ball of a certificate is to see them."""
        return checked_rows(self, X, reset=False)

    def set_params(self, **params: Any) -> Any:
        """Set parameters; options of a solver or loss object as `solver__option`.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : estimator
            The estimator itself.
        """
        for name in params:
            owner, nested, option = name.partition("__")
            value = params.get(owner, vars(self).get(owner))
            if nested and owner in ("solver", "loss", "kernel") and isinstance(value, str):
                advice = (
                    "kernels have no options of their own: set gamma, degree or coef0"
                    if owner == "kernel"
                    else f"give an object with options as {owner} before setting {option}"
                )
                raise InvalidParameter(f"{owner}={value!r} is a name without options; {advice}.")
        return super().set_params(**params)

    def __getattr__(self, name: str) -> Any:
        """Explain why a certificate is missing; called for attributes that are not there."""
        if name in ("certificate_", "history_"):
            if "intercept_" not in self.__dict__:
                raise NotFittedError(
                    f"{name} comes with a fit; this {type(self).__name__} is not fitted yet. Call "
                    "fit(X, y) first."
                )
            raise NotCertified(
                f"{name} is not available after partial_fit: a stream has no end, so there is "
                "nothing to certify. Use fit."
            )
        return object.__getattribute__(self, name)  # raises what led here

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def stack_level() -> int:
    """Return the stack level of the first caller outside the library, for a warning from here."""
    frame, level = inspect.currentframe(), 0
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("pegasos.", "sklearn.", "joblib.", "contextlib")):
            return level
        frame, level = frame.f_back, level + 1
    return 1
