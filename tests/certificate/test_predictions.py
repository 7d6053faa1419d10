"""Certified predictions: the optimum's decision values lie within their bounds."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.optimal_bias import from_dual, from_scores
from pegasos.certificate.predictions import ball
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.problem.geometry import geometry
from pegasos.problem.kernels import Linear
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.certificate.assess import assess
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
        assess(judge, Offer(A, iterate=iterate))
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


@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_bounds_of_many_models_are_those_of_each(bias):
    drawn = draw(SquaredHinge(), K=3, bias=bias, n=50)
    judge = Judge(drawn.problem)
    A = 0.3 * drawn.y
    assess(judge, Offer(A))
    together = ball(drawn.problem, judge).bounds(drawn.problem.rows)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = drawn.problem._replace(costs=costs)
        one = Judge(alone)
        assess(one, Offer(A[:, k : k + 1].copy()))
        low, high = ball(alone, one).bounds(alone.rows)
        width = together[1][:, k] - together[0][:, k]
        # With a free bias models share the point m, which suits none of them as well as its own.
        off = 0.1 if bias == "free" else 1e-9
        np.testing.assert_allclose(high[:, 0] - low[:, 0], width, rtol=off)
        np.testing.assert_allclose(
            high[:, 0] + low[:, 0], together[0][:, k] + together[1][:, k], atol=off * width.max()
        )


@pytest.mark.parametrize("name", LOSSES)
def test_intervals_of_the_bias_hold_it_and_those_of_the_dual_are_narrower(name):
    for seed in range(3):
        drawn = draw(
            LOSSES[name], seed, n=60, bias="free", lam=0.1, weighted=seed == 1,
            regression=name == "epsilon_insensitive",
        )  # fmt: skip
        problem = drawn.problem
        best = solve(problem, SDCA(), Stopping(tol=1e-12, max_iter=20_000))
        state = SDCA().start(problem, 0, None)
        widths = []
        for _ in range(40):
            SDCA().advance(problem, state)
            judge = Judge(problem)
            assess(judge, Offer(*SDCA().dual_point(problem, state)))
            radius = np.sqrt(judge.gap / problem.lam)
            norm = np.sqrt((judge.W**2).sum(axis=0))
            found = from_dual(problem, judge, judge.point, radius, norm)
            low, high = from_scores(problem, judge, radius, found.origin, found.square)
            exact = best.b + found.origin @ (best.W - judge.W)
            for lower, upper in ((found.low, found.high), (low, high)):
                assert lower[0] - 1e-5 <= exact[0] <= upper[0] + 1e-5
            if 1e-8 < judge.relative_gap()[0] < 1e-2:
                widths.append((found.high[0] - found.low[0]) / (high[0] - low[0]))
        # A loss that bends has the square root of the gap, too, with its own curvature for lam.
        assert np.median(widths) < (0.2 if name in ("hinge", "epsilon_insensitive") else 0.7)


def test_interval_of_the_bias_allows_for_scores_that_were_only_audited():
    """Scores that an audit trusts no further than r move either end by r."""
    problem = draw(Hinge(), 0, n=60, bias="free", lam=0.1).problem
    state = SDCA().start(problem, 0, None)
    for _ in range(10):
        SDCA().advance(problem, state)
    widths = []
    for r in (0.0, 0.25):
        judge = Judge(problem)
        assess(judge, Offer(*SDCA().dual_point(problem, state)))
        radius = np.full_like(judge.latest.scored.radius, r)
        judge.latest = replace(judge.latest, scored=judge.latest.scored._replace(radius=radius))
        assert judge.has_scores
        low, high = from_scores(problem, judge, np.zeros(1), np.zeros(judge.W.shape[0]), 0.0)
        widths.append(float(high[0] - low[0]))
    assert widths[0] < 0.1
    assert widths[1] >= 2 * 0.25


def exactly(X):
    return [[Fraction(float(x)) for x in row] for row in X]


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_hold_for_exact_numbers_whatever_rounding_does(dtype, kind, bias):
    # Two rows at the margin: w* = 2 v / <v, v> with v their difference, or v / <v, v> with v the
    # only row that counts. New rows are like them: far away, with columns of all sizes; the mean
    # of the two is where bounds are narrowest.
    rng = np.random.default_rng(0)
    scales = np.array([1e-6, 1e6, 1.0, 1.0, 1e3, 1e-3])
    container = sparse.csr_array if kind == "csr" else np.asarray
    for far in (0.0, 1e6):
        X = far + scales * rng.standard_normal((40, 6))
        X[2] = X[:2].mean(axis=0)
        X = X.astype(dtype)
        rows, new = exactly(X[:2]), exactly(X)
        v = rows[0] if bias == "none" else [p - q for p, q in zip(*rows, strict=True)]
        square = sum(p * p for p in v)
        factor = (1 if bias == "none" else 2) / square
        optimum = [factor * p for p in v]
        f = [sum(p * q for p, q in zip(optimum, row, strict=True)) for row in new]
        if bias == "free":
            f = [1 + value - f[0] for value in f]
        n = 1 if bias == "none" else 2
        lam = 0.3 / float(factor * n)
        y = np.array([[1.0], [-1.0]])[:n]
        problem = make_problem(Hinge(), as_rows(container(X[:n])), y, None, lam, bias)
        judge = Judge(problem)
        assess(judge, Offer(0.3 * y))
        assert judge.relative_gap()[0] < 1e-5
        low, high = ball(problem, judge).bounds(as_rows(container(X)))
        assert all(Fraction(low[i, 0]) <= f[i] <= Fraction(high[i, 0]) for i in range(40))
        assert np.all(high - low < 0.05)


@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("K", [1, 2])
def test_rounding_of_scores_is_all_that_is_left_at_the_optimum(K, bias):
    rng = np.random.default_rng(0)
    X = 1e6 + np.logspace(-6, 6, 30) * rng.standard_normal((200, 30))
    Y = np.where(rng.standard_normal((200, K)) > 0.0, 1.0, -1.0)
    problem = make_problem(Hinge(), as_rows(X), Y, None, 0.1, bias)
    judge = Judge(problem)
    iterate = rng.standard_normal((30, K)), rng.standard_normal(K)
    assess(judge, Offer(0.0 * Y, iterate=iterate))
    judge.gap, judge.distance = np.zeros(K), np.zeros(K)  # as if these weights were the best
    low, high = ball(problem, judge).bounds(problem.rows)
    rows, columns = exactly(X), exactly(judge.W.T)
    for i in range(200):
        for k in range(K):
            score = sum(p * q for p, q in zip(rows[i], columns[k], strict=True))
            exact = score + Fraction(judge.b[k])
            assert Fraction(low[i, k]) <= exact <= Fraction(high[i, k])
    assert np.all(high - low < 1e-5 * np.abs(X).max())


def test_rounding_of_the_scores_of_a_kernel_is_within_bounds():
    rng = np.random.default_rng(0)
    X, n = 1e3 + rng.standard_normal((400, 3)), 400
    Y = np.where(rng.standard_normal((n, 1)) > 0.0, 1.0, -1.0)
    problem = make_problem(Hinge(), Gram(Linear(), as_rows(X), 1 << 24), Y, None, 0.1, "none")
    judge = Judge(problem)
    iterate = rng.standard_normal((n, 1)), np.zeros(1)
    assess(judge, Offer(0.0 * Y, iterate=iterate))
    judge.gap, judge.distance = np.zeros(1), np.zeros(1)  # as if these were the best
    known = ball(problem, judge)
    wide = X.astype(np.longdouble)
    exact = wide @ (wide.T @ judge.W.astype(np.longdouble))
    for rows in (problem.rows, Cross(Linear(), as_rows(X), as_rows(X))):
        low, high = known.bounds(rows)
        assert np.all((low <= exact) & (exact <= high))
        assert np.all(high - low < 1e-6 * (X**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_typical_point_is_the_mean_where_rows_are_few(kind):
    drawn = draw(Hinge(), kind=kind)
    W = np.zeros((drawn.X.shape[1], 1))
    mean = drawn.X.mean(axis=0)
    np.testing.assert_allclose(geometry(drawn.problem.rows).typical_point(W), mean, atol=1e-13)
    many = draw(Hinge(), kind=kind, n=3000)
    step = 3000 // 256
    np.testing.assert_allclose(
        geometry(many.problem.rows).typical_point(W), many.X[::step].mean(axis=0), atol=1e-13
    )


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_distances_are_not_shortened_by_rounding(far):
    rng = np.random.default_rng(0)
    X = far + rng.standard_normal((50, 6))
    origin = X.mean(axis=0)
    exact = np.sqrt(((X - origin) ** 2).sum(axis=1))
    Z = np.zeros((50, 1))
    geometry(as_rows(X)).push_scores(origin, float(origin @ origin), np.ones(1), Z)
    assert np.all(Z[:, 0] >= exact * (1.0 - 1e-14))
    np.testing.assert_allclose(Z[:, 0], exact, rtol=1e-12 if far == 0.0 else 1e-1)
    Z = np.zeros((50, 1))
    geometry(as_rows(X)).push_scores(None, 4.0, np.ones(1), Z)
    np.testing.assert_allclose(Z[:, 0], np.sqrt((X**2).sum(axis=1) + 4.0), rtol=1e-12)


@pytest.mark.fast
def test_bounds_hold_an_optimum_that_is_as_far_away_as_the_gap_allows():
    # One row x = 1, y = 1 and lam a little above 1: w* = 1/lam. At w = w(a) = a/lam, a < 1, the gap
    # is (1 - a)(1 - a/lam), and ||w - w*||^2 = (1 - a)^2 / lam^2 nearly gap / lam.
    lam = 1.0 + 1e-6
    problem = make_problem(Hinge(), as_rows(np.ones((1, 1))), np.ones((1, 1)), None, lam)
    for a in (0.0, 0.2, 0.9):
        judge = Judge(problem)
        assess(judge, Offer(np.array([[a]])))
        low, high = ball(problem, judge).bounds(problem.rows)
        assert low[0, 0] <= 1.0 / lam <= high[0, 0]
        assert high[0, 0] - 1.0 / lam <= 1e-5  # and no farther
