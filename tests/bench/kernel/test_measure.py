"""Climbing, refusals and the guarded optimum, on a competitor whose models are made up."""

import numpy as np
import pytest

from bench.harness.competitor import Effort
from bench.harness.measure import measure
from bench.harness.memory import measure_here
from bench.harness.optimum import Optimum
from bench.kernel.objective import Expansion
from bench.kernel.report import typical
from bench.kernel.solvers import SOLVERS, KernelSolver
from bench.kernel.table2 import arrival, least
from tests.bench.kernel.test_optimum import PAIR

OPTIMUM = Optimum(0.5, 0.5)


class MadeUp(KernelSolver):
    """Returns c = 1 - tol, so that P = c^2/2 + 1 - c = 1/2 + tol^2/2: a suboptimality of tol^2."""

    package = "numpy"

    def __init__(self, name="made up", refusal=""):
        self.name, self.refusal, self.calls = name, refusal, []

    def ladder(self, limit, is_large=False):
        return tuple(Effort(tol=tol) for tol in (0.3, 0.05, 0.005))

    def container(self, X):
        return X

    def run(self, X, problem, effort):
        if self.refusal:
            raise ValueError(self.refusal)
        self.calls.append(effort.tol)
        e = effort.tol if effort.tol is not None else 0.5**effort.epochs
        return Expansion(np.array([0, 1]), np.array([1.0 - e, e - 1.0]), 0.0, 4)


def run(solvers, optimum=OPTIMUM):
    return measure(PAIR, solvers, optimum, limit=60.0, repeats=1, say=lambda line: None)


def test_measure_judges_every_rung():
    (result,) = run([MadeUp()])
    assert [r.suboptimality for r in result.rungs] == pytest.approx([0.09, 0.0025, 0.000025])
    assert result.rungs[0].evaluations == 4
    assert result.rungs[0].n_support == 2
    assert result.best(1e-2) is not None
    assert typical(result) is result.rungs[-1]


def test_measure_keeps_the_words_of_a_solver_that_refuses():
    refused, done = run([MadeUp("a", "no such bias"), MadeUp("b")])
    assert (refused.refusal, refused.rungs, typical(refused)) == ("no such bias", [], None)
    assert len(done.rungs) == 3


def test_measure_warms_up_before_it_climbs():
    solver = MadeUp()
    run([solver])
    assert solver.calls == [0.3, 0.3, 0.05, 0.005]


def test_an_objective_below_the_bound_is_an_error():
    with pytest.raises(RuntimeError, match="certificate is wrong"):
        run([MadeUp()], Optimum(0.52, 0.52))


@pytest.mark.parametrize("goal", [1, 2, 3, 17, 100])
def test_least_finds_the_first_effort_within_a_tenth(goal):
    tried = []
    found, result = least(
        lambda k: tried.append(k) or k, lambda k: k >= goal, lambda k: False
    )  # fmt: skip
    assert found == result
    assert goal <= found <= 1.1 * goal + 1
    assert len(tried) < 20


def test_least_gives_up_when_twice_the_effort_would_take_too_long():
    assert least(lambda k: k, lambda k: k >= 100, lambda k: k >= 16) is None


def test_arrival_is_judged_by_the_absolute_distance_to_the_optimum():
    # P - P* = 4^-epochs / 2: 1/8, 1/32, 1/128 after 1, 2, 3 epochs.
    from bench.kernel.optimum import Known

    found = arrival(PAIR, MadeUp(), Known(OPTIMUM, 0.0, ""), 0.01, limit=60.0)
    assert (found.epochs, found.evaluations, found.test_error) == (3, 4, 0.0)


@pytest.mark.slow
def test_extra_memory_sees_the_kernel_cache():
    from bench.kernel.datasets import KernelDataset

    # Without a structure to learn nearly every row is a support vector, so libsvm's cache fills
    # with 2000 rows of 2000 float32 values: 16 MB.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), np.where(rng.random(2000) < 0.5, 1, -1)
    noise = KernelDataset("noise", X, y, 1 / 2000, X_test=X, y_test=y, gamma=1.0)
    used = measure_here(noise, SOLVERS["libsvm"], Effort(tol=1e-3)).extra_bytes
    if used is None:
        pytest.skip("the kernel does not tell")
    assert used > 0.5 * 16e6
