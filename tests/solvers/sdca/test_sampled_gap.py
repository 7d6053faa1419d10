"""An estimate from all rows is the certificate's gap; the best regularised bias by a fine grid."""

import numpy as np
import pytest

from pegasos.certificate import gap
from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.schedule import Schedule
from pegasos.problem import bias
from pegasos.problem.bias import best_regularized_bias
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import combination
from pegasos.solvers.sdca.coordinate import DualBias
from pegasos.solvers.sdca.sampled_gap import sampled_gap
from tests.conftest import draw


def objective_of(drawn, z, b):
    losses = np.maximum(0.0, 1.0 - drawn.y[:, 0] * (z + b))
    penalty = 0.5 * drawn.lam * (b / drawn.problem.bias_scale) ** 2
    return penalty + drawn.weights @ losses / drawn.weights.sum()


@pytest.mark.fast
@pytest.mark.parametrize("many", [8, 1000])
def test_best_regularized_bias_minimises_the_objective(monkeypatch, many):
    monkeypatch.setattr(bias, "MANY", many)
    drawn = draw(Hinge(), 1, n=40, d=3, weighted=False, bias="regularized", lam=0.1)
    Z = np.random.default_rng(0).standard_normal((40, 1))
    b = best_regularized_bias(drawn.problem, Z, 0, 0.3, 0.0)
    grid = [objective_of(drawn, Z[:, 0], c) for c in np.linspace(-3.0, 3.0, 2001)]
    assert objective_of(drawn, Z[:, 0], b) <= min(grid) + 1e-12


@pytest.mark.fast
def test_many_rows_are_certified_with_the_best_bias_and_a_sample_of_all_says_the_same(monkeypatch):
    drawn = draw(Hinge(), 1, n=40, d=3, weighted=False, bias="regularized", lam=0.1)
    problem = drawn.problem
    A = drawn.y * np.random.default_rng(1).uniform(size=(40, 1))
    (own,) = Judge(problem).evaluations(Offer(A), False, 0.0)
    monkeypatch.setattr(gap, "MANY_ROWS", 1)
    (best,) = Judge(problem).evaluations(Offer(A), False, 0.0)
    assert best.primal[0] < own.primal[0]
    assert best.dual[0] == pytest.approx(own.dual[0], rel=1e-9)
    z = drawn.X @ best.W[:, 0]
    half = 0.5 * drawn.lam * best.W[:, 0] @ best.W[:, 0]
    assert best.primal[0] == pytest.approx(half + objective_of(drawn, z, best.b[0]))

    beta = problem.bias_scale * A.sum(axis=0) / (problem.lam * problem.S)
    constant = DualBias(problem.bias_scale, beta, np.zeros(1))
    estimate = sampled_gap(problem, A, combination(problem, A), constant, 5)
    assert estimate == pytest.approx(best.gap[0] / best.dual[0], rel=1e-3)


@pytest.mark.fast
def test_a_current_estimate_asks_for_a_certificate_once_an_epoch_and_only_when_it_is_near():
    schedule = Schedule()
    assert not schedule.is_due_if_current(4, 2e-3, 1e-3)
    assert schedule.is_due_if_current(4, 5e-4, 1e-3)
    schedule.plan(4, 1.0)
    assert not schedule.is_due_if_current(4, 5e-4, 1e-3)
    assert schedule.is_due_if_current(5, 5e-4, 1e-3)
