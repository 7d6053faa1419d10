"""The optimum of a linear task: an interval certified by a duality gap, its upper end recomputed.

Our own tight fit gives both ends. Where that is not narrow and the loss is smooth, a peer's tight
fit is asked too: with a_i = -loss'(z_i) at its weights, weak duality says that no P is below

    D(a) = -1/n sum_i loss*(-a_i) - lam/2 ||u||^2,      u = 1/(lam n) sum_i a_i y_i x_i,

where x_i has a constant 1 appended for a regularised bias, and sum_i a_i y_i = 0 for a free one.

An interval wider than 1e-6 (relative) is used all the same and the page says so: thresholds below
its width cannot be shown then, by anybody. Only narrow ones are remembered.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import entr, expit

from bench.harness.competitor import Effort
from bench.harness.limited import within
from bench.harness.optimum import Optimum, remembered
from bench.harness.problem import Floats
from bench.objective import scores, signs
from bench.ordinary.solvers import OURS, SOLVERS
from bench.task import Model, Task

AIM, ENOUGH = 1e-7, 1e-6  # relative gap asked for, and the largest one that is no matter
SECOND = {  # who is asked where ours is not enough
    ("squared_hinge", "regularized"): "linearsvc-primal",
    ("logistic", "regularized"): "logisticregression-liblinear",
    ("logistic", "free"): "logisticregression-newton-cholesky",
}
VERY_TIGHT = 1e-9  # of the peers' own rules
TINY = 1e-300  # stands for a bound that is not positive: everything is far from it


def remembered_optimum(
    task: Task, seconds: float | None, aim: float = AIM, enough: float = ENOUGH
) -> Optimum:
    """Return the optimum of a task, solved once per state of its data if it can be."""
    file = "optimum" if task.bias == "none" else "ordinary_optimum"
    return Optimum(
        *remembered(
            file,
            f"{task.key} {task.epsilon:g}",
            (task.X, task.y),
            lambda: certified_optimum(task, seconds, aim),
            lambda found: Optimum(*found).relative_gap <= enough,
        )
    )


def certified_optimum(task: Task, seconds: float | None, aim: float = AIM) -> Optimum:
    """Solve to a relative gap of `aim`, or as far as the seconds go; sum the models' intervals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gap is judged by the caller
        model, certificate = OURS.fitted(task.X, task, Effort(tol=aim, seconds=seconds))
    dual, primal = float(np.sum(certificate.dual)), task.objective(model)
    name = SECOND.get((task.loss, task.bias))
    if name is not None and primal - dual > ENOUGH * abs(dual):
        model = peers_fit(task, name, seconds)
        if model is not None:
            dual, primal = max(dual, dual_bound(task, model)), min(primal, task.objective(model))
    return Optimum(max(dual, TINY), primal)


def peers_fit(task: Task, name: str, seconds: float | None) -> Model | None:
    """Return a peer's model, as tight as it can be, or None if there is none in time."""
    solver, effort = SOLVERS[name], Effort(tol=VERY_TIGHT)

    def work() -> tuple[float, Model]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return 0.0, solver.run(task.X, task, effort)

    return within(np.inf if seconds is None else seconds, work)[1]


def dual_bound(task: Task, model: Model) -> float:
    """Return D at the point that a model's margins give, summed over the models; smooth losses."""
    Y = signs(task.y)
    n = len(Y)
    Z = Y * (scores(task.X, np.asarray(model.W, dtype=np.float64)) + model.b)
    A = 2.0 * np.maximum(0.0, 1.0 - Z) if task.loss == "squared_hinge" else expit(-Z)
    if task.bias == "free":
        A = balanced(A, Y)
    AY = A * Y
    U = np.asarray(task.X.T @ AY) / (task.lam * n)  # float32 rows are widened by the product
    norms = np.sum(U * U)
    if task.bias == "regularized":
        norms += np.sum((AY.sum(axis=0) / (task.lam * n)) ** 2)
    gain = A - A**2 / 4 if task.loss == "squared_hinge" else entr(A) + entr(1.0 - A)
    return float(gain.mean(axis=0).sum() - task.lam / 2 * norms)


def balanced(A: Floats, Y: Floats) -> Floats:
    """Scale the heavier class of each model down until sum_i a_i y_i = 0."""
    positive, negative = (np.sum(A * (Y * sign > 0), axis=0) for sign in (1, -1))
    lighter = np.minimum(positive, negative)
    return A * np.where(Y > 0, lighter / positive, lighter / negative)
