"""The oracle is right about known optima, and notices a claim that is a little too bold."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from tests.hostile.case import Case
from tests.hostile.oracle.bias import best_bias
from tests.hostile.oracle.kernels import WIDE, diagonal, kernel_matrix
from tests.hostile.oracle.losses import gain, slope, value
from tests.hostile.oracle.optimum import optimum
from tests.hostile.oracle.rows import KernelRows, LinearRows
from tests.hostile.verdict import Verdict, check
from tests.reference.certificate import optimum as independent_optimum

LOSSES = ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"]
BIASES = ["none", "regularized", "free"]


def drawn(loss, n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 2.0
    line = X @ rng.standard_normal(d) + rng.standard_normal(n)
    y = line if loss == "epsilon_insensitive" else np.where(line > np.median(line), 1.0, -1.0)
    return X, y, rng.uniform(0.1, 2.0, n)


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_the_interval_is_narrow_and_agrees_with_an_independent_solver(loss, bias):
    X, y, s = drawn(loss)
    for C in (0.1, 10.0):
        lam = 1.0 / (C * s.sum())
        rows = LinearRows(X, bias == "free", 1.5 if bias == "regularized" else 0.0)
        found = optimum(rows, loss, y, C * s, 0.1)
        assert 0 < found.high - found.low <= 1e-12 * found.low
        best, _, _ = independent_optimum(loss, X, y, s, lam, bias, 1.5)
        assert abs(best / lam - float(found.low)) <= 1e-7 * best / lam


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("is_free", [False, True])
def test_a_linear_kernel_gives_the_interval_of_explicit_features(loss, is_free):
    for d in (5, 60):  # fewer and more features than rows
        X, y, s = drawn(loss, d=d)
        explicit = optimum(LinearRows(X, is_free), loss, y, s, 0.1)
        kernel = optimum(KernelRows(X, "linear", is_free), loss, y, s, 0.1)
        assert max(explicit.low, kernel.low) <= min(explicit.high, kernel.high)
        assert kernel.high - kernel.low <= 1e-9 * kernel.low
        for rows, found in ((LinearRows(X, is_free), explicit),):
            low, high = found.decision_bounds(rows, X[:5])
            other = kernel.decision_bounds(KernelRows(X, "linear", is_free), X[:5])
            assert np.all(np.maximum(low, other[0]) <= np.minimum(high, other[1]))


@pytest.mark.fast
def test_two_rows_have_the_optimum_worked_by_hand():
    # Rows -1 and +1, labels alike, hinge: w = min(1, 2 C); 1/2 w^2 + 2 C (1 - w).
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    for C, best in ((0.25, 0.375), (0.5, 0.5), (1e8, 0.5)):
        found = optimum(LinearRows(X), "hinge", y, np.full(2, C))
        assert found.low <= best <= found.high
        assert found.high - found.low <= 1e-12


@pytest.mark.fast
@pytest.mark.parametrize("loss", [*LOSSES, "squared"])
def test_gains_lie_below_losses_and_touch_them_at_minus_the_slope(loss):
    rng = np.random.default_rng(1)
    f, y = rng.standard_normal(200), rng.choice([-1.0, 1.0], 200)
    a = -slope(loss, f, y, 0.1)
    touch = value(loss, f, y, 0.1) + a * f - gain(loss, a, y, 0.1)
    assert np.all(np.abs(touch) <= 1e-12)
    other = value(loss, rng.permutation(f), y, 0.1) + a * rng.permutation(f)
    g = rng.permutation(f)
    assert np.all(value(loss, g, y, 0.1) + a * g >= gain(loss, a, y, 0.1) - 1e-12)
    assert np.all(np.isfinite(other))


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES)
def test_no_bias_on_a_fine_grid_is_better_than_the_best(loss):
    X, y, s = drawn(loss, n=15)
    f = X[:, 0].astype(WIDE)
    b = best_bias(loss, f, y.astype(WIDE), s.astype(WIDE), 0.1)
    sides = [best_bias(loss, f, y.astype(WIDE), s.astype(WIDE), 0.1, side) for side in (-1, 1)]
    assert sides[0] <= b <= sides[1]

    def total(b):
        return s @ value(loss, f + b, y, 0.1)

    assert all(total(b) <= total(b + step) + 1e-15 for step in np.linspace(-5.0, 5.0, 1001))


@pytest.mark.fast
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "sigmoid"])
def test_kernel_values_are_those_of_scikit_learn(kernel):
    rng = np.random.default_rng(2)
    X, Z = rng.standard_normal((7, 4)), rng.standard_normal((5, 4))
    options = {"gamma": 0.3, "coef0": 0.5, "degree": 2}
    allowed = {"rbf": ["gamma"], "laplacian": ["gamma"], "sigmoid": ["gamma", "coef0"]}
    names = allowed.get(kernel, list(options) if kernel == "poly" else [])
    theirs = pairwise_kernels(X, Z, metric=kernel, **{name: options[name] for name in names})
    assert np.allclose(kernel_matrix(kernel, X, Z, **options).astype(float), theirs, atol=1e-14)
    if kernel != "sigmoid":
        both = kernel_matrix(kernel, X, X, **options).diagonal(), diagonal(kernel, X, **options)
        assert np.allclose(*(part.astype(float) for part in both), atol=1e-14)


def fit():
    X, y, s = drawn("hinge", n=60)
    case = Case("honest", "PegasosClassifier", X, y, {"random_state": 0, "tol": 1e-6}, s)
    return case, case.fitted()


def failures(case, model):
    found = Verdict(case.name)
    check(case, model, found)
    assert not found.is_undecided
    return found


LIES = {
    "dual": lambda models: {"dual": models["primal"] * (1 + 1e-9)},
    "primal": lambda models: {"primal": models["dual"] * (1 - 1e-9)},
    "relative_gap": lambda models: {"relative_gap": 0 * models["gap"]},
    "gap": lambda models: {"gap": 0 * models["gap"], "dual": models["dual"] * (1 - 1e-6)},
    "negative gap": lambda models: {"gap": -models["gap"] - 1e-300},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_claim_that_is_a_little_too_bold_is_noticed(lie):
    case, model = fit()
    honest = failures(case, model)
    assert not [failure for failure in honest.failures if failure.startswith(lie)]
    if lie == "relative_gap":  # a model that is not the optimum
        model.coef_ = model.coef_ * (1 + 1e-4)
    models = {**model.certificate_.models, **LIES[lie](model.certificate_.models)}
    changed = {name: float(models[name].sum()) for name in ("primal", "dual", "gap")}
    worst = float(models["relative_gap"].max())
    model.certificate_ = replace(model.certificate_, models=models, relative_gap=worst, **changed)
    assert any(failure.startswith(lie) for failure in failures(case, model).failures)


def test_bounds_and_labels_that_miss_the_optimum_are_noticed(monkeypatch):
    case, model = fit()
    low, high = model.decision_bounds(case.X[:1])
    kind = type(model)
    monkeypatch.setattr(kind, "decision_bounds", lambda self, X: (1e3 * np.ones(X.shape[0]),) * 2)
    monkeypatch.setattr(kind, "certain", lambda self, X: np.ones(X.shape[0], dtype=bool))
    monkeypatch.setattr(kind, "decision_function", lambda self, X: -(X @ model.coef_[0]))
    found = failures(case, model).failures
    assert any(failure.startswith("bounds") for failure in found)
    assert any(failure.startswith("certain") for failure in found)
    assert low[0] <= high[0]
