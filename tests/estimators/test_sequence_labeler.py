"""The labeller of sequences: what it predicts, what it promises, what it refuses."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher

from pegasos import PegasosSequenceLabeler
from pegasos.errors import (
    FitInterrupted,
    InvalidData,
    InvalidParameter,
    InvalidType,
    ToleranceNotReached,
)
from pegasos.solvers.chain.sdca import ChainSDCA
from tests.reference import chain as reference

LABELS = np.array(["adjective", "noun", "verb"])


def draw(seed=0, n=25, d=4, K=3, most=6):
    """Draw sequences whose labels follow each other in a circle, as far as noise lets them."""
    rng = np.random.default_rng(seed)
    X, y, U = [], [], rng.standard_normal((K, d))
    for L in rng.integers(1, most, n):
        labels = (int(rng.integers(K)) + np.arange(L)) % K
        X.append(np.round(U[labels] + rng.standard_normal((L, d)), 2))
        y.append(LABELS[labels].tolist())
    return X, y


def fitted(**options):
    return PegasosSequenceLabeler(random_state=0, **options).fit(*draw())


def weights(model):
    """Return the weights as the oracle has them."""
    return np.vstack([model.coef_.T, model.transitions_, model.start_, model.end_])


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_fit_is_certified_and_its_objective_is_that_of_the_definition(loss):
    X, y = draw()
    model = fitted(loss=loss)
    certificate = model.certificate_
    codes = [np.searchsorted(LABELS, one) for one in y]
    own = reference.objective(
        loss, 1.0 - np.eye(3), X, codes, np.ones(len(X)), model.lam_, weights(model)
    )
    assert certificate.is_within_tol
    assert certificate.primal == pytest.approx(own, rel=1e-12)
    assert certificate.relative_gap == pytest.approx(certificate.gap / certificate.dual)
    assert model.C_ * model.lam_ * len(X) == pytest.approx(1.0)
    assert model.score(X, y) > 0.8
    assert model.history_["epoch"][-1] == model.n_iter_


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_predictions_are_those_of_enumeration(loss):
    X, _ = draw(1)
    model = fitted(loss=loss)
    for x, labels, scores in zip(X, model.predict(X), model.decision_function(X), strict=True):
        z = x @ model.coef_.T
        z[0] += model.start_
        z[-1] += model.end_
        path, best = reference.best(z, model.transitions_)
        assert labels == LABELS[path].tolist()
        np.testing.assert_allclose(scores.max(axis=1), best)
        np.testing.assert_array_equal(scores.argmax(axis=1), path)
        if loss == "logistic":
            (own,) = model.predict_marginals([x])
            expected = reference.marginals(z, model.transitions_)[1]
            np.testing.assert_allclose(own, expected, atol=1e-12)


def test_arrays_matrices_and_dicts_are_the_same_to_it():
    X, y = draw()
    dicts = [[{f"{j}": v for j, v in enumerate(token)} for token in one] for one in X]
    ways = [X, [sparse.csr_matrix(one) for one in X], dicts]
    models = [PegasosSequenceLabeler(random_state=0).fit(way, y) for way in ways]
    for model, way in zip(models, ways, strict=True):
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-6, atol=1e-9)
        assert model.predict(way) == models[0].predict(X)
    names = [name for name, _ in models[2].top_features("noun", 4)]
    numbers = [number for number, _ in models[0].top_features("noun", 4)]
    assert names == [str(number) for number in numbers]


def test_words_numbers_and_truths_are_features_as_crfsuite_has_them():
    X = [[{"word": "a", "size": 2.0, "new": True}, {"word": "b", "size": 0.5, "new": False}]]
    y = [[0, 1]]
    model = PegasosSequenceLabeler().fit(X, y)
    assert model.vectorizer_.feature_names_ == ["new", "size", "word=a", "word=b"]
    assert model.predict(X) == y
    hashed = PegasosSequenceLabeler(vectorizer="hash").fit(X, y)
    assert hashed.coef_.shape == (2, 2**20)
    own = PegasosSequenceLabeler(vectorizer=FeatureHasher(n_features=64)).fit(X, y)
    assert own.coef_.shape == (2, 64)
    assert hashed.predict(X) == own.predict(X) == y
    assert hashed.predict([[{"word": "never seen"}]]) in ([[0]], [[1]])


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_weight_of_two_is_a_sequence_twice_and_of_zero_none(loss):
    X, y = draw(n=8)
    s = np.array([2.0, 0.0, 1.0, 1.0, 0.0, 3.0, 1.0, 1.0])
    again = [i for i, times in enumerate(s.astype(int)) for _ in range(times)]
    options = {"loss": loss, "tol": 1e-6, "max_iter": 20_000, "lam": 0.1}
    one = PegasosSequenceLabeler(**options).fit(X, y, sample_weight=s)
    other = PegasosSequenceLabeler(**options).fit([X[i] for i in again], [y[i] for i in again])
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=3e-6)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=0.01)


def test_costs_count_as_given():
    X, y = draw()
    cost = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [1.0, 3.0, 0.0]])
    model = fitted(loss="hinge", cost=cost)
    codes = [np.searchsorted(LABELS, one) for one in y]
    own = reference.objective("hinge", cost, X, codes, np.ones(25), model.lam_, weights(model))
    assert model.certificate_.primal == pytest.approx(own, rel=1e-12)
    by_label = fitted(loss="hinge", cost={"noun": 2.0})
    by_array = fitted(loss="hinge", cost=[1.0, 2.0, 1.0])
    np.testing.assert_array_equal(by_label.coef_, by_array.coef_)


@pytest.mark.parametrize(
    ("loss", "solver"),
    [("logistic", "sdca"), ("logistic", "pegasos"), ("hinge", "frank_wolfe"), ("hinge", "pegasos")],
)
def test_equal_seeds_give_equal_bits_with_any_number_of_threads(loss, solver):
    options, (X, _) = {"loss": loss, "solver": solver, "tol": 0.05}, draw(1)
    one = fitted(**options, n_jobs=1)
    for n_jobs in (2, 3, None):
        other = fitted(**options, n_jobs=n_jobs)
        np.testing.assert_array_equal(weights(one), weights(other))
        assert one.certificate_.gap == other.certificate_.gap
        for a, b in zip(one.certain(X), other.certain(X), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(one.decision_function(X), other.decision_function(X), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("options", [{}, {"loss": "hinge"}, {"solver": "pegasos", "tol": 0.02}])
def test_warm_start_goes_on(options):
    X, y = draw()
    model = PegasosSequenceLabeler(random_state=0, warm_start=True, **options).fit(X, y)
    first = model.n_iter_
    model.set_params(C=1.1).fit(X, y)
    assert model.certificate_.is_within_tol
    if "solver" not in options:
        assert model.n_iter_ < first
    model.fit(X[:-1], y[:-1])  # other sequences: afresh
    assert model.certificate_.is_within_tol


def test_limits_end_a_fit_with_a_warning_that_says_what_was_reached():
    X, y = draw()
    with pytest.warns(ToleranceNotReached, match="proven .* max_iter"):
        model = PegasosSequenceLabeler(tol=1e-9, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    with pytest.warns(ToleranceNotReached, match="max_time"):
        PegasosSequenceLabeler(tol=1e-9, max_time=1e-9).fit(X, y)


def test_ctrl_c_keeps_the_model(press_ctrl_c):
    press_ctrl_c(ChainSDCA, epochs=3)
    with pytest.warns(FitInterrupted):
        model = PegasosSequenceLabeler(tol=1e-12).fit(*draw())
    assert model.n_iter_ < 10
    assert np.isfinite(model.certificate_.primal)


def test_it_can_be_cloned_and_pickled():
    model = fitted()
    X, _ = draw()
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    assert clone(model).get_params()["loss"] == "logistic"
    assert isinstance(clone(PegasosSequenceLabeler(vectorizer=DictVectorizer())), object)


def test_one_token_is_a_sequence():
    model = PegasosSequenceLabeler().fit([[[1.0]], [[-1.0]]], [["a"], ["b"]])
    assert model.predict([[[2.0]], [[-2.0]]]) == [["a"], ["b"]]


GOOD = ([np.ones((2, 1)), np.zeros((1, 1))], [["a", "b"], ["a"]])
BAD_DATA = [
    (np.ones((3, 2)), [[0], [0], [1]], InvalidType, "X must be|X\\[0\\] must be"),
    (iter([]), [], InvalidType, "X must be a list"),
    ("text", ["ab"], InvalidType, "X must be a list"),
    ([], [], InvalidData, "X is empty"),
    (GOOD[0], [["a", "b"]], InvalidData, "X has 2 sequences, but y has 1"),
    (GOOD[0], [["a"], ["a"]], InvalidData, r"X\[0\] has 2 tokens, but y\[0\] has 1 labels"),
    (GOOD[0], ["ab", ["a"]], InvalidType, r"y\[0\] must be a list"),
    (GOOD[0], [["a", None], ["a"]], InvalidData, r"y\[0\]\[1\] is None"),
    (GOOD[0], [["a", 1], ["a"]], InvalidData, r"y\[0\]\[1\] is 1"),
    (GOOD[0], [["a", "a"], ["a"]], InvalidData, "from 2 to"),
    ([np.ones((2, 1)), np.zeros((0, 1))], [["a", "b"], []], InvalidData, r"X\[1\] is an empty"),
    ([[{"a": 1}], []], [["a"], []], InvalidData, r"X\[1\] is an empty"),
    ([[], [{"a": 1}]], [[], ["a"]], InvalidData, r"X\[0\] is an empty"),
    ([np.ones((2, 1)), np.ones((1, 2))], GOOD[1], InvalidData, r"X\[1\] has 2 features"),
    ([np.ones((2, 1)), np.ones(1)], GOOD[1], InvalidType, r"X\[1\] must be an array"),
    ([[{"a": 1}, 3], [{"a": 1}]], GOOD[1], InvalidType, r"X\[0\]\[1\] must be a dict"),
    ([[{"a": 1}, {"a": object()}], [{"a": 1}]], GOOD[1], InvalidData, "vectorizer refuses"),
    ([np.array([[1.0], [np.nan]]), np.ones((1, 1))], GOOD[1], ValueError, "NaN"),
    ([np.array([[1.0], [np.inf]]), np.ones((1, 1))], GOOD[1], ValueError, "infinity"),
    ([np.array([["x"], ["y"]]), np.ones((1, 1))], GOOD[1], InvalidData, "numbers"),
]


@pytest.mark.parametrize(("X", "y", "error", "match"), BAD_DATA)
def test_bad_data_is_refused_by_name(X, y, error, match):
    with pytest.raises(error, match=match):
        PegasosSequenceLabeler().fit(X, y)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"C": 0.0}, "C must be positive|C must be a positive"),
        ({"C": 2.0, "lam": 0.1}, "Give C or lam"),
        ({"loss": "squared_hinge"}, "loss must be"),
        ({"solver": "newton"}, "solver must be"),
        ({"solver": "sdca", "loss": "hinge"}, 'cannot train loss="hinge"'),
        ({"solver": "frank_wolfe"}, 'cannot train loss="logistic"'),
        ({"cost": [1.0, 1.0]}, "cost has no meaning"),
        ({"loss": "hinge", "cost": np.ones((3, 3))}, "shape"),
        ({"loss": "hinge", "cost": [[0.0, -1.0], [1.0, 0.0]]}, "none below 0"),
        ({"loss": "hinge", "cost": [[0.0, np.nan], [1.0, 0.0]]}, "finite"),
        ({"loss": "hinge", "cost": [[1.0, 1.0], [1.0, 0.0]]}, "diagonal"),
        ({"loss": "hinge", "cost": {"z": 1.0}}, "which y does not contain"),
        ({"vectorizer": "words"}, "vectorizer must be"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"max_time": -1.0}, "max_time must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"on_interrupt": "stop"}, "on_interrupt must be"),
        ({"warm_start": 1}, "warm_start must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, match):
    with pytest.raises(InvalidParameter, match=match):
        PegasosSequenceLabeler(**options).fit(*GOOD)


def test_a_fit_that_is_refused_leaves_the_estimator_as_it_was():
    model = PegasosSequenceLabeler(loss="hinge", cost={"z": 1.0})
    for bad in (GOOD, (GOOD[0], [["a", "a"], ["a"]])):
        with pytest.raises((InvalidData, InvalidParameter)):
            model.fit(*bad)
        with pytest.raises(NotFittedError):
            model.predict(GOOD[0])
    model.set_params(cost=None).fit(*GOOD)
    before = dict(vars(model), C=3.0)
    with pytest.raises(InvalidData):
        model.set_params(C=3.0).fit([np.ones((2, 5))], [["a", "a"]])
    assert vars(model) == before


def test_what_prediction_refuses():
    model = PegasosSequenceLabeler().fit(*GOOD)
    with pytest.raises(InvalidData, match=r"y\[0\]\[1\] is 'c', a label that training"):
        model.score(GOOD[0], [["a", "c"], ["a"]])
    with pytest.raises(InvalidType, match="feature dicts, but the labeller was fitted to arrays"):
        model.predict([[{"a": 1.0}]])
    with pytest.raises(ValueError, match="2 features"):
        model.predict([np.ones((1, 2))])
    with pytest.raises(InvalidData, match="label must be one of"):
        model.top_features("c")
    with pytest.raises(InvalidParameter, match="no probabilities"):
        PegasosSequenceLabeler(loss="hinge").fit(*GOOD).predict_marginals(GOOD[0])


def test_a_perfect_fit_needs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosSequenceLabeler(loss="hinge", C=100.0).fit(*GOOD)
