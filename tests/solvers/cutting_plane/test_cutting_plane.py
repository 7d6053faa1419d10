"""SVM-Perf and OCAS: a cut by hand, their rules written out, what cuts promise."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.cutting_plane import cuts, lam_path
from pegasos.solvers.cutting_plane.ocas import OCAS
from pegasos.solvers.cutting_plane.svm_perf import SVMPerf
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import cutting_plane as reference

BIASES = ["none", "regularized", "free"]
SOLVERS = [SVMPerf(), OCAS()]


def run(problem, solver, number):
    state = solver.start(problem, 0, None)
    states = []
    for _ in range(number):
        solver.advance(problem, state)
        states.append((state.W[:, 0].copy(), state.best[:, 0].copy(), state.dual[0]))
    return state, states


def with_column(drawn):
    """Return the rows with the constant feature of a penalised bias."""
    if drawn.bias != "regularized":
        return drawn.X
    return np.column_stack([drawn.X, np.full(len(drawn.X), drawn.bias_scale)])


@pytest.mark.fast
def test_a_cut_by_hand():
    # lam = 1/2, x = 2 and -1, y = 1 and 1. At w = 0 both are below: g = -(2 - 1)/2 = -1/2, e = 1.
    # alpha - 1/(2 lam) alpha^2/4 = alpha - alpha^2/4 grows up to alpha = 1: w = 1, D = 3/4.
    # At w = 1 the row 2 is satisfied, -1 is not: g = 1/2, e = 1/2, R = 1/2 (1 + 1) = 1, P = 5/4.
    rows = as_rows(np.array([[2.0], [-1.0]]))
    problem = make_problem(Hinge(), rows, np.ones((2, 1)), None, 0.5)
    solver = SVMPerf(path=False)
    state = solver.start(problem, 0, None)
    solver.advance(problem, state)
    assert state.W[0, 0] == pytest.approx(1.0)
    assert state.dual[0] == pytest.approx(0.75)
    assert state.primal[0] == 1.0  # of w = 0
    solver.advance(problem, state)
    assert state.bundles[0].G[2, 0] == 0.5
    assert state.bundles[0].e[2] == 0.5
    assert state.primal[0] == 1.0  # P(1) = 5/4 is no better


@pytest.mark.fast
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("path", [False, True])
def test_svm_perf_is_the_rule_written_out(bias, weighted, path):
    drawn = draw(Hinge(), 2, weighted=weighted, bias=bias)
    X, s, is_free, lam = with_column(drawn), drawn.weights, bias == "free", drawn.lam / 10.0
    lam_1 = reference.first_lam(X, s, is_free) if path else 0.0
    solutions, values = reference.svm_perf(X, drawn.y[:, 0], s, lam, 7, is_free, lam_1)
    _, states = run(drawn.problem._replace(lam=lam), SVMPerf(path), 7)
    for (w, _, dual), expected, value in zip(states, solutions[1:], values, strict=True):
        np.testing.assert_allclose(w, expected[: len(w)], rtol=1e-5, atol=1e-5)
        assert dual == pytest.approx(value, rel=1e-7)


@pytest.mark.fast
def test_the_path_ends_and_leaves_nothing_behind():
    drawn = draw(Hinge(), 3, n=80)
    state, _ = run(drawn.problem._replace(lam=1e-3 * drawn.lam), SVMPerf(), 60)
    lams, bundle = state.paths[0], state.bundles[0]
    assert lams.lam == 1e-3 * drawn.lam < lams.first
    assert not bundle.near.any()
    np.testing.assert_allclose(state.W[:, 0], bundle.weights(lams.lam)[:-1])


@pytest.mark.fast
def test_the_path_is_no_longer_than_allowed_whatever_the_units(monkeypatch):
    monkeypatch.setattr(lam_path, "LONGEST", 12)
    path = lam_path.Path(1e-6, first=1e6)
    for _ in range(11):
        path.go_on(1e-6)
        assert path.lam > 1e-6
    path.go_on(1e-6)
    assert path.lam == pytest.approx(1e-6)


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ocas_is_the_rule_written_out(bias, weighted):
    drawn = draw(Hinge(), 4, weighted=weighted, bias=bias)
    found, values = reference.ocas(
        with_column(drawn), drawn.y[:, 0], drawn.weights, drawn.lam, 6, 0.1
    )
    _, states = run(drawn.problem, OCAS(), 6)
    for (_, best, dual), expected, value in zip(states, found, values, strict=True):
        np.testing.assert_allclose(best, expected[: len(best)], rtol=1e-6, atol=1e-7)
        assert dual == pytest.approx(value, rel=1e-7)


@pytest.mark.fast
@pytest.mark.parametrize("solver", [*SOLVERS, SVMPerf(path=False)], ids=str)
@pytest.mark.parametrize("bias", BIASES)
def test_programmes_rise_and_are_dual_values_of_their_rows(solver, bias):
    drawn = draw(Hinge(), 5, n=60, K=2, weighted=True, bias=bias)
    problem, lam = drawn.problem, drawn.lam
    state, before = solver.start(problem, 0, None), np.zeros(2)
    for _ in range(8):
        solver.advance(problem, state)
        assert np.all(state.dual >= before - 1e-12)
        before = state.dual.copy()
    s, beta = drawn.weights, drawn.y * state.A
    assert beta.min() >= 0.0
    assert beta.max() <= 1.0
    W = drawn.X.T @ (s[:, None] * state.A) / (lam * s.sum())
    own = np.column_stack([bundle.weights(lam)[:-1] for bundle in state.bundles])
    np.testing.assert_allclose(own, W, atol=1e-10)
    total = s @ state.A / (lam * s.sum())
    if bias == "free":
        np.testing.assert_allclose(total, 0.0, atol=1e-10)
    square = (W**2).sum(axis=0) + (1.5 * total) ** 2 * (bias == "regularized")
    np.testing.assert_allclose(state.dual, s @ beta / s.sum() - 0.5 * lam * square, atol=1e-12)


@pytest.mark.fast
def test_best_weights_of_ocas_never_get_worse():
    drawn = draw(Hinge(), 6, n=80)
    solver, objectives = OCAS(), []
    state = solver.start(drawn.problem, 0, None)
    for _ in range(15):
        solver.advance(drawn.problem, state)
        objectives.append(state.primal[0])
    assert np.all(np.diff(objectives) <= 1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("seed", range(30))
def test_the_cut_of_a_free_bias_is_balanced_and_touches(seed):
    # Scores that are whole numbers: kinks lie on each other.
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    y, z = rng.choice([-1.0, 1.0], n), rng.integers(-2, 3, n).astype(float)
    if seed % 5 == 0:
        y[:] = 1.0 if seed % 2 else -1.0
    s = rng.integers(0, 3, n).astype(float) if seed % 2 else None
    if s is not None:
        s[0] = 1.0
    problem = make_problem(Hinge(), as_rows(z[:, None]), y[:, None], s, 1.0, "free")
    betas, b = cuts.below(problem, z, 0.0, 0)
    weights = np.ones(n) if s is None else s
    beta = betas.numbers()
    least = min(weights @ np.maximum(0.0, 1.0 - y * (z + c)) for c in y - z)
    assert weights @ np.maximum(0.0, 1.0 - y * (z + b)) == pytest.approx(least, abs=1e-12)
    assert (weights * y) @ beta == pytest.approx(0.0, abs=1e-12)
    assert (weights * beta) @ (1.0 - y * z) == pytest.approx(least, abs=1e-12)
    assert beta.min() >= 0.0
    assert beta.max() <= 1.0


@pytest.mark.fast
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_a_warm_start_begins_with_the_dual_point_of_another_solver(solver, bias):
    drawn = draw(Hinge(), 7, n=60, K=2, bias=bias)
    good = solve(drawn.problem, SDCA(), Stopping(tol=1e-6, max_iter=2000))
    state = solver.start(drawn.problem, 0, good.state)
    assert state.dual.sum() >= good.certificate.dual * (1.0 - 1e-5)
    again = solve(drawn.problem, solver, Stopping(tol=1e-5, max_iter=300), previous=good.state)
    assert again.certificate.is_within_tol


@pytest.mark.fast
def test_idle_cuts_are_dropped_and_nothing_changes(monkeypatch):
    drawn = draw(Hinge(), 8, n=60, d=4)
    limits = Stopping(tol=1e-8, max_iter=500)
    kept = solve(drawn.problem, OCAS(), limits)
    monkeypatch.setattr(cuts, "IDLE", 3)
    dropped = solve(drawn.problem, OCAS(), limits)
    assert dropped.state.bundles[0].m < kept.state.bundles[0].m
    assert dropped.certificate.primal == pytest.approx(kept.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("bias", BIASES)
def test_dense_and_csr_rows_give_the_same(solver, bias):
    found = []
    for kind in ("dense", "csr"):
        drawn = draw(Hinge(), 9, kind="csr", bias=bias)  # the same zeros
        X = drawn.X if kind == "dense" else None
        problem = drawn.problem if X is None else drawn.problem._replace(rows=as_rows(X))
        found.append(solve(problem, solver, Stopping(tol=1e-7, max_iter=500)))
    assert found[0].certificate.is_within_tol
    np.testing.assert_allclose(found[0].W, found[1].W, atol=1e-4)


@pytest.mark.fast
def test_other_losses_and_values_of_mu_are_refused():
    for name in ("svm_perf", "ocas"):
        with pytest.raises(
            InvalidParameter, match=f'solver="{name}" has no loss=.*use solver="sdca"'
        ):
            resolve(name, Logistic(), "free")
    with pytest.raises(
        InvalidParameter, match="mu must be a number above 0 and at most 1; got 1.5"
    ):
        resolve(OCAS(mu=1.5), Hinge(), "free")
    with pytest.raises(InvalidParameter, match="path must be True or False; got 1"):
        resolve(SVMPerf(path=1), Hinge(), "free")
    with pytest.raises(InvalidParameter, match="mu must be a positive number; got 0"):
        resolve(OCAS(mu=0), Hinge(), "free")
