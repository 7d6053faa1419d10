"""A stream of LASVM (`online_model`) from call to call: after a fit, and under another penalty.

Rows are processed once each, in the order given, and only those that support a model are kept. `C`
bounds the coefficient of a row whatever the rows to come; where the user gives lam, C = 1/(lam N)
falls with the weight N of the rows so far, and all coefficients with it. There is no certificate,
since a stream has no end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows
from pegasos.problem.kernels import Kernel
from pegasos.solvers.lasvm.online_model import OnlineModel
from pegasos.solvers.lasvm.support_set import BETA, DOWN, HIGH, LOW, UP, R


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


def targets_of(online: OnlineModel) -> FloatArray:
    """Return targets (m, models) of a stream's support rows: the signs coefficients may have."""
    models = range(len(online.b))
    return np.array([np.where(online.set.box(k).high > 0.0, 1.0, -1.0) for k in models]).T
