"""Bad input: each a clear error, tested by its message; parameters before data."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import SDCA, SGD, CustomLoss, Pegasos, PegasosClassifier, PegasosRegressor
from pegasos.errors import InvalidData, InvalidParameter

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
y = np.array([0, 1, 1, 0])
t = np.array([0.5, 1.5, 2.5, 0.0])

BAD_PARAMETERS = [
    ({"C": 0.0}, r"C must be a positive, finite number; got C=0.0"),
    ({"C": -1}, r"C must be a positive, finite number; got C=-1"),
    ({"C": np.nan}, r"C must be a positive, finite number; got C=nan"),
    ({"C": "1"}, r"C must be a positive, finite number; got C='1'"),
    ({"C": None}, r"C must be a positive, finite number; got C=None"),
    ({"lam": 0}, r"lam must be a positive, finite number; got lam=0"),
    ({"C": 2.0, "lam": 0.1}, r"Give C or lam, not both; got C=2.0 and lam=0.1"),
    ({"bias": "fixed"}, r'bias must be "none", "regularized", "free", .*; got \'fixed\''),
    ({"bias": True}, r"bias must be .*; got True"),
    ({"bias_scale": 0.0}, r"bias_scale must be a positive, finite number; got bias_scale=0.0"),
    ({"solver": "newton"}, r"solver must be .*\"sdca\".*; got 'newton'"),
    ({"solver": 3}, r"solver must be .*; got 3"),
    ({"tol": 0}, r"tol must be a positive, finite number; got tol=0"),
    ({"max_iter": 0}, r"max_iter must be a whole number, 1 or more; got max_iter=0"),
    ({"max_iter": 2.5}, r"max_iter must be a whole number, 1 or more; got max_iter=2.5"),
    ({"max_time": 0}, r"max_time must be a positive, finite number; got max_time=0"),
    ({"max_time": -1.5}, r"max_time must be a positive, finite number; got max_time=-1.5"),
    ({"max_time": "30s"}, r"max_time must be .* It is in seconds"),
    ({"warm_start": "yes"}, r"warm_start must be True or False; got 'yes'"),
    ({"verbose": -1}, r"verbose must be 0 or 1; got -1"),
]
BAD_FOR_CLASSIFIER = [
    ({"loss": "huber"}, r'loss must be "hinge", "squared_hinge", "logistic" or .*; got \'huber\''),
    ({"loss": "epsilon_insensitive"}, r"loss must be .* That loss is for regression"),
    ({"loss": None}, r"loss must be .*; got None"),
    ({"loss": ["hinge"]}, r"loss must be .*; got \['hinge'\]"),
    ({"stop": "early"}, r'stop must be "gap" or "decisions"; got \'early\''),
    ({"class_weight": "even"}, r'class_weight must be "balanced", a dict or None; got \'even\''),
    ({"class_weight": [1, 2]}, r'class_weight must be "balanced", a dict or None'),
]
BAD_FOR_REGRESSOR = [
    ({"loss": "squared"}, r'loss must be "epsilon_insensitive" or a CustomLoss; got \'squared\''),
    ({"loss": "hinge"}, r"loss must be .* That loss is for classification"),
    ({"epsilon": -0.1}, r"epsilon must be a finite number, 0 or more; got epsilon=-0.1"),
    ({"epsilon": "wide"}, r"epsilon must be a finite number"),
]


class Untouchable:
    """Data that must not be looked at."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("data was looked at before the parameters were checked")

    def __len__(self):
        raise AssertionError("data was looked at before the parameters were checked")


