"""Defaults are those that the documentation states."""

import ast
import inspect
import re

import pytest

from pegasos import (
    FourierFeatures,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
)

ESTIMATORS = [
    PegasosClassifier, PegasosRegressor, KernelPegasosClassifier, KernelPegasosRegressor,
    FourierFeatures,
]  # fmt: skip
STATED = re.compile(r"^    ([\w, ]+) : .*default=(.+)$", re.MULTILINE)


@pytest.mark.fast
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_defaults_are_those_of_the_docstring(Estimator):
    parameters = inspect.signature(Estimator).parameters
    stated = STATED.findall(inspect.getdoc(Estimator).replace("\n", "\n    "))
    assert len(stated) >= 3
    for names, default in stated:
        for name in names.split(", "):
            assert parameters[name].default == ast.literal_eval(default), name
