"""The programme over cuts: by hand, against an independent solver, with parallel cuts."""

import cvxpy as cp
import numpy as np
import pytest

from pegasos.solvers.cutting_plane.small_qp import maximize, value

pytestmark = pytest.mark.fast


def start(m):
    alpha = np.zeros(m)
    alpha[0] = 1.0
    return alpha


def test_two_cuts_by_hand():
    # The plane 0 and e = 1, H = 4: alpha - 2 alpha^2 is largest at alpha = 1/4, where it is 1/8.
    alpha = start(2)
    found = maximize(np.diag([0.0, 4.0]), np.array([0.0, 1.0]), alpha, 0.0)
    np.testing.assert_allclose(alpha, [0.75, 0.25], rtol=1e-9)
    assert found == pytest.approx(0.125)


def test_rows_without_features_leave_the_largest_offset():
    alpha = start(4)
    assert maximize(np.zeros((4, 4)), np.array([0.0, 1.0, 0.3, 0.5]), alpha, 0.0) == 1.0
    np.testing.assert_array_equal(alpha, [0.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(12))
def test_the_maximum_is_that_of_an_independent_solver(seed):
    # More cuts than dimensions, some of them twice: H is singular.
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 40)), int(rng.integers(1, 12))
    G = np.vstack([np.zeros(d), rng.standard_normal((m, d)) * 10.0 ** rng.uniform(-3, 1)])
    e = np.append(0.0, rng.uniform(0.0, 1.0, m))
    G, e = np.vstack([G, G[-2:]]), np.append(e, e[-2:])
    alpha = start(len(e))
    found = maximize(G @ G.T, e, alpha, 0.0)
    x = cp.Variable(len(e), nonneg=True)
    gain = cp.Maximize(e @ x - 0.5 * cp.sum_squares(G.T @ x))
    best = cp.Problem(gain, [cp.sum(x) == 1.0]).solve(solver=cp.CLARABEL)
    assert found == pytest.approx(best, rel=1e-7, abs=1e-9)
    assert alpha.min() >= 0.0
    assert alpha.sum() == pytest.approx(1.0, abs=1e-12)
    slope = e - G @ (G.T @ alpha)
    assert slope.max() - alpha @ slope <= 1e-9  # no other point is better by more


def test_a_good_start_is_not_left():
    H, e = np.diag([0.0, 4.0]), np.array([0.0, 1.0])
    alpha = np.array([0.75, 0.25])
    assert maximize(H, e, alpha, 1e-12) == value(H, e, np.array([0.75, 0.25]))
