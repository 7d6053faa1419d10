"""What the catalogue says is so: every solver with every loss, bias, weight, kernel that it lists.

New losses and solvers are picked up from the tables. Certificates are held against the objective
written out row by row, and against what a simplex search finds below it.
"""

import functools
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.certificate.stopping import Stopping
from pegasos.errors import IndefiniteKernel, InvalidParameter, ToleranceNotReached
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Linear
from pegasos.problem.losses import MARGIN_LOSSES, REGRESSION_LOSSES, value
from pegasos.solve import solve
from pegasos.solvers.catalogue import KERNEL_SOLVERS, LINEAR_SOLVERS, resolve, resolve_kernel
from tests.conftest import draw
from tests.joint_problems import LOSSES as JOINT_LOSSES
from tests.joint_problems import draw_joint
from tests.reference.joint import optimum
from tests.reference.objective import primal

LOSSES = {name: (loss, False) for name, loss in MARGIN_LOSSES.items()} | {
    name: (make(0.1), True) for name, make in REGRESSION_LOSSES.items()
}
EXEMPT = ("free-subgradient", "free-batch")  # valid, but not meant to be small
SLOW = ("scheduled_sgd",)  # gaps fall like 1/sqrt(t)


def cases(solvers):
    """Return solver, loss and bias for all that a table allows."""
    return [
        pytest.param(solver, name, bias, id=f"{solver}-{name}-{bias}")
        for solver, ability in solvers.items()
        for name, (loss, _) in LOSSES.items()
        if ability.losses is None or isinstance(loss, ability.losses)
        for bias in ability.biases
        if bias != "free-batch"  # refuses single rows and smooth losses: see `test_median`
    ]


@functools.cache
def drawn_for(name, bias):
    loss, is_regression = LOSSES[name]
    kind = "free" if bias.startswith("free") else bias
    return draw(loss, 3, n=24, d=2, bias=kind, lam=0.1, regression=is_regression)


def objective(drawn, name):
    """Return P as a function of weights and, last, the bias."""
    loss, scale = LOSSES[name][0], drawn.bias_scale if drawn.bias == "regularized" else 0.0

    def P(v):  # noqa: N802
        b = 0.0 if drawn.bias == "none" else float(v[-1])
        return primal(
            lambda z, y: float(value(loss, z, y)),
            drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, np.asarray(v[:-1]), b, scale,
        )  # fmt: skip

    return P


def check(drawn, name, w, b, certificate):
    """Hold a certificate against the objective of the model and of better ones, if there are."""
    P, start = objective(drawn, name), np.append(w, b)
    assert P(start) <= certificate.primal * (1.0 + 1e-12) + 1e-15
    found = minimize(P, start, method="Nelder-Mead", options={"maxiter": 400, "fatol": 1e-12})
    assert certificate.dual <= found.fun * (1.0 + 1e-12)


@pytest.mark.parametrize(("solver", "name", "bias"), cases(LINEAR_SOLVERS))
def test_linear_solvers_are_certified_for_every_loss_and_bias(solver, name, bias):
    drawn, ability = drawn_for(name, bias), LINEAR_SOLVERS[solver]
    ready = resolve(solver, LOSSES[name][0], bias)
    solution = solve(drawn.problem, ready, Stopping(tol=1e-2, max_iter=1000))
    check(drawn, name, solution.W[:, 0], solution.b[0], solution.certificate)
    if ability.approaches_optimum and bias not in EXEMPT and solver not in SLOW:
        assert solution.certificate.is_within_tol


@pytest.mark.parametrize(("solver", "name", "bias"), cases(KERNEL_SOLVERS))
def test_kernel_solvers_are_certified_for_every_loss_and_bias(solver, name, bias):
    drawn, ability = drawn_for(name, bias), KERNEL_SOLVERS[solver]
    problem = drawn.problem._replace(rows=Gram(Linear(), drawn.problem.rows, 1 << 20))
    ready = resolve_kernel(solver, LOSSES[name][0], bias)
    solution = solve(problem, ready, Stopping(tol=1e-2, max_iter=1000))
    check(drawn, name, drawn.X.T @ solution.W[:, 0], solution.b[0], solution.certificate)
    if ability.approaches_optimum:
        assert solution.certificate.is_within_tol


