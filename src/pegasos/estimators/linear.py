"""What the linear estimators share: weights of features, what to go on from, scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import FloatArray, Rows, float_type, shape
from pegasos.data.validate import checked_rows
from pegasos.estimators.base import CertifiedEstimator
from pegasos.estimators.parameters import threads_of
from pegasos.parallel import limited_to
from pegasos.problem.objective import Problem
from pegasos.problem.scaling import weight_behind
from pegasos.problem.scores import write_scores
from pegasos.solve import Solution
from pegasos.solvers.pegasos.stream import Stream, stream_after_fit


class LinearEstimator(CertifiedEstimator):
    """Scores of K linear models side by side."""

    coef_: FloatArray
    _stream: Stream | None

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        W = np.ascontiguousarray(np.atleast_2d(self.coef_).T, dtype=np.float64)
        Z = np.empty((shape(rows)[0], W.shape[1]))
        with limited_to(threads_of(self)):
            write_scores(rows, W, Z)
        return Z + self.intercept_


def weights_found(rows: Rows, W: FloatArray, b: FloatArray) -> dict[str, Any]:
    """Return the fitted attributes that hold weights, of the rows' precision, and biases (K,)."""
    return {"coef_": W.astype(float_type(rows), copy=False), "intercept_": b + 0.0}


def state_found(estimator: Any, solution: Solution) -> dict[str, Any]:
    """Return what bounds and warm starts need; a stream does not go on beyond a fit."""
    state = solution.state if estimator.warm_start else None
    return {"_ball": solution.ball, "_state": state, "_stream": None}


def previous_state(estimator: Any, Y: FloatArray, *, is_joint: bool = False) -> Any | None:
    """Return the state to continue from: that of the last fit, if shapes and meaning agree."""
    state = vars(estimator).get("_state") if estimator.warm_start else None
    if state is None:
        return None
    labels = vars(estimator).get("_labels")
    was_joint = labels is not None and labels.kind == "joint"
    if was_joint != is_joint:  # dual numbers of a joint loss are no use to models side by side
        return None
    d = np.atleast_2d(estimator.coef_).shape[1]
    A = state.A  # the perceptron has no dual numbers to go on from
    is_same = d == estimator.n_features_in_ and A is not None and A.shape == Y.shape
    return state if is_same else None


def weight_so_far(estimator: Any) -> float:
    """Return the weight of the rows that a fit or a stream has seen; 0 for a new estimator."""
    fitted = vars(estimator)
    if fitted.get("_stream") is not None:
        return float(fitted["_stream"].N)
    return weight_behind(fitted["C_"], fitted["lam_"]) if "C_" in fitted else 0.0


def stream_so_far(estimator: Any, seen: float, problem: Problem) -> Stream | None:
    """Return the stream to go on with: the present one, that of a fit, or None for a new one."""
    stream: Stream | None = vars(estimator).get("_stream")
    if stream is None and "coef_" in vars(estimator):
        W = np.atleast_2d(estimator.coef_).T.astype(np.float64)
        stream = stream_after_fit(W, estimator.intercept_, seen, problem)
    return stream
