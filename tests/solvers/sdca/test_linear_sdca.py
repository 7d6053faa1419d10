"""SDCA: a step by hand, the transcription, the optimum to 1e-9 for every loss and bias."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    gain,
    lower,
    upper,
    value,
)
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import objective
from tests.reference import sdca as reference

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]


@pytest.mark.fast
def test_a_step_worked_by_hand():
    # lam = 1/2, one row x = 2, y = 1: w = a x / lam = 4 a, score 8 a, curvature q = x^2 / lam = 8.
    # The dual a - 1/2 q a^2 has its maximum at a = 1/8, where the score is 1: the kink.
    problem = make_problem(Hinge(), as_rows(np.array([[2.0]])), np.ones((1, 1)), None, 0.5)
    state = SDCA().start(problem, 0, None)
    SDCA().advance(problem, state)
    assert state.A[0, 0] == 0.125
    assert state.W[0, 0] == 0.5


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("sampling", ["epoch", "iid"])
def test_sdca_equals_the_transcription(loss, bias, sampling):
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 1, n=8, d=3, weighted=True, bias=bias, regression=is_regression, lam=0.2)
    solver = SDCA(shrinking=False, sampling=sampling)
    state = solver.start(drawn.problem, 0, None)
    visits = []
    for _ in range(2):
        solver.advance(drawn.problem, state)
        visits += list(state.order)

    def box(y):
        return max(lower(loss, y), -50.0), min(upper(loss, y), 50.0)

    a = reference.sdca(
        lambda c, y: gain(loss, float(c), float(y)), box, drawn.X, drawn.y[:, 0], drawn.weights,
        drawn.lam, visits, scale=drawn.problem.bias_scale,
    )  # fmt: skip
    seen = drawn.weights > 0.0
    np.testing.assert_allclose(state.A[seen, 0], a[seen], atol=2e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("solver", [SDCA(), SDCA(False), SDCA(False, "iid")], ids=str)
def test_sdca_reaches_the_optimum(loss, bias, solver):
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 2, n=60, weighted=True, bias=bias, regression=is_regression)
    solution = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=20_000))
    assert solution.certificate.relative_gap <= 1e-9


def test_csr_equals_dense_and_seeds_repeat():
    drawn = draw(Hinge(), 3, kind="csr", bias="free")
    dense = drawn.problem._replace(rows=as_rows(drawn.X))
    ends = [
        solve(problem, SDCA(), Stopping(tol=1e-12, max_iter=7)).W
        for problem in (drawn.problem, dense, dense)
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ends[1], ends[2])


def test_float32_is_near_float64():
    single = draw(SquaredHinge(), 4, dtype=np.float32).problem
    double = single._replace(rows=as_rows(np.asarray(single.rows.X, dtype=np.float64)))
    a, b = (solve(problem, SDCA(), Stopping(tol=1e-6)).W for problem in (single, double))
    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_models_side_by_side_reach_their_own_optima():
    drawn = draw(Hinge(), 5, K=3, bias="free")
    together = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = solve(
            drawn.problem._replace(costs=costs), SDCA(), Stopping(tol=1e-9, max_iter=20_000)
        )
        assert together.certificate.models["primal"][k] == pytest.approx(
            alone.certificate.primal, rel=1e-8
        )


def test_objective_agrees_with_scikit_learn():
    drawn = draw(Hinge(), 6, n=80)
    solution = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
    other = LinearSVC(
        C=1.0 / (drawn.lam * 80), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=100_000
    ).fit(drawn.X, drawn.y[:, 0])
    peer = objective.primal(
        lambda z, y: value(Hinge(), z, y), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
        other.coef_[0],
    )  # fmt: skip
    assert solution.certificate.primal == pytest.approx(peer, rel=1e-6)


def test_a_row_that_rests_for_hundreds_of_visits_stays_at_rest():
    # Both margins are 5, far beyond 1, with dual numbers 0: nothing moves.
    X, y = np.array([[1.0], [-1.0]]), np.array([[1.0], [-1.0]])
    problem = make_problem(Hinge(), as_rows(X), y, None, 0.5)
    state = SDCA().start(problem, 0, None)
    state.W[:] = 5.0
    for _ in range(300):
        state.extra_passes = 0  # a full pass
        SDCA().advance(problem, state)
    assert state.idle.tolist() == [255, 255]


@pytest.mark.fast
def test_independent_draws_are_plain():
    # No shrinking, no groups of models, no larger lam on the way; an earlier run is left alone.
    drawn = draw(Hinge(), 9, K=3, lam=1e-4)
    solver = SDCA(shrinking=False, sampling="iid")
    first = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=3))
    before = first.state.A.copy()
    solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=3), previous=first.state)
    np.testing.assert_array_equal(first.state.A, before)
    assert first.state.continuation.lam is None
    assert first.state.extra_passes == 0
    with pytest.raises(InvalidParameter, match=r'SDCA\(sampling="iid", shrinking=False\)'):
        SDCA(sampling="iid").start(drawn.problem, 0, None)
    with pytest.raises(InvalidParameter, match='sampling must be one of "epoch", "iid"; got'):
        SDCA(sampling="fixed").start(drawn.problem, 0, None)
