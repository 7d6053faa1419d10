"""The checks of scikit-learn, for the default solver: none may fail.

Each bias meets all checks, and each kind of estimator: one that decides, one with probabilities,
one that regresses. What they ask of the estimators' own lines does not depend on which loss meets
which bias, and every loss is compiled for every container. Weights are checked for all pairs.
"""

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from pegasos import PegasosClassifier, PegasosRegressor

BIASES = ("free", "regularized", "none")
LOSSES = ("hinge", "squared_hinge", "logistic")
DEFAULT_SOLVER = [
    PegasosClassifier(),
    PegasosClassifier(bias="none"),
    PegasosClassifier(loss="logistic", bias="regularized"),
    PegasosRegressor(),
    PegasosRegressor(bias="regularized"),
]
WEIGHTED = [
    *(PegasosClassifier(loss=loss, bias=bias) for loss in LOSSES for bias in BIASES),
    *(PegasosRegressor(bias=bias) for bias in BIASES),
]
CHOSEN_SOLVER = [
    estimator(solver=solver)
    for estimator in (PegasosClassifier, PegasosRegressor)
    for solver in ("pegasos", "sgd")
]


def expected_failures(estimator):
    reason = (
        "weights and repetitions give the same optimum, but the check compares to seven digits; a "
        "stochastic solver that was asked for by name stops at tol"
    )
    failures = {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }
    if estimator.solver == "sgd":
        refused = "partial_fit takes Pegasos steps and refuses another solver by name"
        failures["check_n_features_in_after_fitting"] = refused
        failures["check_estimators_partial_fit_n_features"] = refused
        failures["check_fit_score_takes_y"] = refused
    return failures


@parametrize_with_checks(DEFAULT_SOLVER)
def test_estimators_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_a_weight_of_two_is_a_row_twice_for_every_loss_and_bias(estimator):
    check_sample_weight_equivalence_on_dense_data("estimator", estimator)
    check_sample_weight_equivalence_on_sparse_data("estimator", estimator)


@pytest.mark.slow
@parametrize_with_checks(CHOSEN_SOLVER, expected_failed_checks=expected_failures)
def test_stochastic_solvers_keep_all_of_it_but_the_seventh_digit(estimator, check):
    check(estimator)
