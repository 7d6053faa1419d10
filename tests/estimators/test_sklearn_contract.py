"""The checks of scikit-learn, for every loss and bias of the default solver: none may fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import PegasosClassifier, PegasosRegressor

BIASES = ("free", "regularized", "none")
CLASSIFIERS = [
    PegasosClassifier(loss=loss, bias=bias)
    for loss in ("hinge", "squared_hinge", "logistic")
    for bias in BIASES
]
REGRESSORS = [PegasosRegressor(bias=bias) for bias in BIASES]


@parametrize_with_checks(CLASSIFIERS + REGRESSORS)
def test_estimators_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
