"""Online estimators: scikit-learn's contract, streams, regret, refusals."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import CustomLoss, OnlineClassifier, OnlineRegressor
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online import PRESETS, Box, L1Ball


@parametrize_with_checks([OnlineClassifier(), OnlineRegressor()])
def test_online_estimators_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def drawn(n=120, d=4, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, K)) + 0.3 * rng.standard_normal((n, K))
    return X, scores


@pytest.mark.parametrize("algorithm", PRESETS)
def test_every_algorithm_learns_and_knows_its_regret(algorithm):
    X, scores = drawn()
    y = np.where(scores[:, 0] > 0.0, "yes", "no")
    model = OnlineClassifier(algorithm, lam=0.05, random_state=0, epochs=20).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.n_steps_ == (20 if PRESETS[algorithm].full else 20 * len(X))
    assert 0 <= model.regret_.upper <= max(model.regret_.bound, model.regret_.cost)
    close = model.regret(X, y)
    assert model.regret_.lower <= close.lower <= close.upper <= model.regret_.upper
    assert close.best_upper - close.best_lower <= 2e-3 * close.best_upper


@pytest.mark.parametrize("algorithm", ["adagrad", "pegasos"])
def test_a_stream_may_be_cut_anywhere(algorithm):
    X, scores = drawn()
    y = (scores[:, 0] > 0.0).astype(int)
    whole = OnlineClassifier(algorithm).partial_fit(X, y, classes=[0, 1])
    cut = OnlineClassifier(algorithm)
    for part in np.array_split(np.arange(len(X)), 7):
        cut.partial_fit(X[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(cut.coef_, whole.coef_, rtol=1e-9)
    assert cut.regret_.cost == pytest.approx(whole.regret_.cost)
    assert cut.n_steps_ == len(X)
    assert cut.regret(X, y).upper == pytest.approx(whole.regret(X, y).upper)


def test_sparse_rows_give_the_model_of_dense_ones():
    X, scores = drawn()
    X[np.abs(X) < 0.5] = 0.0
    y = scores[:, 0] > 0.0
    for options in ({}, {"algorithm": "seg"}, {"algorithm": "smd"}):
        dense = OnlineClassifier(**options, random_state=0).fit(X, y)
        compressed = OnlineClassifier(**options, random_state=0).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(compressed.coef_, dense.coef_, atol=1e-10)


def test_three_classes_and_several_labels():
    X, scores = drawn(K=3)
    several = OnlineClassifier(random_state=0).fit(X, scores.argmax(axis=1))
    assert several.coef_.shape == (3, 4)
    assert several.score(X, scores.argmax(axis=1)) > 0.7
    both = OnlineClassifier(random_state=0).fit(X, (scores > 0.0).astype(int))
    assert both.predict(X).shape == (120, 3)
    assert both.regret(X, (scores > 0.0).astype(int)).steps == 600


def test_the_last_iterate_is_another_model_than_the_average():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    average = OnlineClassifier("sgd", random_state=0).fit(X, y)
    last = OnlineClassifier("sgd", random_state=0, output="last").fit(X, y)
    assert not np.allclose(average.coef_, last.coef_)
    assert last.regret_ == average.regret_


def test_weights_stay_in_their_domain():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    l1 = OnlineClassifier(domain="l1", radius=0.5, fit_intercept=False).fit(X, y)
    assert np.abs(l1.coef_).sum() <= 0.5 * (1 + 1e-12)
    assert np.all(l1.intercept_ == 0.0)
    box = OnlineClassifier(domain=Box(-0.1, 0.2)).fit(X, y)
    assert box.coef_.min() >= -0.1
    assert box.coef_.max() <= 0.2


def test_regression_with_a_loss_of_ones_own():
    def value(z, y):
        return (z - y) ** 2

    def slope(z, y):
        return 2.0 * (z - y)

    X, scores = drawn()
    y = scores[:, 0]
    model = OnlineRegressor(loss=CustomLoss(value, slope), epochs=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    plain = OnlineRegressor("smd", radius=5.0, epochs=30, random_state=0).fit(X, y)
    assert plain.score(X, y) > 0.9
    assert plain.coef_.shape == (4,)
    assert plain.partial_fit(X, y).n_steps_ == 31 * len(X)
    assert plain.regret(X, y).upper <= plain.regret_.upper


def test_models_are_pickled_with_their_stream():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    model = OnlineClassifier("sgd").partial_fit(X, y, classes=[False, True])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.partial_fit(X, y).coef_, copy.partial_fit(X, y).coef_)


BAD = [
    ({"algorithm": "adam"}, "algorithm must be one of"),
    ({"radius": 0.0}, "radius must be a positive"),
    ({"radius": -1.0}, "radius must be a positive"),
    ({"algorithm": "pegasos", "lam": 0.0}, "needs lam > 0"),
    ({"lam": -1.0}, "lam must be a positive"),
    ({"step_size": 0.0}, "step_size must be a positive"),
    ({"domain": "l3", "radius": 1.0}, "domain must be"),
    ({"domain": "l1"}, "needs a radius"),
    ({"domain": "all", "radius": 1.0}, "has no radius"),
    ({"domain": L1Ball(0.0)}, "radius must be a positive"),
    ({"domain": L1Ball(1.0), "radius": 2.0}, "has its own extent"),
    ({"algorithm": "seg", "domain": "l2", "radius": 1.0}, "Entropy needs L1Ball"),
    ({"epochs": 0}, "epochs must be"),
    ({"epochs": None}, "epochs must be"),
    ({"output": "best"}, "output must be"),
    ({"fit_intercept": "yes"}, "fit_intercept must be"),
    ({"random_state": "now"}, "random_state must be"),
]


@pytest.mark.parametrize("Estimator", [OnlineClassifier, OnlineRegressor])
@pytest.mark.parametrize(("options", "says"), BAD)
def test_parameters_that_cannot_work_are_refused(Estimator, options, says):
    with pytest.raises(InvalidParameter, match=says):
        Estimator(**options).fit([[0.0], [1.0]], [0, 1])


def test_losses_of_the_other_kind_are_refused():
    with pytest.raises(InvalidParameter, match="loss"):
        OnlineClassifier(loss="epsilon_insensitive").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidParameter, match="loss"):
        OnlineRegressor(loss="hinge").fit([[0.0], [1.0]], [0, 1])


def test_a_stream_does_not_change_its_algorithm_or_width():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    model = OnlineClassifier().partial_fit(X, y, classes=[False, True])
    with pytest.raises(InvalidParameter, match="they were changed"):
        model.set_params(algorithm="sgd").partial_fit(X, y)
    for other in ({"loss": "logistic"}, {"lam": 0.1}, {"fit_intercept": False}, {"step_size": 0.2}):
        with pytest.raises(InvalidParameter, match="they were changed"):
            model.set_params(algorithm="adagrad").partial_fit(X, y).set_params(**other).partial_fit(
                X, y
            )
        model = OnlineClassifier().partial_fit(X, y, classes=[False, True])
    ball = OnlineClassifier("sgd", radius=1.0).partial_fit(X, y, classes=[False, True])
    for other in ({"algorithm": "smd"}, {"domain": "l1"}):  # the same numbers, other classes
        with pytest.raises(InvalidParameter, match="they were changed"):
            ball.set_params(algorithm="sgd", domain=None).set_params(**other).partial_fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.set_params(algorithm="adagrad").partial_fit(X[:, :2], y)
    with pytest.raises(InvalidData, match="each as often as the others"):
        model.regret(X[:70], y[:70])
    with pytest.raises(NotFittedError):
        OnlineClassifier().regret(X, y)


def test_a_call_that_overflows_is_refused_and_leaves_the_model_as_it_was():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    model = OnlineClassifier("sgd", loss="squared_hinge", step_size=0.01)
    model.partial_fit(X, y, classes=[False, True])
    before, w = model.coef_.copy(), model._learners[0].w
    with pytest.raises(InvalidData, match="the weights overflowed"):
        model.partial_fit(1e90 * X, y)
    np.testing.assert_array_equal(model.coef_, before)
    np.testing.assert_array_equal(model._learners[0].w, w)


def test_one_epoch_has_an_order_of_its_own():
    X, scores = drawn()
    y = scores[:, 0] > 0.0
    one, other = (OnlineClassifier(epochs=1, random_state=seed).fit(X, y) for seed in (0, 1))
    assert not np.array_equal(one.coef_, other.coef_)


def test_the_history_of_a_long_stream_stays_short():
    model = OnlineClassifier("sgd")
    for _ in range(300):
        model.partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    assert model.n_steps_ == 600
    assert model.history_["step"][-1] == 600
    assert len(model.history_["step"]) < 50
    assert np.all(np.diff(model.history_["step"]) > 0)
