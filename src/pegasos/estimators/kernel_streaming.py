"""Streams of rows for kernel classifiers: `partial_fit` by LASVM.

Rows are processed once each, in the order given, and only those that support a model are kept. `C`
bounds the coefficient of a row whatever the rows to come; where the user gives lam, C = 1/(lam N)
falls with the weight N of the rows so far, and all coefficients with it. There is no certificate,
since a stream has no end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows
from pegasos.errors import InvalidParameter
from pegasos.problem.kernels import Custom, Kernel, Linear, Precomputed
from pegasos.problem.losses import Hinge
from pegasos.solvers.kernel.lasvm import LASVM
from pegasos.solvers.kernel.online import OnlineModel
from pegasos.solvers.kernel.support import BETA, DOWN, HIGH, LOW, UP, R


def check_stream(estimator: Any, loss: Any) -> None:
    """Refuse what LASVM cannot do in a stream."""
    solver = estimator.solver
    if not isinstance(solver, LASVM) and not (
        isinstance(solver, str) and solver in ("auto", "lasvm")
    ):
        raise InvalidParameter(
            f'partial_fit takes LASVM steps; got solver={solver!r}. Use "auto" or "lasvm".'
        )
    if not isinstance(loss, Hinge):
        raise InvalidParameter(f'partial_fit needs loss="hinge"; got loss={loss!r}.')
    if isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
        raise InvalidParameter(
            'partial_fit cannot use kernel="precomputed": a stream has no matrix of all its rows.'
        )
    if isinstance(estimator.class_weight, str):
        raise InvalidParameter(
            'class_weight="balanced" needs all rows; give partial_fit a dict of class weights.'
        )


def check_same_kernel(estimator: Any, kernel: Kernel) -> None:
    """Refuse kernel parameters that changed since the first call: support vectors do not fit them.

    A `gamma` that is a name stands for what the first rows gave.
    """
    gamma = estimator.gamma
    if isinstance(gamma, str):
        gamma = 0.0 if isinstance(kernel, Linear | Precomputed | Custom) else kernel.gamma
    wanted = estimator._kernel_with(float(gamma))
    if type(wanted) is not type(kernel) or wanted != kernel:
        given = {name: vars(estimator)[name] for name in ("gamma", "coef0", "degree")}
        raise InvalidParameter(
            f"partial_fit goes on with the kernel of the first call, {kernel!r}; now "
            f"kernel={estimator.kernel!r}, "
            + ", ".join(f"{name}={value!r}" for name, value in given.items())
            + ". Set them back, or train a clone of this estimator for another kernel."
        )


def stream_after_fit(
    kernel: Kernel, C: float, is_free: bool, rows: Rows, Y: FloatArray, weights: Any
) -> OnlineModel:
    """Return the stream that goes on from a fit: its support vectors are the first rows."""
    online = OnlineModel(kernel, C, Y.shape[1], is_free)
    online.process(rows, Y, weights)
    online.finish()
    return online


def under(online: OnlineModel, C: float) -> None:
    """Let a stream go on under another C.

    A smaller one shrinks the bounds and all coefficients alike, which keeps them feasible and
    balanced; a larger one leaves the coefficients as they are, with more room.
    """
    ratio = C / online.C
    online.C = C
    numbers = online.set.numbers[:, :, : online.set.m]
    numbers[[LOW, HIGH]] *= ratio
    if ratio < 1.0:
        y = np.where(numbers[HIGH] > 0.0, 1.0, -1.0)
        numbers[R] = y - ratio * (y - numbers[R])  # r = y - K beta
        numbers[BETA] *= ratio
    elif ratio > 1.0:
        is_member = (numbers[UP] > -np.inf) | (numbers[DOWN] < np.inf)
        numbers[UP][is_member & (numbers[BETA] < numbers[HIGH])] = 0.0
        numbers[DOWN][is_member & (numbers[BETA] > numbers[LOW])] = 0.0


def fitted_attributes(online: OnlineModel, d: int) -> dict[str, Any]:
    """Return what a stream leaves in a fitted estimator."""
    vectors = online.support_rows
    return {
        "support_vectors_": np.empty((0, d)) if vectors is None else vectors,
        "dual_coef_": np.ascontiguousarray(online.coefficients.T),
        "intercept_": online.b + 0.0,
    }


def targets_of(online: OnlineModel) -> FloatArray:
    """Return the targets (m, K) of a stream's support rows: their coefficients' possible signs."""
    models = range(len(online.b))
    return np.array([np.where(online.set.box(k).high > 0.0, 1.0, -1.0) for k in models]).T
