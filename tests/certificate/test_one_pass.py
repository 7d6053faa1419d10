"""One pass for w(a) and scores of maintained weights: the oracles' numbers, no false claim."""

import numpy as np
import pytest

from pegasos import parallel
from pegasos.certificate.gap import evaluate
from pegasos.certificate.offer import Offer, dual_weights, means_for
from pegasos.certificate.one_pass import weights_and_scores
from pegasos.certificate.stopping import Stopping
from pegasos.problem import objective
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, gain
from pegasos.problem.scores import linear_scores
from pegasos.solve import solve
from pegasos.solvers.sdca import cocoa, linear
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import losses
from tests.reference import objective as reference

LOSSES = {
    "hinge": (Hinge(), losses.hinge),
    "squared_hinge": (SquaredHinge(), losses.squared_hinge),
    "logistic": (Logistic(), losses.logistic),
    "epsilon_insensitive": (EpsilonInsensitive(0.1), losses.epsilon_insensitive),
}


def drawn_case(name, bias, **how):
    return draw(LOSSES[name][0], bias=bias, regression=name == "epsilon_insensitive", **how)


def duals(drawn, seed=0):
    """Raw dual numbers, some 0 and some to be clipped."""
    A = np.random.default_rng(seed).uniform(-0.4, 1.2, drawn.y.shape)
    return np.sign(drawn.y) * np.where(A < 0.1, 0.0, A)


@pytest.mark.fast
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("name", LOSSES)
def test_one_pass_finds_what_two_do(name, bias, kind, K):
    drawn = drawn_case(name, bias, kind=kind, K=K, weighted=K == 3, dtype=np.float32)
    problem, A = drawn.problem, duals(drawn)
    W, means = np.random.default_rng(1).standard_normal((6, K)), means_for(drawn.problem)
    offer = Offer(A, 0.9)
    expected = dual_weights(problem, offer, means)
    Z, radius, *_ = linear_scores(problem.rows, W, np.empty_like(A), means.extent)
    dual, scored = weights_and_scores(problem, offer, W, means)
    np.testing.assert_allclose(dual.W, expected.W, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dual.beta, expected.beta, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dual.error, expected.error, rtol=1e-12)
    assert dual.longest == expected.longest
    np.testing.assert_array_equal(dual.balance.up, expected.balance.up)
    np.testing.assert_array_equal(scored.Z, Z)
    np.testing.assert_array_equal(scored.radius, radius)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("name", LOSSES)
def test_wrong_weights_cause_no_wrong_certificate(name, bias, dtype):
    loss, value = LOSSES[name]
    drawn = drawn_case(name, bias, kind="csr", weighted=True, dtype=dtype)
    A, wrong = duals(drawn), np.random.default_rng(2).standard_normal((6, 1))
    found = evaluate(drawn.problem, Offer(A, weights=wrong), means_for(drawn.problem))
    kept, (y, s) = found.W.copy(), (drawn.y[:, 0], drawn.weights)
    wrong[:] = np.nan  # the solver goes on
    np.testing.assert_array_equal(found.W, kept)
    scale = drawn.problem.bias_scale
    expected = reference.primal(
        value, drawn.X, y, s, drawn.lam, found.W[:, 0], float(found.b[0]), scale
    )
    assert found.primal[0] == pytest.approx(expected, rel=1e-12)
    a = np.clip(A[:, 0], *bounds(loss, y))
    expected = reference.dual(lambda c, t: gain(loss, c, t), drawn.X, y, s, drawn.lam, a, scale)
    assert found.dual[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert found.dual[0] <= expected + 1e-14 * abs(found.primal[0])


def bounds(loss, y):
    """Return the least and the largest feasible dual numbers."""
    if isinstance(loss, EpsilonInsensitive):
        return -1.0, 1.0
    most = np.inf if isinstance(loss, SquaredHinge) else 1.0
    return np.where(y > 0.0, 0.0, -most), np.where(y > 0.0, most, 0.0)


@pytest.mark.fast
@pytest.mark.parametrize("K", [1, 3])
def test_one_pass_has_the_same_bits_on_any_number_of_threads(monkeypatch, K):
    drawn = drawn_case("hinge", "regularized", n=2000, d=2, K=K, weighted=True, kind="csr")
    offer, W = Offer(duals(drawn)), np.random.default_rng(3).standard_normal((2, K))
    found = []
    monkeypatch.setattr(objective, "VALUES_PER_PART", 10)
    assert objective.sum_places(drawn.problem.rows, 2, K) > 2
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "cores", lambda threads=threads: threads)
        monkeypatch.setattr(parallel, "_pools", {})
        dual, scored = weights_and_scores(drawn.problem, offer, W, means_for(drawn.problem))
        found.append(b"".join(part.tobytes() for part in (dual.W, dual.beta, dual.error, scored.Z)))
    assert found[0] == found[1] == found[2]


@pytest.fixture(name="small")
def _small(monkeypatch):
    """Let blocks work on any sparse rows, four rounds in a pass."""
    for name, value in [("LARGE", 1), ("VALUES_PER_ROUND", 1), ("VALUES_PER_WEIGHT", 0)]:
        monkeypatch.setattr(cocoa, name, value)
    monkeypatch.setattr(cocoa, "ROUNDS", 4)


@pytest.mark.fast
@pytest.mark.usefixtures("small")
def test_weights_are_offered_where_they_are_of_the_problem_itself(monkeypatch):
    monkeypatch.setattr(linear, "FIRST_ROWS", 2.0)
    drawn = drawn_case("hinge", "regularized", n=200, kind="csr", lam=0.1)
    solver = SDCA()
    state = solver.start(drawn.problem, 0, None)
    assert state.share < 1.0
    assert solver.maintained_weights(drawn.problem, state) is None  # a first pass
    while state.share < 1.0:
        solver.advance(drawn.problem, state)
    assert solver.maintained_weights(drawn.problem, state) is state.W
    state.continuation.lam = 1.0
    assert solver.maintained_weights(drawn.problem, state) is None
    free = drawn.problem._replace(is_free=True)
    assert solver.maintained_weights(free, solver.start(free, 0, None)) is None
    monkeypatch.setattr(cocoa, "LARGE", 10**9)
    few = solver.start(drawn.problem, 0, None)
    assert solver.maintained_weights(drawn.problem, few) is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LOSSES)
def test_fits_of_maintained_weights_are_proven_as_others_are(name, dtype, monkeypatch):
    drawn = drawn_case(name, "regularized", n=80, kind="csr", dtype=dtype)
    stopping = Stopping(tol=1e-6 if dtype == np.float32 else 1e-10, max_iter=20_000)
    ours = solve(drawn.problem, SDCA(), stopping)
    monkeypatch.setattr(SDCA, "maintained_weights", lambda *_: None)
    other = solve(drawn.problem, SDCA(), stopping)
    for end in (ours, other):
        assert end.certificate.relative_gap <= stopping.tol
    primal, dual = ours.certificate.primal, ours.certificate.dual
    assert other.certificate.dual <= primal * (1.0 + 1e-15)
    assert dual <= other.certificate.primal * (1.0 + 1e-15)
    np.testing.assert_allclose(ours.W, other.W, atol=1e-3)
