"""Bad input that is not in the tables of `test_bad_table`: pairs, predictions, custom losses."""

import numpy as np
import pytest

from pegasos import SDCA, SGD, CustomLoss, PegasosClassifier
from pegasos.errors import InvalidData, InvalidParameter
from tests.estimators.bad_data import X, malformed, y
from tests.estimators.bad_parameters import Untouchable


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["free-subgradient", "free-batch", "free-search"])
@pytest.mark.parametrize("solver", ["sdca", SDCA(), "sgd", SGD()])
def test_ways_to_a_free_bias_of_pegasos_are_refused_by_other_solvers(solver, bias):
    with pytest.raises(InvalidParameter, match=rf'has no bias="{bias}"; use .*"pegasos"'):
        PegasosClassifier(solver=solver, bias=bias).fit(Untouchable(), Untouchable())


@pytest.mark.fast
def test_a_custom_loss_that_is_not_convex_is_refused():
    loss = CustomLoss(lambda z, y: min(1.0, (z - y) ** 2), lambda z, y: 2 * (z - y))
    with pytest.raises(InvalidParameter, match="convex|slope"):
        PegasosClassifier(loss=loss).fit(X, y)


@pytest.mark.fast
def test_one_class_of_positive_weight_is_refused():
    with pytest.raises(InvalidData, match="one class only, .* among the rows of positive weight"):
        PegasosClassifier().fit(X, y, sample_weight=[1, 0, 0, 1])
    with pytest.raises(InvalidData, match="one class only, .* among the rows of positive weight"):
        PegasosClassifier(class_weight={0: 0.0}).fit(X, y)
    with pytest.raises(InvalidData, match="sample_weight times class_weight is zero"):
        PegasosClassifier(class_weight={0: 0.0, 1: 0.0}).fit(X, y)


@pytest.mark.fast
def test_class_weight_for_multilabel_is_refused():
    with pytest.raises(InvalidParameter, match="does not apply to multilabel"):
        PegasosClassifier(class_weight="balanced").fit(
            X, np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
        )


def test_malformed_csr_is_refused_at_prediction():
    model = PegasosClassifier().fit(X, y)
    with pytest.raises(InvalidData, match="indices must lie"):
        model.predict(malformed(indices=[1, 0, 0, 9, 0, 1]))


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
