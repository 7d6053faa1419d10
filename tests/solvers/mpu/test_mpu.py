"""MPU: learning and unlearning by hand, the rule row by row, what its fixed points promise."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.mpu.mpu import MPU, NEAR, unit_step
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import mpu as reference


def passes_of(problem, solver, passes, seed=0):
    state, orders, sizes = solver.start(problem, seed, None), [], []
    for _ in range(passes):
        assert solver.advance(problem, state).ends_epoch
        orders.append(list(state.order))
        sizes.append(state.h[0])
    return state, orders, sizes


@pytest.mark.fast
def test_steps_by_hand():
    # h = 1/4, q = 2: a row must be more than 1/4 below its margin to be learnt; above, unlearnt.
    assert unit_step(0.3, 0.5, 0.25, 2.0) == 0.25
    assert unit_step(0.25, 0.5, 0.25, 2.0) == 0.0
    assert unit_step(0.3, 1.0, 0.25, 2.0) == 0.0  # no more than once
    assert unit_step(-0.3, 0.5, 0.25, 2.0) == -0.25
    assert unit_step(-0.3, 0.0, 0.25, 2.0) == 0.0  # it had not been learnt


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("halving", [False, True])
def test_passes_are_those_of_the_rule(kind, bias, weighted, halving):
    drawn = draw(Hinge(), 3, kind=kind, bias=bias, weighted=weighted)
    state, orders, sizes = passes_of(drawn.problem, MPU(halving=halving), 8)
    X = drawn.X
    if bias == "regularized":
        X = np.column_stack([X, np.full(len(X), drawn.bias_scale)])
    h, near = (1.0, NEAR) if halving else (0.125, None)
    beta, w, expected = reference.mpu(X, drawn.y[:, 0], drawn.weights, drawn.lam, h, orders, near)
    own = drawn.weights > 0.0
    np.testing.assert_array_equal((drawn.y[:, 0] * state.A[:, 0])[own], beta[own])
    mine = state.W[:, 0] if bias == "none" else np.append(state.W[:, 0], state.beta)
    np.testing.assert_allclose(mine, w, rtol=1e-9, atol=1e-11)
    assert sizes == expected


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("seed", range(5))
def test_fixed_points_are_optimal_to_the_size_of_a_step(bias, seed):
    drawn = draw(Hinge(), seed, n=40, weighted=True, bias=bias)
    solver = MPU(halving=False)
    state = solver.start(drawn.problem, 0, None)
    for _ in range(500):
        solver.advance(drawn.problem, state)
        if state.met[0, 0] == 0.0:
            break
    assert state.met[0, 0] == 0.0  # a pass without a step
    s, scale = drawn.weights, drawn.bias_scale if bias == "regularized" else 0.0
    X = np.column_stack([drawn.X, np.full(len(drawn.X), scale)])
    y, beta = drawn.y[:, 0], drawn.y[:, 0] * state.A[:, 0]
    w = X.T @ (s * y * beta) / (drawn.lam * s.sum())
    u, q = 1.0 - y * (X @ w), s * (X**2).sum(axis=1) / (drawn.lam * s.sum())
    primal = 0.5 * drawn.lam * w @ w + s @ np.maximum(0.0, u) / s.sum()
    dual = s @ beta / s.sum() - 0.5 * drawn.lam * w @ w
    assert primal - dual <= 0.125 / 2.0 * (s @ q) / s.sum()
    own = s > 0.0
    assert np.all((u <= 0.0625 * q + 1e-12) | (beta == 1.0) | ~own)
    assert np.all((u >= -0.0625 * q - 1e-12) | (beta == 0.0) | ~own)


@pytest.mark.fast
def test_the_dual_rises_with_every_pass():
    drawn = draw(Hinge(), 5, n=60, K=2)
    solver, before = MPU(), np.zeros(2)
    state = solver.start(drawn.problem, 0, None)
    for _ in range(30):
        solver.advance(drawn.problem, state)
        dual = np.mean(drawn.y * state.A, axis=0) - 0.5 * drawn.lam * (state.W**2).sum(axis=0)
        assert np.all(dual >= before - 1e-12)
        before = dual


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_it_goes_on_from_another_solver_and_to_a_small_gap(bias):
    drawn = draw(Hinge(), 6, n=60, bias=bias)
    good = solve(drawn.problem, SDCA(), Stopping(tol=1e-6, max_iter=2000))
    cold = solve(drawn.problem, MPU(), Stopping(tol=1e-3, max_iter=3000))
    warm = solve(drawn.problem, MPU(), Stopping(tol=1e-3, max_iter=3000), previous=good.state)
    assert cold.certificate.is_within_tol
    assert warm.certificate.is_within_tol
    assert warm.certificate.primal == pytest.approx(good.certificate.primal, rel=1e-3)


@pytest.mark.fast
def test_options_are_checked():
    with pytest.raises(InvalidParameter, match="halving must be True or False; got 2"):
        resolve(MPU(halving=2), Hinge(), "free")
    with pytest.raises(InvalidParameter, match='solver="mpu" has no loss='):
        resolve("mpu", Logistic(), "free")
