"""Newton: a step by hand, optima by an independent solver, data in any units, any threads."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import parallel
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import newton
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference.certificate import optimum

LOSSES = {
    "hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic(),
    "epsilon_insensitive": EpsilonInsensitive(0.1),
}  # fmt: skip


def fitted(problem, tol=1e-9, max_iter=300, **options):
    return solve(problem, Newton(), Stopping(tol=tol, max_iter=max_iter), **options)


def table(n=300, d=6, seed=0, classes=1):
    """Rows in awful units: offsets, scales from 1e-6 to 1e6, a rare category, a constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.where(X[:, [0]] + 0.5 * X[:, [1]] + rng.standard_normal((n, classes)) > 0.3, 1.0, -1.0)
    X *= np.logspace(-6, 6, d)
    X += np.linspace(0.0, 1e6, d)
    rare = (rng.random((n, 1)) < 0.02).astype(float)
    return np.hstack([X, rare, np.full((n, 1), 7.0)]), Y


@pytest.mark.fast
def test_a_step_worked_by_hand():
    # Squared hinge, rows x = 1, y = 1 and x = -1, y = -1, lam = 1, no bias: both cost (1 - w)^2.
    # P = w^2 / 2 + (1 - w)^2 has its minimum at w = 2/3, and a quadratic needs one Newton step.
    X, Y = np.array([[1.0], [-1.0]]), np.array([[1.0], [-1.0]])
    problem = make_problem(SquaredHinge(), as_rows(X), Y, None, 1.0)
    state = Newton().start(problem, 0, None)
    Newton().advance(problem, state)
    assert state.models[0].w[0, 0] == pytest.approx(2 / 3, rel=1e-4)  # damped by 1e-5 of H


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("name", LOSSES)
def test_newton_reaches_the_optimum_of_an_independent_solver(name, bias, kind):
    loss = LOSSES[name]
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 2, n=60, weighted=True, bias=bias, regression=is_regression, kind=kind)
    found = fitted(drawn.problem).certificate
    assert found.relative_gap <= 1e-9
    best, _, _ = optimum(
        name, drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, bias, drawn.bias_scale
    )
    assert found.dual * (1.0 - 1e-6) <= best <= found.primal * (1.0 + 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=str)
def test_units_and_offsets_do_not_matter(loss, dtype):
    X, Y = table()
    n, d = X.shape
    lam = 1e-4
    raw = fitted(make_problem(loss, as_rows(X.astype(dtype)), Y, None, lam, "free"), 1e-3)
    assert raw.certificate.relative_gap <= 1e-3
    assert raw.certificate.epochs <= 60


def test_csr_with_large_offsets_equals_dense():
    X, Y = table()
    ends = [
        fitted(make_problem(Hinge(), as_rows(container(X)), Y, None, 1e-4, "free"), 1e-6)
        for container in (np.asarray, sparse.csr_array)
    ]
    one, other = (end.certificate for end in ends)
    assert max(one.relative_gap, other.relative_gap) <= 1e-6
    assert one.primal == pytest.approx(other.primal, rel=2e-6)


@pytest.mark.parametrize(("C", "tol"), [(1e-3, 1e-6), (1.0, 1e-6), (1e4, 1e-6), (1e8, 1e-5)])
def test_separable_and_contradictory_rows_at_any_penalty(C, tol):
    # At C = 1e8 the objective is 2.6e-8: rounding of scores, 1e-14, hides some 1e-6 of it.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 4))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    for labels in (y, np.where(np.arange(80) % 2 == 0, y, -y[np.arange(80) // 2])):
        problem = make_problem(Hinge(), as_rows(X), labels[:, None], None, 1 / (C * 80), "free")
        assert fitted(problem, tol).certificate.relative_gap <= tol


def test_weights_count_rows():
    X, Y = table(n=90)
    s = np.random.default_rng(3).integers(0, 3, 90).astype(float)
    repeated = np.repeat(np.arange(90), s.astype(int))
    one = make_problem(Hinge(), as_rows(X), Y, s, 1e-3, "free")
    other = make_problem(Hinge(), as_rows(X[repeated]), Y[repeated], None, 1e-3, "free")
    primal = [fitted(problem).certificate.primal for problem in (one, other)]
    assert primal[0] == pytest.approx(primal[1], rel=1e-8)


def test_a_loss_of_ones_own():
    X, Y = table()
    loss = CustomLoss(lambda z, y: max(0.0, 1.0 - y * z), lambda z, y: -y if y * z < 1.0 else 0.0)
    tag = loss.tag([-1.0, 1.0])
    own, built_in = (
        fitted(make_problem(which, as_rows(X), Y, None, 1e-3, "free"), 1e-6).certificate
        for which in (tag, Hinge())
    )
    assert own.relative_gap <= 1e-6
    assert own.primal == pytest.approx(built_in.primal, rel=2e-6)


def test_many_rows_begin_with_a_few(monkeypatch):
    monkeypatch.setattr(newton, "ROWS_PER_COLUMN", 1)
    X, Y = table(n=12_000, classes=3)
    for container in (np.asarray, sparse.csr_array):
        problem = make_problem(Hinge(), as_rows(container(X)), Y, None, 1e-5, "free")
        state = Newton().start(problem, 0, None)
        few, _ = state.first
        assert few.costs.Y.shape == (1200, 3)
        assert Newton().dual_point(problem, state) is None
        W, b = Newton().iterate(problem, state)
        assert W.shape == (8, 3)
        assert not W.any()
        found = fitted(problem, 1e-3)
        assert found.certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("other", [SDCA(), Newton()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_a_run_goes_on_from_another(other, bias):
    drawn = draw(Hinge(), 2, n=200, bias=bias)
    first = solve(drawn.problem, other, Stopping(tol=1e-6, max_iter=1000))
    harder = drawn.problem._replace(lam=0.5 * drawn.lam)
    again = fitted(harder, 1e-8, previous=first.state)
    assert again.certificate.relative_gap <= 1e-8
    at_once = fitted(drawn.problem, 1e-6, previous=first.state)
    assert at_once.certificate.epochs <= 12


def test_threads_do_not_change_a_bit(monkeypatch):
    X, Y = table(n=3000, classes=2)
    monkeypatch.setattr("pegasos.solvers.newton.passes.PART", 1000)
    monkeypatch.setattr("pegasos.solvers.newton.hessian.BLOCK", 100)
    ends = []
    for cores in (1, 2):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        problem = make_problem(Hinge(), as_rows(X), Y, None, 1e-4, "free")
        ends.append(fitted(problem, 1e-4))
    np.testing.assert_array_equal(ends[0].W, ends[1].W)


def test_models_far_ahead_wait(monkeypatch):
    # The first model is settled by its bias; the second takes many steps.
    X, Y = table(n=400, classes=2)
    Y[:, 0] = -1.0
    Y[:3, 0] = 1.0
    problem = make_problem(Hinge(), as_rows(X), Y, None, 1.0, "free")
    problem = problem._replace(lam=1e-5)
    steps = []
    step = newton.step

    def counted(posed, *rest, **options):
        steps.append(posed.costs.Y.sum())
        step(posed, *rest, **options)

    monkeypatch.setattr(newton, "step", counted)
    found = fitted(problem, 1e-6)
    assert found.certificate.relative_gap <= 1e-6
    assert len(steps) < 2 * found.certificate.epochs
