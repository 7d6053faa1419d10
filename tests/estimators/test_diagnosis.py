"""A fit that ends above its tolerance: what is guaranteed, why, and one remedy."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from pegasos import PegasosClassifier, PegasosRegressor
from pegasos.errors import ToleranceNotReached


def problem(n=400, d=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + noise * rng.standard_normal(n) > 0.2).astype(int)


def warning_of(model, X, y):
    with pytest.warns(ToleranceNotReached) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # it points to the user's line
    return str(caught[0].message)


@pytest.mark.fast
def test_the_warning_is_a_convergence_warning():
    assert issubclass(ToleranceNotReached, ConvergenceWarning)


def test_too_few_epochs_are_told_with_a_number():
    X, y = problem()
    text = warning_of(PegasosClassifier(C=1.0, solver="sdca", tol=1e-5, max_iter=12), X, y)
    assert "The objective is proven within" in text
    assert "stopped after 12 epochs" in text
    assert "Too few epochs" in text
    wanted = int(text.split("max_iter=")[1].rstrip("."))
    model = PegasosClassifier(C=1.0, solver="sdca", tol=1e-5, max_iter=3 * wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)  # the forecast was of the right order


def test_columns_of_different_scale_are_named():
    data = load_breast_cancer(as_frame=True)
    model = PegasosClassifier(solver="sdca", max_iter=50, random_state=0)
    text = warning_of(model, data.data, data.target)
    assert "columns differ in scale" in text
    assert "'worst area'" in text
    assert "make_pipeline(StandardScaler(), PegasosClassifier(...))" in text


def test_sparse_columns_are_to_be_scaled_without_centring():
    X, y = problem()
    X *= [1.0, 1.0, 1.0, 1.0, 1.0, 1e5]
    X[np.abs(X) < 0.3] = 0.0
    model = PegasosClassifier(solver="sdca", max_iter=20, random_state=0)
    text = warning_of(model, sparse.csr_array(X), y)
    assert "in column 5" in text
    assert "MaxAbsScaler()" in text


def test_a_huge_c_is_blamed():
    X, y = problem(n=200, noise=2.0)
    text = warning_of(PegasosClassifier(C=1e8, solver="sdca", max_iter=20), X, y)
    assert "penalty, too weak" in text
    assert "C=1e+08. Try C=10, and" in text


def test_a_tiny_lam_is_blamed_in_its_own_terms():
    X, y = problem(n=200, noise=2.0)
    text = warning_of(PegasosClassifier(lam=1e-11, solver="sdca", max_iter=20), X, y)
    assert "lam=1e-11. Try lam=" in text


CAUSES = {
    "offset, no bias": (
        1000.0,
        1.0,
        {"bias": "none"},
        "far from 0: the mean of column .* spread, ",
    ),
    "offset, penalised": (1000.0, 1.0, {"bias": "regularized"}, 'Use bias="free", or centre the'),
    "one huge column": (0.0, [1, 1, 1, 1, 1, 1e5], {}, "differ in scale: 100,000 in column 5, 0.9"),
    "all columns large": (0.0, 100.0, {}, "columns are large: 100 in column .* Scale them: make_p"),
    "huge C": (0.0, 1.0, {"C": 1e8}, r"penalty, too weak for rows of length 2.5: C=1e\+08. Try C="),
    "two epochs": (0.0, 1.0, {"max_iter": 2, "tol": 1e-6}, r"Too few epochs; set max_iter=20\."),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_has_its_sentence(cause):
    offset, scale, options, sentence = CAUSES[cause]
    X, y = problem()
    options = {"max_iter": 30, "solver": "sdca", "random_state": 0, **options}
    with pytest.warns(ToleranceNotReached, match=sentence):
        PegasosClassifier(**options).fit((X + offset) * scale, y)


@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6])
def test_offsets_are_no_cause_with_a_free_bias(offset):
    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosClassifier(solver="sdca", random_state=0).fit(X + offset, y)


def test_a_warning_speaks_of_the_worst_of_several_models():
    X, _ = problem()
    y = np.random.default_rng(0).integers(0, 3, len(X))
    model = PegasosClassifier(tol=1e-9, max_iter=3, solver="sdca", multiclass="ovr")
    text = warning_of(model, X, y)
    assert text.startswith("The worst of 3 models is proven")


def test_too_little_time_asks_for_time(clock):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 40))
    y = X @ rng.standard_normal(40) + rng.standard_normal(3000)
    clock(0.01)  # passes between looks
    model = PegasosRegressor(C=10.0, tol=1e-6, max_time=0.3)
    with pytest.warns(ToleranceNotReached, match="because max_time was reached"):
        model.fit(X, y)


def test_a_fit_within_its_tolerance_does_not_warn():
    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosClassifier(solver="sdca", tol=0.05).fit(X, y)
        PegasosClassifier().fit(X, y)
