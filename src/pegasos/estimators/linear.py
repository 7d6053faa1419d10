"""What the linear estimators share: weights of features, and streams of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.compress import quickest
from pegasos.data.rows import FloatArray, Rows, float_type, shape
from pegasos.data.validate import checked_rows
from pegasos.estimators.base import CertifiedEstimator
from pegasos.estimators.parameters import Parameters, threads_of
from pegasos.estimators.streaming import (
    Stream,
    go_on,
    penalty_of_stream,
    stream_after_fit,
    weight_so_far,
)
from pegasos.parallel import limited_to
from pegasos.problem.space import write_scores


class LinearEstimator(CertifiedEstimator):
    """Fit K linear models side by side."""

    coef_: FloatArray
    _stream: Stream | None

    def _container(self, rows: Rows) -> Any:
        self._stream = None
        return quickest(rows)

    def _weights(self, W: FloatArray, b: FloatArray, precision: Any) -> dict[str, Any]:
        """Return the fitted attributes that hold weights (d, K) and biases (K,)."""
        return {"coef_": W.T.astype(precision, copy=False), "intercept_": b + 0.0}

    def _previous(self, Y: FloatArray) -> Any | None:
        """Return the state to continue from: that of the last fit, if the shapes agree."""
        state = vars(self).get("_state") if self.warm_start else None
        if state is None:
            return None
        d = np.atleast_2d(self.coef_).shape[1]
        fits = d == self.n_features_in_ and state.A is not None and state.A.shape == Y.shape
        return state if fits else None

    def _go_on(
        self, parameters: Parameters, rows: Rows, Y: FloatArray, sample_weight: FloatArray | None
    ) -> None:
        """Take the steps of `partial_fit` on new rows; set the attributes of a stream."""
        stream = vars(self).get("_stream")
        seen = weight_so_far(self) if stream is None else stream.N
        self.C_, self.lam_ = penalty_of_stream(self, seen, shape(rows)[0], sample_weight)
        if stream is None and "coef_" in vars(self):
            W = np.atleast_2d(self.coef_).T.astype(np.float64)
            stream = stream_after_fit(
                W,
                self.intercept_,
                self.lam_,
                seen,
                self.bias_scale if parameters.bias == "regularized" else 0.0,
                parameters.bias == "free",
            )
        if stream is not None:
            stream = stream.under(self.lam_, parameters.bias)
        self._stream, W, b = go_on(
            stream, parameters, rows, Y, sample_weight, self.lam_, float(self.bias_scale)
        )
        for name in ("certificate_", "history_"):
            self.__dict__.pop(name, None)
        self._ball = self._state = None
        self.n_iter_ = 1
        for name, value in self._weights(W, b, float_type(rows)).items():
            setattr(self, name, value)

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        W = np.ascontiguousarray(np.atleast_2d(self.coef_).T, dtype=np.float64)
        Z = np.empty((shape(rows)[0], W.shape[1]))
        with limited_to(threads_of(self)):
            write_scores(rows, W, Z)
        return Z + self.intercept_
