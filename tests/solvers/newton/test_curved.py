"""Rows that enter a step as they are, and the dual numbers that a step predicts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import cho_factor

from pegasos.data.rows import as_rows
from pegasos.problem.losses import Logistic, SquaredHinge, dual_step, gap_term, response, upper
from pegasos.problem.objective import combination, make_problem
from pegasos.solve import Stopping, solve
from pegasos.solvers.newton import curved as parts
from pegasos.solvers.newton import model as steps
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.curved import bent, curved_rows
from pegasos.solvers.newton.envelope import BALANCE, GAP
from pegasos.solvers.newton.newton import Newton, started
from pegasos.solvers.newton.predicted import belonging, predicted

pytestmark = pytest.mark.fast

N, D = 60, 4
LOSSES = [Logistic(), SquaredHinge()]
CONTAINERS = [np.asarray, sparse.csr_array]


def posed(loss, container=np.asarray, rare=0, lam=1e-3, bias="free"):
    """Return rows, and a problem on them; the last columns have a value in 2 rows each."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D + rare))
    for j in range(rare):
        X[:, D + j] *= np.isin(np.arange(N), rng.choice(N, 2, replace=False))
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(N) > 0.0, 1.0, -1.0)
    s = rng.random(N) + 0.5
    s[7] = 0.0
    return X, make_problem(loss, as_rows(container(X)), y[:, None], s, lam, bias, 1.0)


def begun(problem):
    """Return scores, dual numbers and curvatures with weights, and a change of scores."""
    rng, s = np.random.default_rng(1), problem.costs.weights.values
    Z, d = rng.standard_normal((N, 1)), 3.0 * rng.standard_normal((N, 1))
    A = slopes(problem, Z)
    h = s * [
        response(problem.costs.loss, z, 0.0, a, 0.0, y)
        for z, a, y in zip(Z[:, 0], A[:, 0], problem.costs.Y[:, 0], strict=True)
    ]
    return Z, A, d, h


def slopes(problem, Z):
    pairs = zip(Z.ravel(), problem.costs.Y.ravel(), strict=True)
    return np.array([[dual_step(problem.costs.loss, z, 0.0, 0.0, y)] for z, y in pairs])


def errors(problem, Z, A, d, h):
    """Return s_i r_i(d_i)."""
    s = problem.costs.weights.values
    return s * (A - slopes(problem, Z + d))[:, 0] - h * d[:, 0]


