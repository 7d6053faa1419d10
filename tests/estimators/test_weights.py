"""Weights mean what they say: k is a row repeated k times, 0 is a row removed."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier, PegasosRegressor

CONTAINERS = [np.asarray, sparse.csr_array]


def problem(classes, n=40, d=6):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    y = np.arange(n) % classes
    X[:, 0] += 0.7 * y
    return X, y, rng.integers(0, 4, n)


def same(one, other, X):
    predict = "decision_function" if hasattr(one, "decision_function") else "predict"
    a, b = getattr(one, predict)(X), getattr(other, predict)(X)
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)
    assert one.lam_ == pytest.approx(other.lam_)
    assert one.C_ == pytest.approx(other.C_)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_is_a_number_of_repetitions(classes, loss, bias, container):
    X, y, weights = problem(classes)
    model = PegasosClassifier(loss=loss, bias=bias, random_state=0)
    repeated = np.repeat(np.arange(len(y)), weights)
    one = model.fit(container(X), y, sample_weight=weights)
    other = PegasosClassifier(**model.get_params()).fit(container(X[repeated]), y[repeated])
    same(one, other, container(X))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_a_weight_is_a_number_of_repetitions_in_regression(bias, container):
    X, y, weights = problem(5)
    repeated = np.repeat(np.arange(len(y)), weights)
    one = PegasosRegressor(bias=bias, random_state=0).fit(container(X), y, sample_weight=weights)
    other = PegasosRegressor(bias=bias, random_state=0).fit(container(X[repeated]), y[repeated])
    same(one, other, container(X))


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_rows_of_weight_zero_may_hold_anything(bias):
    X, y, _ = problem(3)
    weights = np.ones(len(y))
    weights[:10] = 0.0
    wild = X.copy()
    wild[:10] = 1e6
    one = PegasosClassifier(bias=bias, random_state=0).fit(wild, y, sample_weight=weights)
    same(one, PegasosClassifier(bias=bias, random_state=0).fit(X[10:], y[10:]), X)


def test_equal_weights_change_nothing_but_c():
    X, y, _ = problem(2)
    plain = PegasosClassifier(lam=0.01).fit(X, y)
    heavy = PegasosClassifier(lam=0.01).fit(X, y, sample_weight=np.full(len(y), 3.0))
    np.testing.assert_allclose(plain.coef_, heavy.coef_, rtol=1e-6, atol=1e-8)
    assert heavy.C_ == pytest.approx(plain.C_ / 3.0)


def test_class_weight_multiplies_sample_weight():
    X, y, weights = problem(3)
    one = PegasosClassifier(class_weight={0: 2.0, 2: 0.5}).fit(X, y, sample_weight=weights)
    factors = np.array([2.0, 1.0, 0.5])[y]
    same(one, PegasosClassifier().fit(X, y, sample_weight=weights * factors), X)


def test_balanced_counts_sample_weights():
    X, y, _ = problem(2, n=60)
    rare = (np.arange(60) % 6 == 0).astype(int)  # ten of sixty
    weights = np.where(rare == 1, 5.0, 1.0)  # which balances them already
    one = PegasosClassifier(class_weight="balanced").fit(X, rare, sample_weight=weights)
    same(one, PegasosClassifier().fit(X, rare, sample_weight=weights), X)


def test_balanced_equals_repeating_the_rare_class():
    X, _, _ = problem(2, n=40)
    y = (np.arange(40) % 4 == 0).astype(int)  # 10 against 30
    one = PegasosClassifier(lam=0.01, class_weight="balanced").fit(X, y)
    repeated = np.repeat(np.arange(40), np.where(y == 1, 3, 1))
    other = PegasosClassifier(lam=0.01).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-8)


def test_c_and_lam_are_the_same_penalty():
    X, y, weights = problem(2)
    one = PegasosClassifier(C=0.3).fit(X, y, sample_weight=weights)
    assert one.lam_ == pytest.approx(1.0 / (0.3 * weights.sum()))
    same(one, PegasosClassifier(lam=one.lam_).fit(X, y, sample_weight=weights), X)
