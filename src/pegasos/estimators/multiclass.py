"""How a linear classifier trains three or more classes: jointly, or one against the rest.

Joint losses are those of the hinge, with a cost for every pair of classes, and of the logistic loss
(softmax). Other losses, solvers that have no joint steps, and very many classes go one against the
rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter
from pegasos.estimators.labels import Kind, Labels
from pegasos.estimators.parameters import one_of
from pegasos.problem.joint_losses import JointHinge, Softmax, zero_one
from pegasos.problem.losses import Hinge, Logistic
from pegasos.problem.scaling import shown
from pegasos.solvers.catalogue import takes_joint
from pegasos.solvers.refusals import (
    check_cost_and_labels,
    check_cost_and_multiclass,
    check_joint_and_labels,
    check_joint_and_loss,
    check_joint_and_solver,
)

WAYS = ("auto", "joint", "ovr")
MOST = 1000  # classes that are trained jointly unless asked for
LARGEST = 1e100  # cost: beyond, sums may overflow


def several_classes(estimator: Any, loss: Any, solver: Any) -> Kind:
    """Return how three or more classes are to be trained, or refuse what does not go together."""
    way, bias = estimator.multiclass, estimator.bias
    one_of(way, "multiclass", WAYS)
    has_cost = estimator.cost is not None
    if has_cost:
        costs_of(estimator.cost)
        check_cost_and_multiclass(way)
    has_joint_loss = isinstance(loss, Hinge | Logistic)
    if way == "ovr" or (way == "auto" and not has_cost):
        is_joint = way == "auto" and has_joint_loss and takes_joint(solver, bias)
        return "joint" if is_joint else "multiclass"
    check_joint_and_loss(loss, has_cost)
    check_joint_and_solver(solver.name, bias, takes_joint(solver, bias))
    return "joint"


def posed(estimator: Any, labels: Labels, loss: Any) -> tuple[Labels, Any]:
    """Return the labels of a fit and the loss of their models, once the classes are known."""
    is_asked_for = estimator.multiclass == "joint" or estimator.cost is not None
    check_joint_and_labels(estimator.multiclass, labels.kind)
    if estimator.cost is not None:
        check_cost_and_labels(labels.kind, len(labels.classes), len(costs_of(estimator.cost)))
    if labels.kind != "joint":
        return labels, loss
    if len(labels.classes) > MOST and not is_asked_for:
        return replace(labels, kind="multiclass"), loss
    if isinstance(loss, Logistic):
        return labels, Softmax()
    cost = zero_one(len(labels.classes)) if estimator.cost is None else costs_of(estimator.cost)
    return labels, JointHinge(cost)


def costs_of(cost: Any) -> FloatArray:
    """Return a cost matrix as kernels take it, or say what is wrong with it."""
    try:
        found = np.array(cost, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or len(found) < 2 or found.shape[0] != found.shape[1]:
        raise InvalidParameter(
            "cost must be a square matrix of numbers, with a row and a column per class; got "
            f"cost={shown(cost)}."
        )
    is_bad = ~((found >= 0.0) & (found <= LARGEST))
    if is_bad.any():
        row, column = np.argwhere(is_bad)[0]
        raise InvalidParameter(
            f"cost must not be negative, and finite; got cost[{row}, {column}] = "
            f"{found[row, column]:g}."
        )
    if np.diagonal(found).any():
        k = int(np.flatnonzero(np.diagonal(found))[0])
        raise InvalidParameter(
            f"cost must be 0 where a class is taken for itself; got cost[{k}, {k}] = "
            f"{found[k, k]:g}."
        )
    return found
