"""Certified predictions: the optimum's decision values lie within their bounds."""

import numpy as np
import pytest

from pegasos.certificate.gap import Offer
from pegasos.certificate.judge import Judge
from pegasos.certificate.predictions import ball
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.space import push_scores, typical_point
from pegasos.solve import solve
from pegasos.solvers.linear.sdca import SDCA
from tests.conftest import draw

LOSSES = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "epsilon_insensitive": EpsilonInsensitive(0.1),
}


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("name", LOSSES)
def test_bounds_hold_the_decision_values_of_the_optimum(name, bias, kind):
    for seed in range(3):
        drawn = draw(
            LOSSES[name], seed, n=60, bias=bias, kind=kind, lam=0.1, weighted=seed == 1,
            regression=name == "epsilon_insensitive",
        )  # fmt: skip
        best = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=20_000))
        assert best.certificate.relative_gap <= 1e-9
        new = np.random.default_rng(99).standard_normal((40, 6)) + 0.3
        for X in (drawn.X, new):
            exact = X @ best.W + best.b
            widths = []
            for epochs in (1, 3, 20, 200):
                short = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=epochs))
                low, high = short.ball.bounds(as_rows(X))
                assert np.all(low <= exact + 1e-5)
                assert np.all(exact <= high + 1e-5)
                is_certain = (low > 0.0) | (high < 0.0)
                assert np.all(np.sign(exact)[is_certain] == np.sign(low + high)[is_certain])
                widths.append(np.median(high - low))
            assert widths[-1] < 0.2 * widths[0]


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_bounds_hold_for_weights_far_from_those_of_the_dual_point(bias):
    drawn = draw(Hinge(), n=60, bias=bias, lam=0.1)
    best = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=20_000))
    exact = drawn.X @ best.W + best.b
    for seed in range(10):
        rng = np.random.default_rng(seed)
        judge = Judge(drawn.problem)
        A = rng.random(drawn.y.shape) * drawn.y
        iterate = best.W + rng.standard_normal((6, 1)), rng.standard_normal(1)
        judge.assess(Offer(A, iterate=iterate), False, 0.0)
        low, high = ball(drawn.problem, judge).bounds(drawn.problem.rows)
        assert np.all(low <= exact)
        assert np.all(exact <= high)


def test_free_bias_bounds_hold_every_optimal_bias():
    # One feature at 0: any bias in [-1, 1] is optimal, and bounds must not favour one.
    drawn = draw(Hinge(), n=4, d=1, bias="free")
    problem = drawn.problem._replace(rows=as_rows(np.zeros((4, 1))))
    problem.costs.Y[:, 0] = [1.0, 1.0, -1.0, -1.0]
    solution = solve(problem, SDCA(), Stopping(tol=1e-12, max_iter=50))
    low, high = solution.ball.bounds(as_rows(np.zeros((1, 1))))
    assert low[0, 0] <= -1.0 + 1e-6
    assert high[0, 0] >= 1.0 - 1e-6


def test_one_class_has_no_finite_bound_and_says_so():
    drawn = draw(Hinge(), bias="free")
    drawn.problem.costs.Y[:] = 1.0
    solution = solve(drawn.problem, SDCA(), Stopping(tol=1e-3, max_iter=5))
    low, high = solution.ball.bounds(drawn.problem.rows)
    assert np.all(high == np.inf)
    assert np.all(low > 0.0)  # but the label is certain


def test_bounds_of_many_models_are_those_of_each():
    drawn = draw(SquaredHinge(), K=3, bias="free", n=50)
    judge = Judge(drawn.problem)
    A = 0.3 * drawn.y
    judge.assess(Offer(A), False, 0.0)
    together = ball(drawn.problem, judge).bounds(drawn.problem.rows)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = drawn.problem._replace(costs=costs)
        one = Judge(alone)
        one.assess(Offer(A[:, k : k + 1].copy()), False, 0.0)
        for mine, theirs in zip(ball(alone, one).bounds(alone.rows), together, strict=True):
            np.testing.assert_allclose(mine[:, 0], theirs[:, k], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_typical_point_is_the_mean_where_rows_are_few(kind):
    drawn = draw(Hinge(), kind=kind)
    W = np.zeros((drawn.X.shape[1], 1))
    mean = drawn.X.mean(axis=0)
    np.testing.assert_allclose(typical_point(drawn.problem.rows, W), mean, atol=1e-13)
    many = draw(Hinge(), kind=kind, n=3000)
    step = 3000 // 256
    np.testing.assert_allclose(
        typical_point(many.problem.rows, W), many.X[::step].mean(axis=0), atol=1e-13
    )


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_distances_are_not_shortened_by_rounding(far):
    rng = np.random.default_rng(0)
    X = far + rng.standard_normal((50, 6))
    origin = X.mean(axis=0)
    exact = np.sqrt(((X - origin) ** 2).sum(axis=1))
    Z = np.zeros((50, 1))
    push_scores(as_rows(X), origin, float(origin @ origin), np.ones(1), Z)
    assert np.all(Z[:, 0] >= exact * (1.0 - 1e-14))
    np.testing.assert_allclose(Z[:, 0], exact, rtol=1e-12 if far == 0.0 else 1e-1)
    Z = np.zeros((50, 1))
    push_scores(as_rows(X), None, 4.0, np.ones(1), Z)
    np.testing.assert_allclose(Z[:, 0], np.sqrt((X**2).sum(axis=1) + 4.0), rtol=1e-12)
