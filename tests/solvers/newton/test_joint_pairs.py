"""Newton's equations of a joint loss, solved by pairs of classes: those of the whole matrix."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import JointHinge, zero_one
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import joint_direction as directions
from pegasos.solvers.newton import joint_pairs
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.equations import add_penalty, lacking_of, terms_of
from pegasos.solvers.newton.joint_direction import joint_direction
from pegasos.solvers.newton.newton import Newton
from tests.joint_problems import BIASES, draw_joint, targets

N, D, K = 30, 6, 4


def equations(bias, kind="dense", share=0.4, seed=0):
    """Return a problem with few rows that answer, and H and -G of it by an oracle."""
    rng = np.random.default_rng(seed)
    drawn = draw_joint("joint hinge", seed, bias, n=N, d=D, K=K, kind=kind, weighted=True)
    problem = drawn.problem
    T = rng.random((N, K)) * (rng.random((N, K)) < share)
    T[rng.random(N) < 0.5] = 0.0
    columns, size = columns_of(problem, bias != "none"), D + (bias != "none")
    terms, G = terms_of(problem, 1.0), 0.1 * rng.standard_normal((D + 1, K))
    G -= G.mean(axis=1, keepdims=True)
    X = np.column_stack([(drawn.X - columns.m) / columns.scale, np.ones(N)])
    penalty = np.zeros((D + 1, D + 1))
    add_penalty(terms, columns, penalty)
    H = np.kron(np.eye(K), penalty)
    for x, t in zip(X, T, strict=True):
        if t.any():
            H += np.kron(np.diag(t) - np.outer(t, t) / t.sum(), np.outer(x, x)) / terms.S
    lacking = lacking_of(terms, columns, H.diagonal().reshape(K, D + 1).T, G)
    used = np.arange(K * (D + 1)) % (D + 1) < size
    H = (H + np.diag(lacking.T.ravel()))[np.ix_(used, used)]
    return (problem, columns, terms, T, G, size), H, -G[:size].T.ravel()


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_few_pairs_solve_the_equations_of_the_whole_matrix(bias, kind, damping, monkeypatch):
    monkeypatch.setattr(directions, "joint_hessian", None)  # it is not asked for
    given, H, g = equations(bias, kind)
    P = joint_direction(*given, damping)
    size = given[-1]
    expected = np.linalg.lstsq(H + damping * np.eye(len(H)), g, rcond=1e-13)[0].reshape(K, size)
    np.testing.assert_allclose(P, (expected - expected.mean(axis=0)).T, rtol=1e-6, atol=1e-9)


@pytest.mark.fast
@pytest.mark.parametrize("bias", BIASES)
def test_both_ways_lead_in_one_direction(bias, monkeypatch):
    given, _, _ = equations(bias, seed=1)
    monkeypatch.setattr(directions, "FEW", 0.0)
    whole = joint_direction(*given, 1e-3)
    monkeypatch.setattr(directions, "FEW", 10.0)
    np.testing.assert_allclose(joint_direction(*given, 1e-3), whole, rtol=1e-6, atol=1e-9)


@pytest.mark.fast
@pytest.mark.parametrize("t", [1e-300, np.nan, -0.5])
def test_curvatures_that_rounding_would_decide_are_left_to_the_whole_matrix(t):
    given, _, _ = equations("free")
    T = given[3].copy()
    chosen = np.flatnonzero(np.count_nonzero(T, axis=1) > 1)
    T[chosen[0]] = [t, 1.0, 0.0, 0.0]
    found = joint_pairs.direction_of_pairs(*given[:3], T, chosen, *given[4:], 0.0)
    assert found is None
    assert np.isfinite(joint_direction(*given[:3], T, *given[4:], 0.0)).all()


@pytest.mark.fast
def test_a_row_has_as_many_pairs_as_classes_that_answer_but_one():
    t = np.array([[0.0, 2.0, 1.0], [4.0, 1.0, 2.0]])
    X = np.arange(6.0).reshape(3, 2)
    pairs, M = joint_pairs.pairs_of(X, t, 8.0, has_penalty=True)
    np.testing.assert_array_equal(pairs.row, [0, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(pairs.first, [2, 1, 2, 0, 1, 2])
    np.testing.assert_array_equal(pairs.second, [1, 0, 0, -1, -1, -1])
    np.testing.assert_array_equal(M[:3, :3], [[12.0, 0.0, 0.0], [0.0, 10.0, 2.0], [0.0, 0.0, 6.0]])
    np.testing.assert_array_equal(M[3:, 3:], np.eye(3))


@pytest.mark.fast
def test_the_largest_curvature_is_one_that_is_not_0():
    assert joint_pairs.largest_that_answers(np.array([0.0, -2.0, -1.0])) == 2
    assert joint_pairs.largest_that_answers(np.array([0.0, 1.0, 3.0, 2.0])) == 2


@pytest.mark.parametrize("bias", BIASES)
def test_wide_rows_reach_the_optimum_by_pairs(bias, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.standard_normal((60, 40)) + y[:, None]
    problem = make_problem(JointHinge(zero_one(3)), as_rows(X), targets(y, 3), None, 1e-3, bias)
    found = [solve(problem, Newton(), Stopping(tol=1e-8, max_iter=200)).certificate]
    monkeypatch.setattr(directions, "FEW", 0.0)
    found.append(solve(problem, Newton(), Stopping(tol=1e-8, max_iter=200)).certificate)
    assert max(end.relative_gap for end in found) <= 1e-8
    assert found[0].primal == pytest.approx(found[1].primal, rel=1e-7)
