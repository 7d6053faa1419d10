"""Proposition 2 of [PT13], for every loss: the iterate is w of the average dual numbers."""

import numpy as np
import pytest

from pegasos.problem.bias import clip
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import combination
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.tail_average import GROWTH, new_tail
from pegasos.solvers.sgd.sgd import SGD
from tests.conftest import draw

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]
SOLVERS = [
    Pegasos(),
    Pegasos(batch_size=4),  # the last batch of an epoch is short
    Pegasos(batch_size=30),
    Pegasos(sampling="fixed"),
    Pegasos(projection=True),
    Pegasos(batch_size=7, projection=True),
    SGD(),
]


def run(problem, solver, epochs, turns=True):
    state = solver.start(problem, 1, None)
    if not turns:
        state.tail.middle = 10**9  # so that the sums cover all epochs
    for _ in range(epochs):
        while not solver.advance(problem, state).ends_epoch:
            pass
    return state


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_the_iterate_is_w_of_the_average_dual_numbers(loss, solver):
    is_regression = isinstance(loss, EpsilonInsensitive)
    for case, bias in enumerate(("none", "regularized")):
        drawn = draw(loss, case, weighted=case == 1, bias=bias, regression=is_regression, lam=1e-3)
        problem = drawn.problem
        state = run(problem, solver, 5, turns=False)
        A, scale, _ = solver.dual_point(problem, state)
        assert scale == 1.0 / 5
        a = scale * A
        W, b = primal.last_weights(problem, state)
        np.testing.assert_allclose(combination(problem, a), W, rtol=1e-9, atol=1e-10)
        total = (drawn.weights[:, None] * a).sum(axis=0) / (problem.lam * problem.S)
        np.testing.assert_allclose(problem.bias_scale**2 * total, b, rtol=1e-9, atol=1e-10)
        feasible = [clip(loss, a[i, 0], drawn.y[i, 0]) for i in range(30)]
        np.testing.assert_allclose(feasible, a[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.fast
def test_multiple_presentations_count_as_epochs():
    problem = draw(Hinge(), 2, weighted=True, bias="regularized").problem
    solver = SGD(variant="m", multiplicity=3)
    state = run(problem, solver, 7, turns=False)
    assert state.tail.epochs == 7 + 2 * 5  # passes 2 to 5 and 7 present each row three times
    A, scale, _ = solver.dual_point(problem, state)
    W, _ = primal.last_weights(problem, state)
    np.testing.assert_allclose(scale * combination(problem, A), W, rtol=1e-9)
    assert (np.abs(scale * A) <= 1.0 + 1e-12).all()


@pytest.mark.fast
def test_the_tail_is_the_difference_of_two_iterates():
    problem = draw(Hinge(), 3, weighted=True).problem
    solver = Pegasos(batch_size=3)
    state = solver.start(problem, 0, None)
    sums = {0: np.zeros_like(state.V)}
    for epoch in range(1, 20):
        while not solver.advance(problem, state).ends_epoch:
            pass
        sums[epoch] = state.V.copy()
        A, scale, _ = solver.dual_point(problem, state)
        first = state.tail.first
        expected = (sums[epoch] - sums[first]) / (problem.lam * problem.S * (epoch - first))
        np.testing.assert_allclose(scale * combination(problem, A), expected, rtol=1e-9)
        assert epoch < GROWTH or (1 - 1 / GROWTH) <= (epoch - first) / epoch < 1


@pytest.mark.fast
def test_independent_draws_average_over_own_visits():
    problem = draw(Logistic(), 4).problem
    solver = Pegasos(sampling="iid")
    state = run(problem, solver, 1)
    W, b = primal.last_weights(problem, state)
    visits = np.bincount(state.order, minlength=30)
    assert (visits == 0).any()
    A, scale, _ = solver.dual_point(problem, state)
    assert scale == 1.0
    Z = problem.rows.X @ W + b
    slopes = problem.costs.Y / (1.0 + np.exp(problem.costs.Y * Z))
    np.testing.assert_allclose(A[visits == 0], slopes[visits == 0], rtol=1e-9)
    seen = visits > 0
    sums = state.tail.sums.older[seen] / visits[seen, None]
    np.testing.assert_allclose(A[seen], sums, rtol=1e-12)
    assert (problem.costs.Y * A >= 0.0).all()
    assert (problem.costs.Y * A <= 1.0).all()


@pytest.mark.fast
def test_rows_met_equally_often_need_no_counts():
    assert new_tail(5, 2, False).sums.visits.shape == (0, 2)
    assert new_tail(5, 2, True).sums.visits.shape == (5, 2)
