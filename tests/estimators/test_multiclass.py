"""Three or more classes of a linear classifier: jointly or one against the rest, with costs."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris

from pegasos import SGD, CustomLoss, PegasosClassifier
from pegasos.errors import InvalidParameter
from tests.estimators.bad_parameters import Untouchable
from tests.joint_problems import random_cost
from tests.reference.joint import optimum
from tests.reference.losses import smoothed_hinge, smoothed_hinge_slope


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X - X.mean(axis=0), np.array(["setosa", "versicolor", "virginica"])[y]


def fitted(iris, **parameters):
    return PegasosClassifier(random_state=0, **parameters).fit(*iris)


def test_classes_are_trained_jointly_by_default(iris):
    model = fitted(iris)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert len(model.certificate_.models["gap"]) == 1  # one model
    codes = np.unique(iris[1], return_inverse=True)[1]
    lam = 1.0 / len(codes)
    best, W, _ = optimum(1.0 - np.eye(3), iris[0], codes, np.ones(len(codes)), lam, "free")
    assert model.certificate_.dual <= best * (1.0 + 1e-7)
    assert model.certificate_.primal >= best * (1.0 - 1e-7)
    assert np.allclose(model.coef_, W.T, atol=1e-2)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-12)
    assert model.certain(iris[0]).mean() > 0.5


@pytest.mark.parametrize(
    "parameters",
    [
        {"multiclass": "ovr"},
        {"loss": "squared_hinge"},
        {"loss": CustomLoss(smoothed_hinge, smoothed_hinge_slope)},
        {"solver": "sgd", "tol": 0.5},
        {"solver": "pegasos", "bias": "free-search", "tol": 0.5},
    ],
)
def test_one_against_the_rest_is_for_what_has_no_joint_form(iris, parameters):
    model = fitted(iris, max_iter=100, **parameters)
    assert len(model.certificate_.models["gap"]) == 3


@pytest.mark.parametrize("multiclass", ["auto", "joint", "ovr"])
def test_two_classes_are_one_model_in_every_way(iris, multiclass):
    X, y = iris
    model = fitted((X[50:], y[50:]), multiclass=multiclass)
    assert model.coef_.shape == (1, 4)
    assert np.array_equal(model.coef_, fitted((X[50:], y[50:])).coef_)


def test_very_many_classes_go_one_against_the_rest():
    y = np.arange(1001)
    X = np.stack([np.cos(y), np.sin(y)], axis=1)
    model = PegasosClassifier(max_iter=1, bias="none", tol=10.0, random_state=0).fit(X, y)
    assert len(model.certificate_.models["gap"]) == 1001


def test_probabilities_of_joint_logistic_models_are_the_softmax_of_decision_values(iris):
    model = fitted(iris, loss="logistic")
    P = model.predict_proba(iris[0])
    assert np.allclose(P, softmax(model.decision_function(iris[0]), axis=1))
    assert np.allclose(P.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(iris[0]))


def test_the_objective_with_costs_is_that_of_an_independent_solver(iris):
    cost = random_cost(np.random.default_rng(0), 3)
    X, y = iris
    s = np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    model = PegasosClassifier(cost=cost, random_state=0).fit(X, y, sample_weight=s)
    codes = np.unique(y, return_inverse=True)[1]
    best, _, _ = optimum(cost, X, codes, s, 1.0 / s.sum(), "free")
    assert model.certificate_.dual <= best * (1.0 + 1e-7)
    assert model.certificate_.primal >= best * (1.0 - 1e-7)


def test_costs_lower_what_errors_cost():
    # Three classes on a line, overlapping; taking the last for the first is dear.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = y[:, None] + 1.2 * rng.standard_normal((600, 1))
    cost = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [8.0, 4.0, 0.0]])
    train, test = slice(0, 300), slice(300, 600)

    def mean_cost(**parameters):
        model = PegasosClassifier(random_state=0, **parameters).fit(X[train], y[train])
        return cost[y[test], model.predict(X[test])].mean()

    assert mean_cost(cost=cost) < 0.8 * mean_cost()


def test_class_weights_weigh_the_rows_of_a_joint_model(iris):
    X, y = iris
    weights = {"setosa": 1.0, "versicolor": 3.0, "virginica": 0.5}
    s = np.array([weights[label] for label in y])
    by_class = fitted(iris, class_weight=weights)
    by_row = PegasosClassifier(random_state=0).fit(X, y, sample_weight=s)
    assert np.array_equal(by_class.coef_, by_row.coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"multiclass": "ovo"}, 'multiclass must be "auto", "joint" or "ovr"; got'),
        ({"multiclass": "joint", "loss": "squared_hinge"}, 'has loss="hinge" and loss="logistic"'),
        ({"multiclass": "joint", "solver": "sgd"}, 'solver="sgd" with bias="free" trains no joint'),
        ({"multiclass": "joint", "solver": SGD()}, 'or multiclass="ovr"'),
        ({"multiclass": "joint", "bias": "free-search"}, 'bias="free-search" trains no joint'),
        ({"cost": [[0, 1], [1, 0]], "multiclass": "ovr"}, "cost is of a joint model"),
        ({"cost": [[0, 1], [1, 0]], "loss": "logistic"}, 'cost needs loss="hinge"'),
        ({"cost": [[0, 1], [1, 0]], "solver": "perceptron"}, "trains no joint model"),
        ({"cost": [0, 1]}, "cost must be a square matrix of numbers"),
        ({"cost": "high"}, "cost must be a square matrix of numbers"),
        ({"cost": [[0, 1, 2], [1, 0, 1]]}, "cost must be a square matrix of numbers"),
        ({"cost": [[0, -1], [1, 0]]}, r"must not be negative, and finite; got cost\[0, 1\] = -1"),
        ({"cost": [[0, np.nan], [1, 0]]}, r"got cost\[0, 1\] = nan"),
        ({"cost": [[0, np.inf], [1, 0]]}, r"got cost\[0, 1\] = inf"),
        ({"cost": [[0, 1], [1, 2]]}, r"0 where a class is taken for itself; got cost\[1, 1\] = 2"),
    ],
)
def test_what_does_not_go_together_is_refused_before_data_is_looked_at(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        PegasosClassifier(**parameters).fit(Untouchable(), Untouchable())


def test_costs_that_do_not_fit_the_labels_are_refused(iris):
    X, y = iris
    two, four = 1.0 - np.eye(2), 1.0 - np.eye(4)
    with pytest.raises(InvalidParameter, match=r"3 classes; got a cost of shape \(4, 4\)"):
        PegasosClassifier(cost=four).fit(X, y)
    with pytest.raises(InvalidParameter, match="cost is for three or more classes. For two"):
        PegasosClassifier(cost=two).fit(X[:100], y[:100])
    several = np.eye(3, dtype=int)[np.arange(150) % 3]
    with pytest.raises(InvalidParameter, match="cost does not apply to multilabel y"):
        PegasosClassifier(cost=1.0 - np.eye(3)).fit(X, several)
    with pytest.raises(InvalidParameter, match='multiclass="joint" is for rows of one class each'):
        PegasosClassifier(multiclass="joint").fit(X, several)


def test_a_warm_start_goes_on_from_a_joint_fit(iris):
    model = PegasosClassifier(solver="sdca", warm_start=True, tol=1e-4, random_state=0).fit(*iris)
    cold = model.n_iter_
    assert model.fit(*iris).n_iter_ < 0.5 * cold
    assert model.certificate_.is_within_tol
    assert model.set_params(multiclass="ovr").fit(*iris).certificate_.is_within_tol
    assert model.set_params(multiclass="joint").fit(*iris).certificate_.is_within_tol


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_stream_takes_joint_steps(iris, loss):
    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    model = PegasosClassifier(loss=loss, C=1.0)
    for _ in range(30):
        model.partial_fit(X[order], y[order], classes=np.unique(y))
    assert model.coef_.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-9)
    assert model.score(X, y) > 0.9
    assert model.fit(X, y).partial_fit(X[order], y[order]).score(X, y) > 0.9


def test_a_fit_ends_once_labels_are_settled(iris):
    model = fitted(iris, stop="decisions", tol=1e-12, loss="logistic", solver="sdca")
    assert model.certificate_.relative_gap > 1e-12
    assert model.certain(iris[0]).mean() >= 0.999


def test_results_do_not_depend_on_the_number_of_threads(iris):
    one, two = (fitted(iris, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.intercept_, two.intercept_)