@pytest.mark.parametrize("loss", LOSSES)
def test_curved_rows_are_those_on_which_the_model_errs_most(loss, monkeypatch):
    _, problem = posed(loss)
    Z, A, d, h = begun(problem)
    erring = np.abs(errors(problem, Z, A, d, h) * d[:, 0])
    monkeypatch.setattr(parts, "MOST", 7)
    monkeypatch.setattr(parts, "FEW", 0.0)
    found = curved_rows(problem, Z, A, d, h)
    np.testing.assert_array_equal(found, np.sort(np.argsort(-erring)[:7]))
    monkeypatch.setattr(parts, "FEW", 1.0)
    assert len(curved_rows(problem, Z, A, d, h)) == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_is_the_minimum_with_its_curved_rows_as_they_are(loss):
    X, problem = posed(loss)
    Z, A, _, h = begun(problem)
    rng, columns = np.random.default_rng(0), columns_of(problem, True)
    M = rng.standard_normal((9, D + 1))
    M = 0.02 * M.T @ M
    rows = np.hstack([(X - columns.m) / columns.scale, np.ones((N, 1))])
    H = M + (rows.T * h) @ rows / problem.S
    p, factor = rng.standard_normal(D + 1), np.tril(cho_factor(H, lower=True)[0])
    chosen = np.array([3, 8, 20, 21, 40])
    found = bent(problem, columns, factor, p, Z, A, h, chosen)

    # Stationary: H (p_bent - p) + 1/S sum_K s_i r_i x~_i = 0, where the quadratic alone had p.
    pull = rows[chosen].T @ errors(problem, Z, A, rows @ found[:, None], h)[chosen] / problem.S
    np.testing.assert_allclose(H @ (found - p), -pull, atol=1e-3 * np.abs(pull).max())
    assert np.abs(pull).max() > 1e-3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_predicted_dual_numbers_belong_to_the_weights_of_the_step(loss, bias, container):
    X, problem = posed(loss, container, bias=bias)
    columns = columns_of(problem, bias != "none")
    state = started(problem, columns, None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    (model,) = state.models
    model.damping = 0.0
    for _ in range(6):
        steps.step(seen, columns, model)
    h = steps.curvatures_of(seen, model.smoothing, model.Z, model.A)
    P, _ = steps.solution(seen, columns, model, h)
    p, c = steps.unscaled(columns, model, P)
    steps.write_scores(seen, p, c, model.D)
    few = np.array([4, 9])
    F = predicted(seen, model.Z, model.A, model.D, h, few)
    np.testing.assert_allclose(F[few], slopes(problem, model.Z + model.D)[few])

    F = predicted(seen, model.Z, model.A, model.D, h, few[:0])
    s = problem.costs.weights.values
    linear = model.A - np.divide(h, s, out=np.zeros(N), where=s > 0.0)[:, None] * model.D
    np.testing.assert_allclose(F, linear, atol=1e-12)  # near the optimum none leaves the box
    ends = model.Z + model.D
    found = belonging(seen, ends, model.A, model.v, F)
    rows = zip(ends[:, 0], F[:, 0], problem.costs.Y[:, 0], strict=True)
    gaps = [gap_term(loss, z, a, y) for z, a, y in rows]
    np.testing.assert_allclose(found.sums[[GAP, BALANCE], 0], [s @ gaps, s @ F[:, 0]], atol=1e-9)
    w = combination(problem, F)
    np.testing.assert_allclose(w[:, 0], (model.w + p)[:, 0], atol=1e-6 * np.abs(w).max())
    shift = 0.0 if bias == "free" else found.sums[BALANCE, 0] / problem.S * columns.m
    v = found.v[:, 0] + shift
    np.testing.assert_allclose(v, problem.lam * w[:, 0], atol=1e-6 * np.abs(v).max())
    far = predicted(seen, model.Z, model.A, 50.0 * problem.costs.Y, h, few[:0])
    assert np.min(far * problem.costs.Y) == 0.0
    other = predicted(seen, model.Z, model.A, -50.0 * problem.costs.Y, h, few[:0])
    assert np.max(other * problem.costs.Y) <= upper(loss, 1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_rare_columns_take_fewer_steps_with_curved_rows(loss, monkeypatch):
    monkeypatch.setattr(parts, "MOST", 12)
    taken = {}
    for dear in (0.0, np.inf):
        monkeypatch.setattr(parts, "DEAR", dear)
        _, problem = posed(loss, sparse.csr_array, rare=8, lam=1e-7)
        found = solve(problem, Newton(), Stopping(tol=1e-6, max_iter=100))
        assert found.certificate.is_within_tol
        taken[dear] = found.certificate.epochs
    assert taken[0.0] < taken[np.inf]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_better_proof_is_handed_out_and_stays_while_the_weights_do(loss):
    _, problem = posed(loss, sparse.csr_array, lam=0.1, bias="none")
    solver = Newton()
    best, state = (solver.start(problem, 0, None) for _ in range(2))
    for _ in range(15):
        solver.advance(problem, best)
    for _ in range(2):
        solver.advance(problem, state)
    (model,) = state.models
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    # No dual numbers prove more of any weights than those of the optimum, few less than 0.
    for A, is_better in ((best.A, True), (np.zeros_like(best.A), False)):
        model.predicted = belonging(seen, model.Z, model.A, model.v, A)
        np.testing.assert_array_equal(
            solver.dual_point(problem, state).A, A if is_better else model.A
        )
    before = model.predicted
    steps.move_and_prove(seen, state.columns, model, np.zeros(N), 0.0, None)
    assert model.predicted is before
    steps.move_and_prove(seen, state.columns, model, np.zeros(N), 1.0, None)
    assert model.predicted is None


@pytest.mark.parametrize("loss", LOSSES)
def test_another_solver_goes_on_from_the_numbers_that_prove_more(loss, monkeypatch):
    _, problem = posed(loss, sparse.csr_array, lam=0.1, bias="none")
    solver = Newton()
    best, state = (solver.start(problem, 0, None) for _ in range(2))
    for _ in range(15):
        solver.advance(problem, best)
    for _ in range(2):
        solver.advance(problem, state)
    (model,) = state.models
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    for A, is_better in ((best.A, True), (np.zeros_like(best.A), False)):
        monkeypatch.setattr(steps, "predicted", lambda *_, A=A: A.copy())
        model.fell, model.D[:] = 0.0, 0.0
        steps.move_and_prove(seen, state.columns, model, np.zeros(N), 1.0, np.zeros(0, int))
        np.testing.assert_array_equal(state.A, A if is_better else model.A)
        assert (model.predicted is not None) == is_better


def test_rows_that_are_all_of_the_curvature_do_no_harm(monkeypatch):
    # Rows that leave the squared hinge, alone in their columns: what is left of H is the penalty.
    X = np.vstack([1e6 * np.eye(3), np.random.default_rng(0).standard_normal((40, 3))])
    y = np.where(np.arange(43) % 2, 1.0, -1.0)
    monkeypatch.setattr(parts, "DEAR", 0.0)
    for lam in (1e-12, 1e-3):
        problem = make_problem(SquaredHinge(), as_rows(X), y[:, None], None, lam, "free", 1.0)
        found = solve(problem, Newton(), Stopping(tol=1e-3, max_iter=100))
        assert found.certificate.is_within_tol