@pytest.mark.fast
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS + BAD_FOR_CLASSIFIER)
def test_classifier_refuses_a_bad_parameter_before_touching_data(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        PegasosClassifier(**parameters).fit(Untouchable(), Untouchable())


@pytest.mark.fast
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS + BAD_FOR_REGRESSOR)
def test_regressor_refuses_a_bad_parameter_before_touching_data(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        PegasosRegressor(**parameters).fit(Untouchable(), Untouchable())


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["free-subgradient", "free-batch", "free-search"])
@pytest.mark.parametrize("solver", ["sdca", SDCA(), "sgd", SGD()])
def test_ways_to_a_free_bias_of_pegasos_are_refused_by_other_solvers(solver, bias):
    with pytest.raises(InvalidParameter, match=rf'has no bias="{bias}"; use .*"pegasos"'):
        PegasosClassifier(solver=solver, bias=bias).fit(Untouchable(), Untouchable())


@pytest.mark.fast
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bias": "free-batch", "loss": "logistic"}, "only the hinge .*got loss=.*Logistic"),
        ({"bias": "free-batch"}, "needs batch_size >= 2"),
        ({"solver": SGD(variant="m"), "loss": "logistic"}, "counts margin errors of the hinge"),
        ({"solver": Pegasos(batch_size=0)}, "batch_size must be a whole number"),
        ({"solver": Pegasos(sampling="sorted")}, "sampling must be one of"),
    ],
)
def test_impossible_pairs_are_refused_before_touching_data(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        PegasosClassifier(**parameters).fit(Untouchable(), Untouchable())


@pytest.mark.fast
def test_epsilon_beside_a_loss_object_is_refused():
    loss = CustomLoss(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    with pytest.raises(InvalidParameter, match="epsilon=0.5 has no effect"):
        PegasosRegressor(loss=loss, epsilon=0.5).fit(X, t)


@pytest.mark.fast
def test_a_custom_loss_that_is_not_convex_is_refused():
    loss = CustomLoss(lambda z, y: min(1.0, (z - y) ** 2), lambda z, y: 2 * (z - y))
    with pytest.raises(InvalidParameter, match="convex|slope"):
        PegasosClassifier(loss=loss).fit(X, y)


@pytest.mark.fast
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array, sparse.csc_matrix])
def test_nan_and_infinity_in_x_are_refused(value, name, wrap):
    bad = X.copy()
    bad[2, 1] = value
    with pytest.raises(ValueError, match=f"X contains {name}"):
        PegasosClassifier().fit(wrap(bad), y)
    with pytest.raises(ValueError, match=f"X contains {name}"):
        PegasosRegressor().fit(wrap(bad), t)


@pytest.mark.fast
def test_nan_in_y_is_refused():
    bad = t.copy()
    bad[0] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        PegasosRegressor().fit(X, bad)
    with pytest.raises(ValueError, match="contains NaN"):
        PegasosClassifier().fit(X, np.array([0.0, 1.0, np.nan, 1.0]))


@pytest.mark.fast
@pytest.mark.parametrize("shape", [(0, 2), (4, 0)])
def test_empty_x_is_refused(shape):
    with pytest.raises(ValueError, match=r"Found array with 0 (sample|feature)"):
        PegasosClassifier().fit(np.empty(shape), y[: shape[0]])


@pytest.mark.fast
def test_x_of_one_dimension_is_refused():
    with pytest.raises(ValueError, match="Expected 2D array"):
        PegasosClassifier().fit(X[:, 0], y)


@pytest.mark.fast
def test_rows_and_labels_of_different_number_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PegasosClassifier().fit(X, y[:3])


@pytest.mark.fast
def test_missing_y_is_refused():
    with pytest.raises(ValueError, match="requires y to be passed"):
        PegasosClassifier().fit(X, None)


@pytest.mark.fast
def test_one_class_is_refused():
    with pytest.raises(InvalidData, match=r"y has one class only, .*0.*; a classifier needs"):
        PegasosClassifier().fit(X, [0, 0, 0, 0])


