"""Rows that stop a step and are heard before it is taken."""

import numpy as np
import pytest
from scipy.linalg import cho_factor

from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge, dual_step
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton import heard as parts
from pegasos.solvers.newton import model as steps
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.envelope import Smoothing
from pegasos.solvers.newton.heard import Stopped, nobody, settled, stopping_rows, with_more
from pegasos.solvers.newton.newton import Newton

pytestmark = pytest.mark.fast

N, D = 60, 4


def posed(rare=0):
    """Return rows, and a problem on them; the last columns have a value in 5 rows each."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D + rare))
    for j in range(rare):
        X[:, D + j] *= np.isin(np.arange(len(X)), rng.choice(len(X), 5, replace=False))
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(N) > 0.0, 1.0, -1.0)
    s = rng.random(N) + 0.5
    return X, make_problem(Hinge(), as_rows(X), y[:, None], s, 1e-4, "free", 1.0)


def dual_numbers(problem, smoothing, Z):
    (B, q), Y = smoothing, problem.costs.Y
    numbers = zip(Z.ravel(), B.ravel(), Y.ravel(), strict=True)
    return np.array([[dual_step(Hinge(), z, b, q, y)] for z, b, y in numbers])


def test_rows_heard_answer_as_they_do_where_the_step_ends():
    X, problem = posed()
    rng, columns = np.random.default_rng(0), columns_of(problem, True)
    smoothing = Smoothing(problem.costs.Y * rng.random((N, 1)), 0.3)
    Z = rng.standard_normal((N, 1))
    A = dual_numbers(problem, smoothing, Z)
    stopped = Stopped(smoothing, Z, A, np.zeros((N, 1)))
    M = rng.standard_normal((9, D + 1))
    M = 0.02 * M.T @ M
    p, factor = rng.standard_normal(D + 1), np.tril(cho_factor(M, lower=True)[0])
    rows = np.hstack([(X - columns.m) / columns.scale, np.ones((N, 1))])
    some = np.flatnonzero(dual_numbers(problem, smoothing, Z + rows @ p[:, None]) != A)[:7]
    heard = with_more(problem, columns, factor, nobody(D + 1), some[:4])
    settled(problem, stopped, heard, p)
    heard = with_more(problem, columns, factor, heard, some[4:])
    found = settled(problem, stopped, heard, p)

    ends = dual_numbers(problem, smoothing, Z + rows @ found[:, None])
    r = (ends - A)[heard.chosen, 0]
    np.testing.assert_allclose(heard.r, r, atol=1e-4)
    assert np.abs(r).max() > 0.1
    pull = rows[heard.chosen].T @ (problem.costs.weights.values[heard.chosen] * r)
    np.testing.assert_allclose(found, p + np.linalg.solve(M, pull / problem.S), atol=1e-4)


def test_stopping_rows_have_no_curvature_and_answer_on_the_way(monkeypatch):
    _, problem = posed()
    rng = np.random.default_rng(1)
    smoothing = Smoothing(np.zeros((N, 1)), 0.3)
    Z, way = 3.0 * rng.standard_normal((N, 1)), rng.standard_normal((N, 1))
    A, h = dual_numbers(problem, smoothing, Z), rng.integers(0, 2, N).astype(float)
    stopped = Stopped(smoothing, Z, A, way)

    def rises(u):
        change = A - dual_numbers(problem, smoothing, Z + u * way)
        return np.where(h > 0.0, 0.0, (problem.costs.weights.values[:, None] * change * way)[:, 0])

    found = stopping_rows(problem, stopped, h, 0.5)
    np.testing.assert_array_equal(found, np.flatnonzero(rises(1.0)))
    monkeypatch.setattr(parts, "MOST", 2)
    monkeypatch.setattr(parts, "MAJORITY", 0.0)
    found = stopping_rows(problem, stopped, h, 0.02)  # then 0.16, and a whole step
    expected = [np.argsort(-rises(u))[: min(2, np.sum(rises(u) > 0.0))] for u in (0.16, 1.0)]
    np.testing.assert_array_equal(found, np.unique(np.concatenate(expected)))
    monkeypatch.setattr(parts, "MAJORITY", 1.0)  # many would have to be heard
    assert len(stopping_rows(problem, stopped, h, 0.5)) == 0
    assert len(stopping_rows(problem, stopped, h, 1.0)) == 0


def test_rows_of_rare_columns_stop_fewer_steps_if_they_are_heard(monkeypatch):
    _, problem = posed(rare=12)
    problem, counts = problem._replace(lam=1e-6), []
    for rounds in (4, 0):
        monkeypatch.setattr(steps, "ROUNDS", rounds)
        solver = Newton()
        state, count = solver.start(problem, 0, None), 0
        while not state.gaps[0] <= 1e-4 and count < 200:
            solver.advance(problem, state)
            count += 1
        counts.append(count)
    assert counts[0] < 0.8 * counts[1], counts
