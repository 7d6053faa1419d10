"""The kernel estimators obey scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor


@parametrize_with_checks([KernelPegasosClassifier(), KernelPegasosRegressor()])
def test_default_estimators_pass_every_check(estimator, check):
    check(estimator)