@pytest.mark.fast
def test_one_class_of_positive_weight_is_refused():
    with pytest.raises(InvalidData, match="one class only, .* among the rows of positive weight"):
        PegasosClassifier().fit(X, y, sample_weight=[1, 0, 0, 1])
    with pytest.raises(InvalidData, match="one class only, .* among the rows of positive weight"):
        PegasosClassifier(class_weight={0: 0.0}).fit(X, y)
    with pytest.raises(InvalidData, match="sample_weight times class_weight is zero"):
        PegasosClassifier(class_weight={0: 0.0, 1: 0.0}).fit(X, y)


@pytest.mark.fast
def test_labels_of_the_wrong_kind_are_refused():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        PegasosClassifier().fit(X, t)
    with pytest.raises(InvalidData, match=r"y must hold numbers; got values such as .*'a'"):
        PegasosRegressor().fit(X, ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        PegasosRegressor().fit(X, np.column_stack([t, t]))


@pytest.mark.fast
def test_class_weight_of_an_unknown_class_is_refused():
    with pytest.raises(InvalidParameter, match=r"class_weight names \[7\], which y does not"):
        PegasosClassifier(class_weight={7: 2.0}).fit(X, y)


@pytest.mark.fast
def test_negative_class_weight_is_refused():
    with pytest.raises(InvalidParameter, match="non-negative"):
        PegasosClassifier(class_weight={0: -1.0}).fit(X, y)


@pytest.mark.fast
def test_class_weight_for_multilabel_is_refused():
    with pytest.raises(InvalidParameter, match="does not apply to multilabel"):
        PegasosClassifier(class_weight="balanced").fit(
            X, np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
        )


@pytest.mark.fast
@pytest.mark.parametrize("estimator", [PegasosClassifier(), PegasosRegressor()])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], "weights must not be negative; the least is -1"),
        ([0, 0, 0, 0], "sample_weight is zero for every row"),
        ([1, np.nan, 1, 1], "sample_weight contains NaN or infinity"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
        (["a", "b", "c", "d"], "sample_weight must hold numbers"),
    ],
)
def test_bad_sample_weights_are_refused(estimator, weights, message):
    with pytest.raises(InvalidData, match=message):
        estimator.fit(X, y, sample_weight=weights)


def _malformed(**changes):
    matrix = sparse.csr_array(X)
    for name, values in changes.items():
        setattr(matrix, name, np.array(values, dtype=getattr(matrix, name).dtype))
    return matrix


@pytest.mark.fast
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": [1, 0, 0, 9, 0, 1]}, r"indices must lie in \[0, 2\); found 0 to 9"),
        ({"indices": [1, 0, 0, -3, 0, 1]}, r"indices must lie in \[0, 2\); found -3 to 1"),
        ({"indptr": [0, 3, 2, 4, 6]}, "indptr decreases"),
        ({"indptr": [0, 1, 2, 4, 99]}, "indptr announces 99 values"),
        ({"indptr": [0, 1, 2, 6]}, "indptr must have 5 entries"),
    ],
)
def test_malformed_csr_is_refused(changes, message):
    with pytest.raises(InvalidData, match=message):
        PegasosClassifier().fit(_malformed(**changes), y)


def test_malformed_csr_is_refused_at_prediction():
    model = PegasosClassifier().fit(X, y)
    with pytest.raises(InvalidData, match="indices must lie"):
        model.predict(_malformed(indices=[1, 0, 0, 9, 0, 1]))


def test_wrong_number_of_features_at_prediction_is_refused():
    model = PegasosClassifier().fit(X, y)
    for method in (model.predict, model.decision_function, model.certain, model.decision_bounds):
        with pytest.raises(
            ValueError, match="X has 3 features, but PegasosClassifier is expecting 2"
        ):
            method(np.ones((1, 3)))


@pytest.mark.fast
def test_prediction_before_fit_is_refused():
    for method in ("predict", "decision_function", "certain", "decision_bounds"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(PegasosClassifier(), method)(X)


@pytest.mark.fast
def test_probabilities_of_the_hinge_are_refused():
    with pytest.raises(AttributeError, match="predict_proba"):
        PegasosClassifier().predict_proba(X)
