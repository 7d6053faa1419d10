"""Inexact steps of large joint models: products, blocks, and the optimum they lead to."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import Softmax
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import inexact
from pegasos.solvers.newton import model as models
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.equations import add_penalty, terms_of
from pegasos.solvers.newton.inexact import (
    MANY,
    Blocks,
    Hessian,
    conjugate_gradients,
    factor,
    factors_of,
    hessian_of,
    inexact_direction,
)
from pegasos.solvers.newton.newton import Newton
from pegasos.state import from_data, to_data
from tests.joint_problems import BIASES, draw_joint, targets
from tests.reference.joint import optimum


def drawn_hessian(name, bias, kind, seed=0):
    """Return H of a small problem at random dual numbers, and what an oracle says it is."""
    rng = np.random.default_rng(seed)
    drawn = draw_joint(name, seed, bias, n=40, d=3, K=4, kind=kind, weighted=True)
    problem, T = drawn.problem, rng.random((40, 4)) * (rng.random((40, 4)) < 0.6)
    columns = columns_of(problem, bias != "none")
    terms, size = terms_of(problem, 1.0), 3 + (bias != "none")
    H = hessian_of(problem, columns, terms, T, size)
    H.damping[:] = rng.random((size, 4))
    X = np.column_stack([(drawn.X - columns.m) / columns.scale, np.ones(40)])
    penalty = np.zeros((4, 4))
    add_penalty(terms, columns, penalty)
    whole = np.kron(np.eye(4), penalty)
    for x, t in zip(X, T, strict=True):
        if t.any():
            J = np.diag(t) - np.outer(t, t) / t.sum()
            whole += np.kron(J, np.outer(x, x)) / terms.S
    used = np.arange(16) % 4 < size
    return H, whole[np.ix_(used, used)] + np.diag(H.damping.T.ravel())


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_product_with_the_hessian_is_that_of_the_whole_matrix(bias, kind):
    H, whole = drawn_hessian("joint hinge", bias, kind)
    P = np.random.default_rng(1).standard_normal(H.damping.shape)
    expected = (whole @ P.T.ravel()).reshape(P.T.shape).T
    np.testing.assert_allclose(H.times(P), expected, rtol=1e-5, atol=1e-6)
    diagonal = whole.diagonal().reshape(P.T.shape).T - H.damping
    np.testing.assert_allclose(H.own_diagonal(), diagonal, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bias", BIASES)
def test_factors_are_those_of_the_blocks_of_one_class(bias, monkeypatch):
    monkeypatch.setattr(inexact, "PER_COLUMN", 40)
    H, whole = drawn_hessian("joint hinge", bias, "dense")
    size, K = H.damping.shape
    P = np.random.default_rng(1).standard_normal((size, K))
    found = Blocks(factors_of(H)).solve(P)
    for k in range(K):
        own = slice(k * size, (k + 1) * size)
        np.testing.assert_allclose(found[:, k], np.linalg.solve(whole[own, own], P[:, k]), 1e-4)


def test_some_rows_stand_for_all_in_product_and_blocks(monkeypatch):
    H, _ = drawn_hessian("joint hinge", "free", "dense")
    monkeypatch.setattr(inexact, "MOST_VALUES", 80)
    monkeypatch.setattr(inexact, "PER_COLUMN", 2)
    few, _ = drawn_hessian("joint hinge", "free", "dense")
    assert sum(map(len, few.F)) == 20
    ratio = np.trace(few.own_diagonal()) / np.trace(H.own_diagonal())
    assert 0.5 < ratio < 2.0
    assert np.isfinite(factors_of(few)).all()


def test_conjugate_gradients_solve_the_equations():
    H, whole = drawn_hessian("joint hinge", "regularized", "dense")
    G = np.random.default_rng(1).standard_normal(H.damping.shape)
    P, turns = conjugate_gradients(H, Blocks(factors_of(H)), G, 1e-5)
    expected = np.linalg.solve(whole, -G.T.ravel()).reshape(G.T.shape).T
    np.testing.assert_allclose(P, expected, rtol=1e-3, atol=1e-3)
    assert 0 < turns <= G.size


@pytest.mark.fast
def test_a_gradient_of_0_takes_no_turn():
    nothing = np.zeros((2, 3))
    H = Hessian((), (), (), np.ones(2), np.zeros(2), nothing.copy())
    P, turns = conjugate_gradients(H, Blocks(factors_of(H)), nothing, 0.1)
    assert turns == 0
    assert not P.any()


def test_no_row_answers_and_the_penalty_decides():
    drawn = draw_joint("joint hinge", 0, "free", n=20, d=2, K=3)
    columns, terms = columns_of(drawn.problem, True), terms_of(drawn.problem, 1.0)
    H = hessian_of(drawn.problem, columns, terms, np.zeros((20, 3)), 3)
    H.damping[:] = 0.5
    P, _ = conjugate_gradients(H, Blocks(factors_of(H)), np.ones((3, 3)), 0.1)
    expected = -1.0 / (np.append(terms.lam / columns.scale**2, 0.0) + 0.5)
    np.testing.assert_allclose(P, np.repeat(expected[:, None], 3, axis=1), rtol=1e-3)


@pytest.mark.fast
def test_blocks_are_made_anew_once_they_take_many_turns(monkeypatch):
    drawn = draw_joint("joint hinge", 0, "free", n=20, d=2, K=3)
    columns, terms = columns_of(drawn.problem, True), terms_of(drawn.problem, 1.0)
    T, G, made = np.ones((20, 3)), np.random.default_rng(0).standard_normal((3, 3)), []
    monkeypatch.setattr(inexact, "factors_of", lambda H: made.append(1) or factors_of(H))
    blocks = Blocks()
    for turns in (MANY, 1, MANY - 1, MANY):
        blocks.turns = turns
        inexact_direction(drawn.problem, columns, terms, T, G, blocks, 3, 0.0)
        assert 0 < blocks.turns < MANY
    assert len(made) == 2


@pytest.mark.fast
def test_a_block_without_curvature_is_damped():
    L = factor(np.array([[1.0, 1.0], [1.0, 1.0]]))
    np.testing.assert_allclose(L @ L.T, np.ones((2, 2)), atol=1e-6)


@pytest.mark.fast
def test_factors_are_finite_whatever_the_curvatures():
    for t in (-6.7e-16, np.nan):
        T = (np.array([[t, 0.5, 0.5]], np.float32),)
        F = (np.ones((1, 2), np.float32),)
        H = Hessian(F, T, T, np.ones(2), np.zeros(2), np.zeros((2, 3)))
        assert np.isfinite(factors_of(H)).all()
    assert np.isfinite(factor(np.array([[np.nan, 0.0], [0.0, 4.0]]))).all()
    assert np.isfinite(factor(np.zeros((2, 2)))).all()


@pytest.mark.fast
def test_a_direction_of_negative_curvature_ends_the_turns():
    H = Hessian((), (), (), np.full(2, -1.0), np.zeros(2), np.zeros((2, 3)))
    blocks = Blocks(np.repeat(np.eye(2, dtype=np.float32)[None], 3, axis=0))
    P, turns = conjugate_gradients(H, blocks, np.ones((2, 3)), 0.1)
    assert turns == 0
    assert not P.any()


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", ["joint hinge", "softmax"])
def test_inexact_steps_reach_the_optimum(name, bias, kind, monkeypatch):
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
