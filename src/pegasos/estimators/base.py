"""What the linear estimators share: parameters to problem, solution to fitted attributes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.predictions import Ball
from pegasos.certificate.stopping import Certificate, Outcome
from pegasos.data.rows import FloatArray, Rows, all_scores, float_type, shape, stored_values
from pegasos.data.validate import checked_rows
from pegasos.errors import (
    FitInterrupted,
    InvalidParameter,
    NotCertified,
    ToleranceNotReached,
)
from pegasos.estimators.callbacks import CallbackSupport, EpochCallbacks
from pegasos.estimators.diagnosis import diagnosis
from pegasos.estimators.parameters import Parameters
from pegasos.estimators.streaming import Stream, go_on, stream_after_fit
from pegasos.problem.objective import blocks, flat, make_problem
from pegasos.problem.scaling import lam_of
from pegasos.progress import watch_for
from pegasos.solve import Solution, solve


class LinearEstimator(CallbackSupport, BaseEstimator):
    """Fit K linear models side by side and keep their certificate."""

    coef_: FloatArray
    intercept_: FloatArray
    certificate_: Certificate
    _ball: Ball | None
    _stream: Stream | None

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
            parameters.loss, rows, Y, sample_weight, self.lam_, parameters.bias, self.bias_scale
        )
        stopping = parameters.stopping(stored_values(rows) * Y.shape[1])
        precision = float_type(rows)
        callbacks = EpochCallbacks(
            self, data, stopping.max_iter, lambda W, b: self._weights(W, b, precision)
        )
        solution = solve(
            problem,
            parameters.solver,
            stopping,
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            previous=self._previous(Y),
            watch=watch_for(self.verbose, stopping.tol, callbacks),
            decided=decided,
        )
        self._state = solution.state if self.warm_start else None
        self._stream = None
        self._ball = solution.ball
        self.certificate_ = solution.certificate
        self.history_ = solution.trace.as_dict()
        self.n_iter_ = solution.certificate.epochs
        for name, value in self._weights(solution.W, solution.b, precision).items():
            setattr(self, name, value)
        callbacks.finish()
        self._warn(solution, rows)

    def _weights(self, W: FloatArray, b: FloatArray, precision: Any) -> dict[str, Any]:
        """Return the fitted attributes that hold weights (d, K) and biases (K,)."""
        return {"coef_": W.T.astype(precision, copy=False), "intercept_": b + 0.0}

    def _previous(self, Y: FloatArray) -> Any | None:
        """Return the state to continue from: that of the last fit, if the shapes agree."""
        state = vars(self).get("_state") if self.warm_start else None
        if state is None:
            return None
        d = np.atleast_2d(self.coef_).shape[1]
        return state if d == self.n_features_in_ and state.A.shape == Y.shape else None

    def _go_on(
        self, parameters: Parameters, rows: Rows, Y: FloatArray, sample_weight: FloatArray | None
    ) -> None:
        """Take the steps of `partial_fit` on new rows; set the attributes of a stream."""
        stream = vars(self).get("_stream")
        if stream is None and "coef_" in vars(self):
            W = np.atleast_2d(self.coef_).T.astype(np.float64)
            stream = stream_after_fit(
                W,
                self.intercept_,
                float(self.lam),
                1.0 / (self.C_ * self.lam_),
                self.bias_scale if parameters.bias == "regularized" else 0.0,
                parameters.bias == "free",
            )
        if stream is not None:
            stream = stream.under(float(self.lam), parameters.bias)
        self._stream, W, b = go_on(
            stream, parameters, rows, Y, sample_weight, float(self.lam), float(self.bias_scale)
        )
        for name in ("certificate_", "history_"):
            self.__dict__.pop(name, None)
        self._ball = self._state = None
        weight = float(self.lam) * self._stream.N
        self.lam_, self.C_ = float(self.lam), 1.0 / weight if weight > 0.0 else np.inf
        self.n_iter_ = 1
        for name, value in self._weights(W, b, float_type(rows)).items():
            setattr(self, name, value)

    def _warn(self, solution: Solution, rows: Rows) -> None:
        """Warn of an interrupted fit, or of one that a limit ended above the tolerance."""
        if solution.outcome is Outcome.INTERRUPT:
            warnings.warn(
                f"Fit interrupted; the model so far is kept: {solution.certificate}.",
                FitInterrupted,
                stacklevel=_stacklevel(),
            )
        elif solution.outcome in (Outcome.EPOCHS, Outcome.TIME):
            warnings.warn(
                diagnosis(self, solution, rows), ToleranceNotReached, stacklevel=_stacklevel()
            )

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
        """Return bounds of shape (n, K) on the optimum's decision values."""
        check_is_fitted(self)
        if self._ball is None:
            raise NotCertified(
                "partial_fit keeps no certificate, because a stream has no end: bounds on the "
                "optimum are known after fit only."
            )
        low, high = self._ball.bounds(checked_rows(self, X, reset=False))
        return low, high

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
            value = params.get(owner, getattr(self, owner, None))
            if nested and owner in ("solver", "loss") and isinstance(value, str):
                raise InvalidParameter(
                    f"{owner}={value!r} is a name without options; give an object, such as "
                    f"solver=SDCA(), before setting {option}."
                )
        return super().set_params(**params)

    def __getattr__(self, name: str) -> Any:
        """Explain why a certificate is missing; called for attributes that are not there."""
        if name in ("certificate_", "history_") and "coef_" in self.__dict__:
            raise NotCertified(
                f"{name} is not available after partial_fit: a stream has no end, so there is "
                "nothing to certify. Use fit."
            )
        return object.__getattribute__(self, name)  # raises what led here

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _stacklevel() -> int:
    """Return the stack level of the first caller outside the library, for a warning from here."""
    frame, level = inspect.currentframe(), 0
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("pegasos.", "sklearn.")):
            return level
        frame, level = frame.f_back, level + 1
    return 1
