"""What a loss written by a user costs a solver: how often its functions are called."""

import numba
import numpy as np
import pytest

from pegasos.data.rows import as_rows
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.objective import make_problem
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.sdca.linear import SDCA
from tests.reference import losses as reference

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="compiled calls are not counted"),
    pytest.mark.filterwarnings("ignore:overflow encountered"),  # uncompiled uint64 wraps
]

TWINS = {
    "hinge": (reference.my_hinge, reference.my_hinge_slope),
    "logistic": (reference.my_logistic, reference.my_logistic_slope),
}


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, z, y):
        self.calls += 1
        return self.function(z, y)


def calls_per_row(solver, name, epochs=3):
    """Return how often value and slope are asked for per row of an epoch."""
    rng, n = np.random.default_rng(0), 300
    X = rng.standard_normal((n, 5))
    Y = np.where(X[:, :1] + rng.standard_normal((n, 1)) > 0.0, 1.0, -1.0)
    value, slope = map(Counted, TWINS[name])
    problem = make_problem(CustomLoss(value, slope).tag([-1.0, 1.0]), as_rows(X), Y, None, 1e-2)
    state = solver.start(problem, 0, None)
    value.calls = slope.calls = 0
    for _ in range(epochs):
        while not solver.advance(problem, state).ends_epoch:
            pass
    return value.calls / (n * epochs), slope.calls / (n * epochs)


@pytest.mark.parametrize("name", TWINS)
def test_pegasos_asks_a_custom_loss_for_a_handful_of_slopes_per_row(name):
    values, slopes = calls_per_row(Pegasos(), name)
    assert values == 0.0
    assert slopes <= 5.0  # one for the step, and what bounds feasible dual numbers


@pytest.mark.parametrize("name", TWINS)
def test_an_exact_step_of_sdca_asks_a_custom_loss_a_few_dozen_times(name):
    # It is a search where the built-in one has a closed form.
    assert sum(calls_per_row(SDCA(shrinking=False), name)) <= 40.0
