"""A loss written by a user runs at the speed of a built-in one."""

import time

import numpy as np
import pytest

from pegasos.data.rows import as_rows
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import Hinge, Logistic
from pegasos.problem.objective import make_problem
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.sdca.linear import SDCA
from tests.reference import losses as reference

TWINS = {
    "hinge": (Hinge(), reference.my_hinge, reference.my_hinge_slope),
    "logistic": (Logistic(), reference.my_logistic, reference.my_logistic_slope),
}


def seconds_per_epoch(solver, losses, epochs=7):
    """Least seconds per epoch of each loss, taken in turns so that both meet the same machine."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 50))
    Y = np.where(X[:, :1] + rng.standard_normal((100_000, 1)) > 0.0, 1.0, -1.0)
    problems = [make_problem(loss, as_rows(X), Y, None, 1e-4) for loss in losses]
    states = [solver.start(problem, 0, None) for problem in problems]
    least = [np.inf] * len(losses)
    for _ in range(epochs):
        for k, (problem, state) in enumerate(zip(problems, states, strict=True)):
            begin = time.perf_counter()
            while not solver.advance(problem, state).ends_epoch:
                pass
            least[k] = min(least[k], time.perf_counter() - begin)
    return least


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_pegasos_epoch_of_a_custom_loss_takes_at_most_half_as_long_again(name):
    built_in, value, slope = TWINS[name]
    mine = CustomLoss(value, slope).tag([-1.0, 1.0])
    theirs, own = seconds_per_epoch(Pegasos(), [built_in, mine])
    print(f"{name}: built-in {1e3 * theirs:.1f} ms, custom {1e3 * own:.1f} ms per epoch")
    assert own <= 1.5 * theirs


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_sdca_epoch_of_a_custom_loss_is_reported(name):
    # Its exact step is a search where the built-in one has a closed form: no promise but this.
    built_in, value, slope = TWINS[name]
    mine = CustomLoss(value, slope).tag([-1.0, 1.0])
    theirs, own = seconds_per_epoch(SDCA(shrinking=False), [built_in, mine])
    print(f"{name}: built-in {1e3 * theirs:.1f} ms, custom {1e3 * own:.1f} ms per epoch")
    assert own <= 10.0 * theirs
