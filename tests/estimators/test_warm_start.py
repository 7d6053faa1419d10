"""Warm starts: a state of equal shape is continued, whatever else has changed."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from pegasos import Pegasos, PegasosClassifier, PegasosRegressor


def problem(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + 0.8 * rng.standard_normal(n) > 0.3).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_a_warm_start_after_a_change_of_penalty_reaches_the_same_optimum(loss, bias):
    X, y = problem()
    options = {"loss": loss, "bias": bias, "solver": "sdca", "tol": 1e-7, "max_iter": 20_000}
    warm = PegasosClassifier(lam=0.02, warm_start=True, **options).fit(X, y)
    warm.set_params(lam=0.01).fit(X, y)
    cold = PegasosClassifier(lam=0.01, **options).fit(X, y)
    assert warm.certificate_.is_within_tol
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=3e-7)


def test_a_warm_start_at_the_optimum_needs_hardly_an_epoch():
    X, y = problem()
    model = PegasosClassifier(lam=0.02, solver="sdca", tol=1e-6, warm_start=True, max_iter=20_000)
    cold = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ <= min(cold - 1, 3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_warm_start_with_other_labels_is_valid(loss):
    X, y = problem()
    options = {"loss": loss, "lam": 0.02, "solver": "sdca", "tol": 1e-6, "max_iter": 20_000}
    warm = PegasosClassifier(warm_start=True, **options).fit(X, y).fit(X, 1 - y)
    cold = PegasosClassifier(**options).fit(X, 1 - y)
    assert warm.certificate_.is_within_tol
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=3e-6)
    assert warm.certificate_.dual <= cold.certificate_.primal * (1 + 1e-12)


def test_the_very_first_certificate_after_a_change_of_labels_is_valid():
    X, y = problem()
    optimum = PegasosClassifier(lam=0.02, tol=1e-9).fit(X, 1 - y).certificate_.primal
    model = PegasosClassifier(lam=0.02, solver="sdca", warm_start=True, tol=1e-6).fit(X, y)
    with pytest.warns(UserWarning, match="proven"):
        model.set_params(max_iter=1, tol=1e-12).fit(X, 1 - y)
    assert model.certificate_.dual <= optimum * (1 + 1e-9)
    assert model.certificate_.primal >= optimum * (1 - 1e-9)


@pytest.mark.parametrize("change", ["rows", "features", "classes"])
def test_another_shape_starts_afresh(change):
    X, y = problem()
    model = PegasosClassifier(lam=0.02, warm_start=True, random_state=0).fit(X, y)
    if change == "rows":
        X, y = X[:200], y[:200]
    elif change == "features":
        X = X[:, :3]
    else:
        y = np.arange(len(y)) % 3
    fresh = PegasosClassifier(lam=0.02, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, fresh.coef_)


def test_without_warm_start_a_second_fit_forgets_the_first():
    X, y = problem()
    model = PegasosClassifier(lam=0.02, solver="sdca", random_state=0).fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)


def test_the_regressor_warm_starts_too():
    X, y = problem()
    model = PegasosRegressor(lam=0.02, solver="sdca", tol=1e-5, warm_start=True, max_iter=20_000)
    cold = model.fit(X, 3.0 * y).n_iter_
    assert model.fit(X, 3.0 * y).n_iter_ < cold
    assert model.fit(X, -2.0 * y).certificate_.is_within_tol


def test_a_warm_start_without_bias_forgets_the_free_one():
    X, y = load_iris(return_X_y=True)
    X, y = X + 3.0, y == 2
    model = PegasosClassifier(C=0.1, warm_start=True, random_state=0, solver="sdca").fit(X, y)
    model.set_params(bias="none").fit(X, y)
    cold = PegasosClassifier(C=0.1, bias="none", random_state=0, solver="sdca").fit(X, y)
    assert model.certificate_.primal <= cold.certificate_.primal * 1.002
    assert model.intercept_.tolist() == [0.0]


@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
def test_the_average_goes_on_from_the_earlier_run():
    X, y = load_iris(return_X_y=True)
    solver = Pegasos(output="average")
    model = PegasosClassifier(
        C=0.1, solver=solver, bias="none", warm_start=True, max_iter=20, tol=1e-9, random_state=0
    )
    before = model.fit(X, y == 0).certificate_.primal
    cold = clone(model).set_params(max_iter=1).fit(X, y == 0).certificate_.primal
    warm = model.set_params(max_iter=1).fit(X, y == 0).certificate_.primal
    assert warm <= 1.2 * before < 0.5 * cold
