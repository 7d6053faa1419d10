"""Blocks of rows side by side: each helper by its oracle, a rising dual, the optimum, same bits."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier, parallel
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import ORIGIN, Centre, as_rows, read_only
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, gain
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.sdca import cocoa, linear
from pegasos.solvers.sdca.cocoa import (
    add_changes,
    changes,
    gain_of_step,
    round_length,
    shares,
    step_back,
    write_before,
)
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import objective

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]


@pytest.fixture(name="small")
def _small(monkeypatch):
    """Let blocks work on any sparse rows, four rounds in a pass."""
    for name, value in [("LARGE", 1), ("VALUES_PER_ROUND", 1), ("VALUES_PER_WEIGHT", 0)]:
        monkeypatch.setattr(cocoa, name, value)
    monkeypatch.setattr(cocoa, "ROUNDS", 4)


def dual(drawn, a, b=0.0):
    """D(a) - b sum_i s_i a_i / S, for rows with the constant feature of a regularised bias."""
    X = np.hstack([drawn.X, np.full((len(drawn.X), 1), drawn.problem.bias_scale)])
    y = drawn.y[:, 0]
    gains = [gain(drawn.problem.costs.loss, a[i], y[i]) for i in range(len(y))]
    w = objective.combination(X, drawn.weights, drawn.lam, a)
    rest = drawn.weights @ (np.array(gains) - b * a) / drawn.weights.sum()
    return rest - 0.5 * drawn.lam * w @ w


@pytest.mark.fast
@pytest.mark.parametrize("is_centred", [False, True])
def test_changes_are_those_of_the_weights_seen_from_the_centre(is_centred):
    rng = np.random.default_rng(0)
    m, d = rng.standard_normal(5), 5
    centre = Centre(read_only(m), read_only(np.zeros(1)), float(m @ m)) if is_centred else ORIGIN
    kept, seen = [], []
    for _ in range(3):
        v, t = rng.standard_normal(d), rng.standard_normal()
        kept.append(np.append(v, [t, m @ v]) if is_centred else v)
        seen.append(v - t * m if is_centred else v)
    w, p, q = seen[0], seen[1] - seen[0], seen[2] - seen[0]
    expected = p @ p + q @ q, (p + q) @ (p + q), w @ (p + q)
    np.testing.assert_allclose(changes(*kept, centre), expected, rtol=1e-12)
    total = kept[0] + 0.3 * ((kept[1] - kept[0]) + (kept[2] - kept[0]))
    add_changes(*kept, 0.3)
    np.testing.assert_allclose(kept[0], total, rtol=1e-14)


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_steps_are_taken_back_in_part_and_their_gain_is_known(loss):
    drawn = draw(loss, 1, n=9, weighted=True, regression=isinstance(loss, EpsilonInsensitive))
    costs, order = drawn.problem.costs, np.array([7, 2, 3, 5], dtype=np.uint32)
    feasible = np.sign(drawn.y) * np.random.default_rng(0).uniform(0.1, 0.9, (9, 1))
    A, before = feasible.copy(), np.empty(6)
    write_before(A, order, before)
    np.testing.assert_array_equal(before[:4], A[order, 0])
    A[order] *= 0.5
    found = gain_of_step(costs, order, before, A, 0.4)
    S = drawn.weights.sum()
    penalty = drawn._replace(lam=1e-300)  # leaves the gains
    penalty = penalty._replace(X=np.zeros_like(drawn.X))
    expected = S * (dual(penalty, A[:, 0], 0.4) - dual(penalty, feasible[:, 0], 0.4))
    assert found == pytest.approx(expected, rel=1e-10)
    step_back(A, order, before, 0.25)
    others = np.setdiff1d(np.arange(9), order)
    np.testing.assert_array_equal(A[others], feasible[others])
    np.testing.assert_allclose(A[order], 0.875 * feasible[order], rtol=1e-14)


@pytest.mark.fast
def test_rounds_are_cut_into_blocks_that_cover_them():
    rows = as_rows(sparse.random_array((1000, 50), density=0.1, format="csr", random_state=0))
    assert round_length(rows, 1000, 50) == 0  # too few values for threads
    parts = shares(np.arange(7))
    assert len(parts) == cocoa.BLOCKS
    assert np.concatenate(parts).tolist() == list(range(7))


@pytest.mark.fast
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_dual_rises_with_every_round_even_where_blocks_are_alike(loss):
    # The same rows twice: both blocks make the same step, and rho is 2.
    regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 2, n=24, weighted=True, bias="regularized", regression=regression, lam=0.01)
    X, Y, s = (np.repeat(part, 2, axis=0) for part in (drawn.X, drawn.y, drawn.weights))
    problem = make_problem(loss, as_rows(sparse.csr_array(X)), Y, s, 0.01, "regularized", 1.5)
    drawn = drawn._replace(X=X, y=Y, weights=s, lam=0.01, problem=problem)
    solver, values = SDCA(), [-np.inf]
    state = solver.start(problem, 0, None)
    for _ in range(3):
        for _ in range(4):
            solver.advance(problem, state)
            values.append(dual(drawn, state.A[:, 0]))
            w = objective.combination(X, s, 0.01, state.A[:, 0])
            np.testing.assert_allclose(state.W[:, 0], w, atol=1e-10)  # w follows a
        assert state.position == 0  # four rounds are a pass
    assert np.all(np.diff(values) >= -1e-12)


@pytest.mark.fast
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_weights_of_a_first_pass_are_those_of_the_rows_met(loss, bias, monkeypatch):
    regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 2, n=40, weighted=True, bias=bias, regression=regression, kind="csr")
    lam, S, squares = drawn.problem.lam, drawn.problem.S, (drawn.X**2).sum(axis=1)
    least = float(drawn.weights @ squares) / S / (lam * S)  # the share of FIRST_ROWS = 1
    monkeypatch.setattr(linear, "FIRST_ROWS", 0.4 / least)
    solver = SDCA()
    state = solver.start(drawn.problem, 0, None)
    for share in (0.4, 0.5, 0.75, 1.0, 1.0):
        solver.advance(drawn.problem, state)
        assert state.share == pytest.approx(share, rel=1e-9)
        a = state.A[:, 0]
        w = objective.combination(drawn.X, drawn.weights, lam, a) / share
        np.testing.assert_allclose(state.W[:, 0], w, atol=1e-10)
        beta = state.bias.scale * (drawn.weights @ a) / (lam * S * share)
        if bias == "regularized":
            np.testing.assert_allclose(state.bias.beta, beta, atol=1e-10)
    assert solver.start(drawn.problem, 0, state).share == 1.0  # warm: all rows are met


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_blocks_reach_the_optimum(loss, bias):
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 2, n=60, weighted=True, bias=bias, regression=is_regression, kind="csr")
    solution = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
    assert solution.certificate.relative_gap <= 1e-9
    assert solution.state.blocks is not None
    again = solve(drawn.problem, SDCA(), Stopping(tol=1e-8, max_iter=9), previous=solution.state)
    assert again.certificate.relative_gap <= 1e-8  # a warm start remains there


@pytest.mark.usefixtures("small")
def test_rows_far_from_the_origin_are_seen_from_their_mean():
    drawn = draw(Hinge(), 3, n=80)
    X = sparse.csr_array(drawn.X + 5.0)
    problem = make_problem(Hinge(), as_rows(X), drawn.y, None, 0.05, "free")
    solution = solve(problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
    assert len(solution.state.centre.q) > 0
    assert solution.certificate.relative_gap <= 1e-9


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_models_are_the_same_bits_on_any_number_of_threads(monkeypatch, dtype):
    drawn, found = draw(Hinge(), 5, n=200, kind="csr", bias="free", dtype=dtype), []
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "cores", lambda threads=threads: threads)
        monkeypatch.setattr(parallel, "_pools", {})
        end = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=9))
        found.append(np.append(end.W, [end.b[0], end.certificate.gap, end.certificate.dual]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.usefixtures("small")
def test_n_jobs_limits_the_threads_and_changes_no_bit(monkeypatch):
    drawn, found, counts = draw(Hinge(), 6, n=200, kind="csr", bias="free"), [], []
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "_pools", {})
    X, y = sparse.csr_array(drawn.X), drawn.y[:, 0]
    for n_jobs in (1, 2, -1, None):
        options = {"solver": "sdca", "random_state": 0, "max_iter": 3, "tol": 0.5}
        model = PegasosClassifier(n_jobs=n_jobs, **options).fit(X, y)
        found.append(np.append(model.coef_, model.decision_function(X)).tobytes())
        counts.append(len(parallel._pools))
    assert len(set(found)) == 1
    assert counts == [0, 1, 1, 1]  # one thread needs no pool
