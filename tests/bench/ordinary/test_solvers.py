"""Every adapter solves the same problem: it reaches the optimum's objective value, or near it.

The reference is Clarabel, an interior-point solver that is none of the competitors.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from bench.harness.competitor import Effort
from bench.objective import signs
from bench.ordinary.solvers import SOLVERS
from bench.task import Task

pytestmark = pytest.mark.slow

MODULES = {"liblinear": "liblinear", "snapml": "snapml"}
TOLERANCES = {
    "sgdclassifier": 5e-3,
    "snapml": 1e-2,  # its last digits do not improve with more epochs
    "liblinear -s 3": 5e-3,  # ends after 300 epochs, and draws its order from an unseeded rand()
    "liblinear -s 13": 5e-3,
    "logisticregression-saga": 1e-5,
}
MUCH, MANY_EPOCHS = Effort(tol=1e-8, seconds=60.0), Effort(epochs=4000)
PAIRS = [(name, *problem) for name, solver in SOLVERS.items() for problem in solver.problems]


@cache
def task(loss, bias, n_classes=2, container=np.asarray):
    """Return noisy rows with a bias that matters; not separable, so that lam matters."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 8)) + 2.0) * (rng.random((300, 8)) < np.linspace(0.4, 1.0, 8))
    scores = X @ rng.normal(size=(8, n_classes)) + rng.normal(size=(300, n_classes)) - 3.0
    if loss == "epsilon_insensitive":
        y = scores[:, 0]
    else:
        y = scores.argmax(axis=1) if n_classes > 2 else np.where(scores[:, 0] > 0.0, 1, -1)
    return Task("toy", container(X), y, 0.01, loss=loss, bias=bias, epsilon=0.1)


@cache
def optimum(loss, bias, n_classes=2):
    """Return min P by cvxpy and Clarabel, summed over the models."""
    cvxpy = pytest.importorskip("cvxpy")
    posed = task(loss, bias, n_classes)
    X, lam, total = posed.X, posed.lam, 0.0
    for y in posed.y[None] if posed.is_regression else signs(posed.y).T:
        w, b = cvxpy.Variable(X.shape[1]), cvxpy.Variable()
        f = X @ w + b
        z = cvxpy.multiply(y, f)
        losses = {
            "hinge": cvxpy.pos(1 - z),
            "squared_hinge": cvxpy.square(cvxpy.pos(1 - z)),
            "logistic": cvxpy.logistic(-z),
            "epsilon_insensitive": cvxpy.pos(cvxpy.abs(y - f) - posed.epsilon),
        }
        penalty = cvxpy.sum_squares(w) + (cvxpy.square(b) if bias == "regularized" else 0.0)
        value = lam / 2 * penalty + cvxpy.sum(losses[loss]) / len(y)
        total += cvxpy.Problem(cvxpy.Minimize(value)).solve(solver="CLARABEL")
    return total


def adapter(name):
    """Return a solver, or skip where its package is missing."""
    pytest.importorskip(MODULES.get(name.split()[0], "sklearn"))
    return SOLVERS[name]


def fitted(solver, posed):
    effort = MUCH if solver.tols else MANY_EPOCHS
    return solver.run(solver.prepare(posed), posed, effort)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(("name", "loss", "bias"), PAIRS)
def test_adapter_reaches_the_optimum_of_the_common_problem(name, loss, bias, container):
    solver, posed = adapter(name), task(loss, bias, 2, container)
    model = fitted(solver, posed)
    reached = posed.objective(model) / optimum(loss, bias) - 1
    assert -1e-7 < reached < TOLERANCES.get(name, 1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "loss", "bias"), [pair for pair in PAIRS if pair[1] != "epsilon_insensitive"]
)
def test_adapter_reaches_the_optimum_of_one_vs_rest(name, loss, bias):
    solver, posed = adapter(name), task(loss, bias, 4)
    model = fitted(solver, posed)
    assert model.W.shape == (8, 4)
    reached = posed.objective(model) / optimum(loss, bias, 4) - 1
    assert -1e-7 < reached < TOLERANCES.get(name, 1e-6)


def test_tolerances_would_notice_the_other_kind_of_bias():
    # The optimum with either bias is worse for the other than the largest tolerance of its loss.
    for loss in ("hinge", "squared_hinge", "logistic"):
        largest = max(TOLERANCES.get(name, 1e-6) for name, own, _ in PAIRS if own == loss)
        for wrong, right in (("free", "regularized"), ("regularized", "free")):
            model = SOLVERS["pegasos"].run(task(loss, wrong).X, task(loss, wrong), MUCH)
            assert task(loss, right).objective(model) / optimum(loss, right) > 1 + 1.5 * largest


@pytest.mark.parametrize("name", SOLVERS)
def test_ladder_climbs_from_less_to_more_effort(name):
    ladder = SOLVERS[name].ladder(5.0)
    keys = [(-(effort.tol or 0.0), effort.epochs or 0) for effort in ladder]
    assert keys == sorted(keys)
    assert len(set(map(str, ladder))) == len(ladder)
