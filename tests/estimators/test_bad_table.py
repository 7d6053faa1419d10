"""Over 550 kinds of bad input, crossed with every estimator: each a clear error, before a fit."""

import functools

import pandas as pd
import pytest

from pegasos import (
    FourierFeatures,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
)
from pegasos.errors import InvalidData, InvalidParameter
from tests.estimators import bad_data
from tests.estimators.bad_data import X, y
from tests.estimators.bad_parameters import COMBINATIONS, PARAMETERS, Untouchable

pytestmark = pytest.mark.fast

CLASSIFIERS = [PegasosClassifier, KernelPegasosClassifier]
REGRESSORS = [PegasosRegressor, KernelPegasosRegressor]
SUPERVISED = CLASSIFIERS + REGRESSORS
ESTIMATORS = [*SUPERVISED, FourierFeatures]
HAS = {Estimator: set(Estimator().get_params()) for Estimator in ESTIMATORS}


def is_meant(Estimator, group):
    """Whether a combination is for an estimator: "=" asks for the beginning of its name."""
    name = Estimator.__name__
    return name.startswith(group[1:]) if group.startswith("=") else group in name


SINGLE = [
    (Estimator, {name: value}, message)
    for name, values, message in PARAMETERS
    for value in values
    for Estimator in ESTIMATORS
    if name in HAS[Estimator]
]
SEVERAL = [
    (Estimator, parameters, message)
    for parameters, group, message in COMBINATIONS
    for Estimator in SUPERVISED
    if is_meant(Estimator, group)
]


def named(case):
    return case.__name__ if isinstance(case, type) else None


def crossed(table, estimators):
    return [
        pytest.param(Estimator, make, message, id=f"{name}-{Estimator.__name__}")
        for name, (make, message) in table.items()
        for Estimator in estimators
    ]


def refuses(error, message, call, *arguments, **options):
    with pytest.raises(error, match=message):
        call(*arguments, **options)


@pytest.mark.parametrize(("Estimator", "parameters", "message"), SINGLE + SEVERAL, ids=named)
def test_bad_parameters_are_refused_before_the_data_is_looked_at(Estimator, parameters, message):
    refuses(InvalidParameter, message, Estimator(**parameters).fit, Untouchable(), Untouchable())


@pytest.mark.parametrize(("Estimator", "make", "message"), crossed(bad_data.ROWS, ESTIMATORS))
def test_bad_rows_are_refused(Estimator, make, message):
    refuses(ValueError, message, Estimator().fit, make(), y)


@pytest.mark.parametrize(
    ("Estimator", "make", "message"),
    crossed(bad_data.TARGETS_OF_ANY, SUPERVISED)
    + crossed(bad_data.TARGETS_OF_REGRESSORS, REGRESSORS)
    + crossed(bad_data.TARGETS_OF_CLASSIFIERS, CLASSIFIERS),
)
def test_bad_targets_are_refused(Estimator, make, message):
    refuses(ValueError, message, Estimator().fit, X, make())


@functools.cache
def fitted(Estimator):
    return Estimator().fit(pd.DataFrame(X, columns=["a", "b"]), y)


@pytest.mark.parametrize(
    ("Estimator", "make", "message"), crossed(bad_data.ROWS | bad_data.NEW_ROWS, ESTIMATORS)
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_rows_are_refused_after_a_fit_too(Estimator, make, message):
    model = fitted(Estimator)
    message += r"|X has \d features, but|feature names should match"  # which come first
    for method in ("transform", "predict", "decision_function", "decision_bounds", "certain"):
        if hasattr(model, method):
            refuses(ValueError, message, getattr(model, method), make())


@pytest.mark.parametrize(("Estimator", "make", "message"), crossed(bad_data.WEIGHTS, SUPERVISED))
def test_bad_weights_are_refused(Estimator, make, message):
    refuses(InvalidData, message, Estimator().fit, X, y, sample_weight=make())


@pytest.mark.parametrize(
    ("Estimator", "class_weight", "message"), crossed(bad_data.CLASS_WEIGHTS, CLASSIFIERS)
)
def test_bad_class_weights_are_refused(Estimator, class_weight, message):
    refuses(ValueError, message, Estimator(class_weight=class_weight).fit, X, y)


def test_the_table_is_as_long_as_it_says():
    kinds = sum(len(values) for _, values, _ in PARAMETERS) + len(COMBINATIONS)
    tables = ("ROWS", "TARGETS_OF_ANY", "TARGETS_OF_REGRESSORS", "TARGETS_OF_CLASSIFIERS")
    for table in (*tables, "NEW_ROWS", "WEIGHTS", "CLASS_WEIGHTS"):
        kinds += len(getattr(bad_data, table))
    assert kinds >= 550
