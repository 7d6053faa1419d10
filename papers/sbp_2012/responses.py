"""Responses of a half-trained model, for the two drawings of water in [CSS12]."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from papers.harness.report import Scale
from papers.sbp_2012.sets import GAMMAS, load
from pegasos import BatchPerceptron, KernelPegasosClassifier
from pegasos.errors import ToleranceNotReached


class Responses(NamedTuple):
    """c_i = y_i <w, phi(x_i)> at ||w|| = 1, the labels, and the volume n nu."""

    c: np.ndarray
    y: np.ndarray
    volume: float


def responses(rows: int, bias: str) -> Responses:
    """Train on some rows of Reuters for a while; nu is what the model itself uses."""
    split = load("money-fx", Scale()).few(rows)
    given = {"kernel": "rbf", "gamma": GAMMAS["money-fx"], "lam": 1.0 / split.n, "bias": bias}
    model = KernelPegasosClassifier(solver=BatchPerceptron(), tol=0.1, random_state=0, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReached)
        model.fit(split.X, split.y)
    y = np.where(split.y > 0, 1.0, -1.0)
    scores = model.decision_function(split.X)
    hinge = float(np.maximum(0.0, 1.0 - y * scores).mean())
    norm = float(np.sqrt(2.0 * (model.certificate_.primal - hinge) * split.n))
    without_bias = scores - float(np.ravel(model.intercept_)[0])
    return Responses(y * without_bias / norm, y, split.n * hinge / norm)