def joint_cases():
    """Return solver, joint loss and bias for all that the catalogue allows."""
    return [
        pytest.param(solver, name, bias, id=f"{solver}-{name}-{bias}")
        for solver, ability in LINEAR_SOLVERS.items()
        for name in JOINT_LOSSES
        for bias in ability.joint_biases
    ]


@functools.cache
def joint_drawn(name, bias):
    kind = "free" if bias.startswith("free") else bias
    drawn = draw_joint(name, 7, kind, n=24, d=2, K=3, lam=0.1)
    return drawn, optimum(*drawn.given(kind))[0]


@pytest.mark.parametrize(("solver", "name", "bias"), joint_cases())
def test_linear_solvers_are_certified_for_every_joint_loss_and_bias(solver, name, bias):
    drawn, best = joint_drawn(name, bias)
    ready = resolve(solver, drawn.problem.costs.loss, bias)
    certificate = solve(drawn.problem, ready, Stopping(tol=1e-2, max_iter=1000)).certificate
    assert certificate.dual <= best * (1.0 + 1e-7)
    assert certificate.primal >= best * (1.0 - 1e-7)
    if bias not in EXEMPT:
        assert certificate.is_within_tol


def three_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    return X, np.digitize(X[:, 0] + 0.3 * rng.standard_normal(40), [-0.5, 0.5])


def fit(estimator, *data):
    with warnings.catch_warnings():
        for said in (ToleranceNotReached, IndefiniteKernel):
            warnings.simplefilter("ignore", said)
        return estimator.fit(*data)


ESTIMATORS = {
    **{
        f"linear {name}": (PegasosClassifier, LINEAR_SOLVERS[name], name) for name in LINEAR_SOLVERS
    },
    **{
        f"kernel {name}": (KernelPegasosClassifier, KERNEL_SOLVERS[name], name)
        for name in KERNEL_SOLVERS
    },
}


def few_epochs_of(which):
    """Return an estimator with the solver in question, and a bias that it has."""
    Estimator, ability, solver = ESTIMATORS[which]
    bias = "free" if "free" in ability.biases else ability.biases[0]
    return Estimator(solver=solver, bias=bias, max_iter=3, random_state=0), ability


@pytest.mark.parametrize("which", ESTIMATORS)
def test_weights_are_taken_or_refused_as_the_catalogue_says(which):
    model, ability = few_epochs_of(which)
    (X, y), s = three_classes(), np.arange(40) % 3
    if ability.sample_weights:
        assert np.isfinite(fit(model, X, y, s).certificate_.primal)
        return
    with pytest.raises(InvalidParameter, match="has no sample weights or class weights; use"):
        model.fit(X, y, s)
    with pytest.raises(InvalidParameter, match="has no sample weights or class weights; use"):
        model.set_params(class_weight="balanced").fit(X, y)


@pytest.mark.parametrize("which", ESTIMATORS)
def test_several_models_are_trained_as_the_catalogue_says(which):
    model, ability = few_epochs_of(which)
    assert ability.several_models
    X, y = three_classes()
    indicators = (y[:, None] == np.arange(3)).astype(int)
    fit(model, X, indicators)
    assert len(model.certificate_.models["gap"]) == 3


@pytest.mark.parametrize("which", ESTIMATORS)
def test_streams_are_taken_or_refused_as_the_catalogue_says(which):
    model, ability = few_epochs_of(which)
    X, y = three_classes()
    if ability.streams:
        assert model.partial_fit(X, y, classes=[0, 1, 2]).score(X, y) > 0.5
    else:
        with pytest.raises(InvalidParameter, match="partial_fit takes .* steps; got solver="):
            model.partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("solver", "kernel"),
    [(name, kernel) for name, ability in KERNEL_SOLVERS.items() for kernel in ability.kernels],
)
def test_kernels_are_those_of_the_catalogue(solver, kernel):
    X, y = three_classes()
    rows = X @ X.T if kernel == "precomputed" else X
    model = KernelPegasosClassifier(solver=solver, kernel=kernel, max_iter=3, random_state=0)
    assert np.isfinite(fit(model, rows, y > 0).certificate_.primal)
