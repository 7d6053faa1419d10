"""Quasi-Newton steps of large joint models: blocks, memory, and the optimum they lead to."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import Softmax
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import model as models
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.newton.quasi_newton import PAIRS, Memory, factor, own_curvatures
from pegasos.state import from_data, to_data
from tests.joint_problems import BIASES, draw_joint, targets
from tests.reference.joint import optimum


def with_identities(D, K):
    """Return a memory whose blocks are multiples of the identity, 1, 4, 9, ..."""
    memory = Memory()
    memory.factors = np.array([(k + 1.0) * np.eye(D) for k in range(K)])
    return memory


@pytest.mark.fast
def test_without_memory_the_blocks_decide():
    memory, G = with_identities(3, 2), np.arange(6.0).reshape(3, 2)
    memory.learn(np.zeros((3, 2)), G, 1.0)
    np.testing.assert_allclose(memory.direction(), -G / [1.0, 4.0])


@pytest.mark.fast
def test_memory_knows_a_quadratic_in_as_many_steps_as_it_has_unknowns():
    # With exact steps along conjugate directions, BFGS ends at the minimum after N of them.
    rng = np.random.default_rng(0)
    R = rng.standard_normal((6, 6))
    H, c = R @ R.T + np.eye(6), rng.standard_normal(6)
    memory, x = with_identities(3, 2), np.zeros(6)
    for _ in range(6):
        g = H @ x - c
        memory.learn(x.reshape(3, 2), g.reshape(3, 2), 1.0)
        p = memory.direction().ravel()
        x = x - (g @ p) / (p @ H @ p) * p
    np.testing.assert_allclose(x, np.linalg.solve(H, c), rtol=1e-8)


@pytest.mark.fast
def test_memory_forgets_with_the_smoothing_and_what_is_old():
    memory, ones = with_identities(2, 2), np.ones((2, 2))
    for k in range(PAIRS + 5):
        memory.learn(k * ones, 2.0 * k * ones, 1.0)
    assert len(memory.steps) == len(memory.changes) == PAIRS
    memory.learn(np.zeros((2, 2)), ones, 1.0)  # the gradient fell where the step rose: kept
    memory.learn(ones, -ones, 1.0)  # no curvature: not kept
    assert memory.steps[-1][0, 0] < 0.0
    memory.learn(ones, ones, 0.5)
    assert not memory.steps
    assert memory.count == 0


@pytest.mark.fast
def test_a_block_without_curvature_is_damped():
    L = factor(np.array([[1.0, 1.0], [1.0, 1.0]]), np.zeros(2), 0.0)
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, np.ones((2, 2)), atol=1e-6)


@pytest.mark.fast
def test_curvatures_of_a_class_are_never_negative():
    T = np.random.default_rng(0).random((500, 3)) ** 8
    T[::2, 1:] = 0.0
    T[1::4, 0] *= 1e-17
    for k in range(3):
        found = own_curvatures(T, k)
        assert (found >= 0.0).all()
        np.testing.assert_allclose(found, T[:, k] - T[:, k] ** 2 / T.sum(axis=1), atol=1e-11)
    assert not own_curvatures(T, 0)[::2].any()
    assert not own_curvatures(np.zeros((2, 3)), 0).any()


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", ["joint hinge", "softmax"])
def test_quasi_newton_steps_reach_the_optimum(name, bias, kind, monkeypatch):
    monkeypatch.setattr(models, "LARGE", 0)
    drawn = draw_joint(name, 5, bias, n=60, kind=kind, weighted=True)
    found = solve(drawn.problem, Newton(), Stopping(tol=1e-6, max_iter=1000)).certificate
    assert found.relative_gap <= 1e-6
    best, _, _ = optimum(*drawn.given(bias))
    assert found.dual * (1.0 - 1e-6) <= best <= found.primal * (1.0 + 1e-6)


def test_a_saved_run_goes_on_with_the_same_bits(monkeypatch):
    monkeypatch.setattr(models, "LARGE", 0)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.standard_normal((200, 4)) + y[:, None]
    problem, solver = make_problem(Softmax(), as_rows(X), targets(y, 3), None, 1e-3), Newton()
    one = solver.start(problem, 0, None)
    for _ in range(3):
        solver.advance(problem, one)
    other = from_data(to_data(one, {}), {})
    for state in (one, other):
        for _ in range(4):
            solver.advance(problem, state)
    np.testing.assert_array_equal(one.models[0].w, other.models[0].w)
