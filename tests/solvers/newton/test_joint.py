"""Newton on joint losses: a step by hand, optima by another solver, any units, any threads."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from pegasos import parallel
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import JointHinge, Softmax, zero_one
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import newton
from pegasos.solvers.newton.equations import solved
from pegasos.solvers.newton.joint_envelope import curvatures
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.sdca.linear import SDCA
from tests.joint_problems import BIASES, LOSSES, draw_joint, targets
from tests.reference.joint import optimum


def fitted(problem, tol=1e-8, max_iter=300, **options):
    return solve(problem, Newton(), Stopping(tol=tol, max_iter=max_iter), **options)


def table(n=300, d=6, K=4, seed=0):
    """Rows in awful units: offsets, scales from 1e-6 to 1e6, a rare category, a constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.standard_normal((n, d))
    X[:, 0] += 0.8 * y
    X[:, 1] += y % 2
    X *= np.logspace(-6, 6, d)
    X += np.linspace(0.0, 1e6, d)
    rare = (rng.random((n, 1)) < 0.02).astype(float)
    return np.hstack([X, rare, np.full((n, 1), 7.0)]), y, targets(y, K)


@pytest.mark.fast
def test_a_joint_step_worked_by_hand():
    # Softmax of two classes, rows x = 1 of class 0 and x = -1 of class 1, lam = 1, no bias. By
    # symmetry w = (v, -v), and P = v^2 + log(1 + exp(-2 v)). At v = 0 the slope is -1 and the
    # curvature 2 + 1: a Newton step leads to v = 1/3, and the slope there, 2/3 - 2/(1 + exp(2/3))
    # = -0.012, is small enough for the line search.
    X, Y = np.array([[1.0], [-1.0]]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    problem = make_problem(Softmax(), as_rows(X), Y, None, 1.0)
    state = Newton().start(problem, 0, None)
    Newton().advance(problem, state)
    np.testing.assert_allclose(state.models[0].w, [[1 / 3, -1 / 3]], rtol=1e-4)


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", LOSSES)
def test_newton_reaches_the_joint_optimum_of_an_independent_solver(name, bias, kind):
    drawn = draw_joint(name, 5, bias, n=60, kind=kind, weighted=True)
    found = fitted(drawn.problem).certificate
    assert found.relative_gap <= 1e-8
    best, _, _ = optimum(*drawn.given(bias))
    assert found.dual * (1.0 - 1e-6) <= best <= found.primal * (1.0 + 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", [JointHinge(zero_one(4)), Softmax()], ids=["hinge", "softmax"])
def test_units_and_offsets_do_not_matter_to_joint_losses(loss, dtype):
    X, _, Y = table()
    problem = make_problem(loss, as_rows(X.astype(dtype)), Y, None, 1e-4, "free")
    found = fitted(problem, 1e-3).certificate
    assert found.relative_gap <= 1e-3
    assert found.epochs <= 60


@pytest.mark.parametrize("name", LOSSES)
def test_csr_with_large_offsets_equals_dense_for_joint_losses(name):
    X, _, Y = table()
    loss = {"softmax": Softmax(), "cost": JointHinge(50.0 * zero_one(4))}.get(
        name, JointHinge(zero_one(4))
    )
    ends = [
        fitted(make_problem(loss, as_rows(container(X)), Y, None, 1e-4, "free"), 1e-6)
        for container in (np.asarray, sparse.csr_array)
    ]
    one, other = (end.certificate for end in ends)
    assert max(one.relative_gap, other.relative_gap) <= 1e-6
    assert one.primal == pytest.approx(other.primal, rel=2e-6)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("loss", [JointHinge(zero_one(3)), Softmax()], ids=["hinge", "softmax"])
def test_separable_and_contradictory_classes_at_any_penalty(loss, C):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 4))
    y = X[:, :3].argmax(axis=1)
    for labels in (y, np.where(np.arange(90) % 2 == 0, y, y[np.arange(90) // 2])):
        problem = make_problem(loss, as_rows(X), targets(labels, 3), None, 1 / (C * 90), "free")
        assert fitted(problem, 1e-6).certificate.relative_gap <= 1e-6


def test_separated_classes_are_found_at_a_large_c():
    # Some C has the weights of all larger ones; without that, 444 steps leave a gap of 0.3.
    X, y = load_digits(return_X_y=True)
    lam = 1.0 / (1e4 * len(y))
    problem = make_problem(JointHinge(zero_one(10)), as_rows(X), targets(y, 10), None, lam, "free")
    assert fitted(problem, 1e-3, max_iter=100).certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("name", LOSSES)
def test_weights_count_rows_of_joint_losses(name):
    drawn = draw_joint(name, 3, "free", n=50, d=3, K=3, lam=0.01)
    s = np.random.default_rng(3).integers(0, 3, 50).astype(float)
    s[:3] = 1.0
    repeated = np.repeat(np.arange(50), s.astype(int))
    loss, Y = drawn.problem.costs.loss, drawn.problem.costs.Y
    one = make_problem(loss, as_rows(drawn.X), Y, s, 0.01, "free")
    other = make_problem(loss, as_rows(drawn.X[repeated]), Y[repeated], None, 0.01, "free")
    primal = [fitted(problem).certificate.primal for problem in (one, other)]
    assert primal[0] == pytest.approx(primal[1], rel=1e-7)


@pytest.mark.parametrize("other", [SDCA(), Newton()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", ["joint hinge", "softmax"])
def test_a_joint_run_goes_on_from_another(name, bias, other):
    drawn = draw_joint(name, 2, bias, n=200, d=4, K=3, lam=0.05)
    first = solve(drawn.problem, other, Stopping(tol=1e-4, max_iter=1000))
    harder = drawn.problem._replace(lam=0.5 * drawn.problem.lam)
    assert fitted(harder, 1e-7, previous=first.state).certificate.relative_gap <= 1e-7
    at_once = fitted(drawn.problem, 1e-4, previous=first.state)
    assert at_once.certificate.epochs <= 10


@pytest.mark.parametrize("loss", [JointHinge(zero_one(4)), Softmax()], ids=["hinge", "softmax"])
def test_threads_do_not_change_a_bit_of_a_joint_fit(loss, monkeypatch):
    X, _, Y = table(n=2000)
    monkeypatch.setattr("pegasos.solvers.newton.passes.PART", 3000)
    monkeypatch.setattr("pegasos.solvers.newton.joint_hessian.VALUES", 3000)
    monkeypatch.setattr("pegasos.solvers.newton.joint_blocks.PRODUCTS", 1000)
    ends = []
    for cores in (1, 2):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        ends.append(fitted(make_problem(loss, as_rows(X), Y, None, 1e-4, "free"), 1e-4))
    np.testing.assert_array_equal(ends[0].W, ends[1].W)


def test_many_rows_of_softmax_begin_with_a_few(monkeypatch):
    monkeypatch.setattr(newton, "ROWS_PER_COLUMN", 1)
    X, _, Y = table(n=10_000)
    problem = make_problem(Softmax(), as_rows(X), Y, None, 1e-5, "free")
    state = Newton().start(problem, 0, None)
    few, _ = state.first
    assert few.costs.Y.shape == (1000, 4)
    assert Newton().dual_point(problem, state) is None
    W, b = Newton().iterate(problem, state)
    assert W.shape == (8, 4)
    assert b.shape == (4,)
    assert fitted(problem, 1e-3).certificate.relative_gap <= 1e-3
    hinge = problem._replace(costs=problem.costs._replace(loss=JointHinge(zero_one(4))))
    assert Newton().start(hinge, 0, None).first is None


@pytest.mark.fast
def test_some_rows_stand_for_all_in_first_steps_unless_a_column_is_rare():
    X, _, Y = table(n=500)
    for columns, loss, is_rough in [
        (8, JointHinge(zero_one(4)), False), (6, JointHinge(zero_one(4)), True),
        (8, Softmax(), True),
    ]:  # fmt: skip
        X[:, 6] = np.arange(500) == 3
        problem = make_problem(loss, as_rows(X[:, :columns]), Y, None, 1e-5, "free")
        state = Newton().start(problem, 0, None)
        Newton().advance(problem, state)
        assert state.models[0].is_rough == is_rough


def test_many_rows_of_the_joint_hinge_need_no_exact_minima_at_first():
    # The smoothing narrows while ||w - w(a)||^2 / lam is large; before, 16 steps.
    X, _, Y = table(n=3000)
    problem = make_problem(JointHinge(zero_one(4)), as_rows(X), Y, None, 1e-6, "free")
    found = fitted(problem, 1e-3).certificate
    assert found.relative_gap <= 1e-3
    assert found.epochs <= 13


@pytest.mark.parametrize("seed", [0, 1])
def test_classes_far_apart_end_soon_where_rows_are_few(seed):
    # Minima left early for a small fall led nowhere: 154 and 232 steps.
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 7, 111)
    X = rng.standard_normal((111, 1)) + 50.0 * y[:, None]
    rows, Y = as_rows(X), targets(y, 7)
    problem = make_problem(JointHinge(zero_one(7)), rows, Y, None, 1.0 / (70.0 * 111), "free")
    found = fitted(problem, 1e-3).certificate
    assert found.relative_gap <= 1e-3
    assert found.epochs <= 20


@pytest.mark.parametrize("name", LOSSES)
def test_weights_and_biases_of_all_classes_sum_to_zero(name):
    drawn = draw_joint(name, 5, "free", n=80, d=3, K=4, lam=1e-3)
    found = fitted(drawn.problem, 1e-6)
    np.testing.assert_allclose(found.W.sum(axis=1), 0.0, atol=1e-9 * np.abs(found.W).max())
    assert abs(found.b.sum()) <= 1e-9 * np.abs(found.b).max()


@pytest.mark.fast
@pytest.mark.parametrize("q", [0.0, 0.5])
def test_a_dual_number_rounded_above_1_has_no_negative_curvature(q):
    problem = make_problem(
        Softmax(), as_rows(np.ones((2, 1))), targets(np.array([0, 2]), 3), None, 1.0
    )
    above = 1.0 + 3.0 * np.finfo(float).eps
    A = np.array([[above, -0.5, -0.5], [-0.25, -0.75, above]])
    T = np.empty((2, 3))
    curvatures(problem.costs, (np.zeros((2, 3)), q), A, (0, 2), T)
    assert (T >= 0.0).all()
    assert T[0, 0] == T[1, 2] == 0.0


@pytest.mark.fast
def test_equations_that_are_not_finite_have_an_end():
    H, g, nothing = np.eye(2), np.ones(2), np.zeros(2)
    for number in (np.nan, np.inf):
        assert not solved(np.full((2, 2), number), g, nothing, 0.0).any()
    assert not solved(np.diag([1e308, 1.0]), g, nothing, 1e308).any()
    assert not solved(H, np.full(2, np.nan), nothing, 0.0).any()
    np.testing.assert_allclose(solved(-1e-20 + 0.0 * H, g, nothing, 1.0), g)
