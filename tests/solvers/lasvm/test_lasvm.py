"""LASVM: steps by hand, the transcription, the optimum, small memory, ties, refusals."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Custom, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.lasvm.lasvm import LASVM, finish, visit
from tests.reference.kernel_optimum import kernel_optimum
from tests.reference.lasvm import Lasvm
from tests.solvers.kernel_problems import BUDGET, kernel_problem, whole_matrix

TIGHT = Stopping(tol=1e-9, max_iter=200)
BIASES = ["none", "free"]
SOLVERS_OWN = 1e-6  # relative accuracy of the independent solver
KERNELS = {
    "linear": Linear(),
    "rbf": Gaussian(0.5),
    "poly": Polynomial(0.5, 1.0, 3),
    "laplacian": Laplacian(0.3),
}


def precomputed(K, y, lam, bias="none", budget=BUDGET):
    """A problem over a given kernel matrix."""
    gram = Gram(Precomputed(), as_rows(np.array(K, dtype=float)), budget)
    return make_problem(Hinge(), gram, np.array(y, dtype=float)[:, None], None, lam, bias)


def with_budget(problem, budget):
    """The same problem with another memory budget."""
    gram = problem.rows
    return problem._replace(rows=Gram(gram.kernel, gram.rows, budget))


def epoch(problem, solver=None, seed=0):
    """The state after one epoch."""
    solver = solver or LASVM()
    state = solver.start(problem, seed, None)
    while not solver.advance(problem, state).ends_epoch:
        pass
    return state


def visit_all(problem, state, order):
    """Visit rows in this order."""
    state.begin("visit")
    state.visits = order
    while visit(problem, state, len(state.visits)) is not None:
        pass


@pytest.mark.fast
def test_a_pair_step_worked_by_hand():
    # K = 2 I, y = (1, -1): the first row waits. The second pairs with it: r = (1, -1) differ by 2,
    # the curvature is 2 + 2 = 4, so beta = (1/2, -1/2), where r = 0. With C = 1/4 the bound is met.
    for lam, beta in ((0.25, 0.5), (2.0, 0.25)):
        state = epoch(precomputed(2.0 * np.eye(2), [1.0, -1.0], lam, "free"))
        assert state.set.beta[0][np.argsort(state.rows)].tolist() == [beta, -beta]


@pytest.mark.fast
def test_single_steps_worked_by_hand():
    # K = [[4, 2], [2, 4]], y = (1, 1). Whichever comes first has beta = 1/4, so the other's score
    # is 1/2, its residual 1/2, and PROCESS gives it 1/8; the first is left with residual -1/4.
    # REPROCESS takes 1/16 from the first, as -1/4 is the only violation: (3/16, 1/8).
    problem = precomputed([[4.0, 2.0], [2.0, 4.0]], [1.0, 1.0], 0.1)
    solver = LASVM(finishing=False)
    state = solver.start(problem, 0, None)
    order = np.array([1, 0])
    visit_all(problem, state, order)
    assert state.coefficients(problem)[:, 0].tolist() == [0.125, 0.1875]


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bias", BIASES)
def test_lasvm_equals_the_transcription(kernel, bias):
    drawn = kernel_problem(
        Hinge(), 1, KERNELS[kernel], n=40, K=2, weighted=True, bias=bias, lam=0.02
    )
    problem, C = drawn.problem, drawn.weights / (0.02 * drawn.weights.sum())
    K, random = whole_matrix(drawn), np.random.default_rng(5)
    state = LASVM().start(problem, 0, None)
    state.tau[:] = 1e-3
    references = [
        Lasvm(K, y, C, is_free=bias == "free", tau=1e-3) for y in np.ascontiguousarray(drawn.y.T)
    ]
    for _ in range(3):
        order = random.permutation(np.flatnonzero(C > 0.0))
        visit_all(problem, state, order)
        for k, reference in enumerate(references):
            reference.visit(order)
            np.testing.assert_allclose(state.coefficients(problem)[:, k], reference.a, atol=1e-9)
    state.begin("finish")
    while finish(problem, state) is not None:
        pass
    state.set.forget(problem.is_free)
    state.pack()
    for k, reference in enumerate(references):
        reference.finish()
        np.testing.assert_allclose(state.coefficients(problem)[:, k], reference.a, atol=1e-8)
    assert set(state.rows) == set(references[0].S) | set(references[1].S)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("finishing", [True, False])
def test_lasvm_reaches_the_optimum(bias, finishing):
    drawn = kernel_problem(Hinge(), 2, n=60, weighted=True, bias=bias)
    solution = solve(drawn.problem, LASVM(finishing=finishing), TIGHT)
    assert solution.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("first", [0, 15])
def test_certified_interval_contains_the_optimum(kernel, bias, first):
    for number in range(first, first + 15):
        rng = np.random.default_rng(number)
        drawn = kernel_problem(
            Hinge(), number, KERNELS[kernel], n=int(rng.integers(8, 25)),
            d=int(rng.integers(1, 6)), weighted=number % 2 == 1, bias=bias,
            lam=float(10.0 ** rng.uniform(-3, 0)),
        )  # fmt: skip
        best, _ = kernel_optimum(
            whole_matrix(drawn), drawn.y[:, 0], drawn.weights, drawn.lam, "hinge", bias
        )
        slack = SOLVERS_OWN * max(1e-3, best)
        for stopping in (Stopping(tol=1e-14, max_iter=1), Stopping(tol=1e-7, max_iter=100)):
            found = solve(drawn.problem, LASVM(), stopping, seed=number).certificate
            assert found.dual <= best + slack
            assert found.primal >= best - slack
        assert found.relative_gap <= 1e-7


def test_estimates_are_the_certified_gap():
    drawn = kernel_problem(Hinge(), 3, n=50, bias="free", lam=0.01)
    solver = LASVM()
    state = solver.start(drawn.problem, 0, None)
    for epochs in range(1, 4):
        step = solver.advance(drawn.problem, state)
        while not step.ends_epoch:
            step = solver.advance(drawn.problem, state)
        proven = solve(drawn.problem, solver, Stopping(tol=1e-15, max_iter=epochs))
        assert step.estimate == pytest.approx(proven.certificate.relative_gap, rel=1e-6, abs=1e-12)


def test_objective_agrees_with_scikit_learn():
    drawn = kernel_problem(Hinge(), 6, n=60, bias="free", lam=0.02)
    solution = solve(drawn.problem, LASVM(), TIGHT)
    K, y = whole_matrix(drawn), drawn.y[:, 0]
    peer = SVC(C=1.0 / (0.02 * 60), kernel="precomputed", tol=1e-9).fit(K, y)
    w = np.zeros(60)
    w[peer.support_] = peer.dual_coef_[0]
    losses = np.maximum(0.0, 1.0 - y * (K @ w + peer.intercept_[0]))
    assert solution.certificate.primal == pytest.approx(0.01 * w @ K @ w + losses.mean(), rel=1e-7)


@pytest.mark.parametrize("bias", BIASES)
def test_csr_equals_dense_and_seeds_repeat(bias):
    drawn = kernel_problem(Hinge(), 4, n=50, kind="csr", bias=bias, lam=0.01)
    gram = drawn.problem.rows
    as_dense = drawn.problem._replace(rows=Gram(gram.kernel, as_rows(drawn.X), BUDGET))
    ends = [
        solve(problem, LASVM(), Stopping(tol=1e-12, max_iter=2)).W
        for problem in (drawn.problem, as_dense, with_budget(as_dense, BUDGET))
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    np.testing.assert_array_equal(ends[1], ends[2])


def test_float32_is_near_float64():
    single = kernel_problem(Hinge(), 5, n=50, dtype=np.float32, bias="free")
    assert single.problem.rows.precision == np.float32
    double = single.problem._replace(rows=Gram(Gaussian(0.3), as_rows(single.X), BUDGET))
    a = solve(single.problem, LASVM(), Stopping(tol=1e-5)).certificate  # what float32 can prove
    b = solve(double, LASVM(), Stopping(tol=1e-6)).certificate
    assert a.is_within_tol
    assert a.primal == pytest.approx(b.primal, rel=1e-5)


@pytest.mark.parametrize("bias", BIASES)
def test_a_weight_counts_as_copies_and_no_weight_as_no_row(bias):
    drawn = kernel_problem(Hinge(), 7, n=40, bias=bias, lam=0.05)
    s = np.arange(40) % 3.0
    costs = drawn.problem.costs
    weighted = make_problem(Hinge(), drawn.problem.rows, costs.Y, s, 0.05, bias)
    where = np.repeat(np.arange(40), s.astype(int))
    copies = make_problem(
        Hinge(), Gram(Gaussian(0.3), as_rows(drawn.X[where]), BUDGET), costs.Y[where], None, 0.05,
        bias,
    )  # fmt: skip
    one, other = (solve(p, LASVM(), TIGHT) for p in (weighted, copies))
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-8)
    assert not one.W[s == 0.0].any()


@pytest.mark.parametrize("bias", BIASES)
def test_models_side_by_side_take_the_steps_they_take_alone(bias):
    drawn = kernel_problem(Hinge(), 8, n=60, K=3, bias=bias, lam=0.01)
    together = epoch(drawn.problem).coefficients(drawn.problem)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = with_budget(drawn.problem._replace(costs=costs), BUDGET)
        np.testing.assert_allclose(together[:, [k]], epoch(alone).coefficients(alone), atol=1e-10)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("budget", [0, 6_000, 40_000])
def test_little_memory_takes_the_same_steps(bias, budget):
    drawn = kernel_problem(Hinge(), 9, n=60, K=2, bias=bias, lam=0.01)
    problem = with_budget(drawn.problem, budget)
    state = epoch(problem)
    if budget == 0:
        assert problem.rows.capacity == 4
        assert state.set.square is None
    B = epoch(drawn.problem).coefficients(drawn.problem)
    np.testing.assert_allclose(state.coefficients(problem), B, atol=1e-9)
    assert solve(with_budget(problem, budget), LASVM(), TIGHT).certificate.is_within_tol


def test_a_pass_computes_kernel_values_with_support_rows_only():
    n, rng = 600, np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    Y = np.where(X[:, :1] + 0.1 * rng.standard_normal((n, 1)) > 0.0, 1.0, -1.0)
    problem = make_problem(Hinge(), Gram(Gaussian(0.5), as_rows(X), BUDGET), Y, None, 1e-3, "free")
    solver = LASVM()
    state = solver.start(problem, 0, None)
    visited = 0
    while visited < n:
        visited += solver.advance(problem, state).rows_visited
    largest = state.set.m + 60  # rows come and go; a block has a few dozen
    assert problem.rows.evaluations < n * largest < n * n / 3


@pytest.mark.parametrize("bias", BIASES)
def test_warm_starts_go_on_from_any_expansion(bias):
    drawn = kernel_problem(Hinge(), 10, n=60, K=2, weighted=True, bias=bias, lam=0.02)
    first = solve(drawn.problem, Decomposition(), TIGHT)
    second = solve(with_budget(drawn.problem, BUDGET), LASVM(), TIGHT, previous=first.state)
    assert second.certificate.epochs == 1
    tighter = with_budget(
        drawn.problem._replace(lam=0.1), 0
    )  # bounds are a fifth of what they were
    third = solve(tighter, LASVM(), TIGHT, previous=second.state)
    assert third.certificate.is_within_tol


def test_a_run_can_be_stored_and_goes_on():
    drawn = kernel_problem(Hinge(), 11, n=60, bias="free", lam=0.01)
    state = epoch(drawn.problem, LASVM(tau=0.1))
    copy = pickle.loads(pickle.dumps(state))
    np.testing.assert_array_equal(
        copy.coefficients(drawn.problem), state.coefficients(drawn.problem)
    )
    estimate = np.inf
    for _ in range(400):
        step = LASVM().advance(drawn.problem, copy)
        estimate = step.estimate if step.ends_epoch else estimate
    assert estimate < 1e-6


@pytest.mark.parametrize("y", [[1.0, 1.0, 1.0, 1.0], [-1.0, -1.0, -1.0, -1.0]])
def test_one_class_alone_has_a_perfect_bias(y):
    exact = Stopping(tol=1e-9, max_iter=5, wish=1e-9, wish_epochs=5)  # the bias to the last bit
    solution = solve(precomputed(np.eye(4), y, 0.1, "free"), LASVM(), exact)
    assert solution.certificate.relative_gap == 0.0
    assert not solution.W.any()
    assert solution.b[0] * y[0] >= 1.0


@pytest.mark.parametrize("bias", BIASES)
def test_rows_of_zeros_and_equal_rows_are_no_trouble(bias):
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [-2.0]])
    Y = np.array([[1.0], [-1.0], [1.0], [1.0], [-1.0], [1.0], [-1.0]])
    problem = make_problem(Hinge(), Gram(Linear(), as_rows(X), BUDGET), Y, None, 0.1, bias)
    assert solve(problem, LASVM(), TIGHT).certificate.is_within_tol


def test_kernels_of_the_users_own_and_given_matrices():
    drawn = kernel_problem(Hinge(), 12, n=40, bias="free")
    K, X = whole_matrix(drawn), sparse.csr_array(drawn.X)
    grams = [
        Gram(Precomputed(), as_rows(K), BUDGET),
        Gram(Custom(lambda A, B: rbf_kernel(A, B, gamma=0.3)), as_rows(drawn.X), BUDGET),
        Gram(Custom(lambda A, B: rbf_kernel(A, B, gamma=0.3)), as_rows(X), BUDGET),
    ]
    best = solve(drawn.problem, LASVM(), TIGHT).certificate.primal
    for gram in grams:
        found = solve(drawn.problem._replace(rows=gram), LASVM(), TIGHT).certificate
        assert found.is_within_tol
        assert found.primal == pytest.approx(best, rel=1e-8)


def test_limits_end_a_run_with_a_model():
    drawn = kernel_problem(Hinge(), 13, n=60, bias="free", lam=1e-3)
    solution = solve(drawn.problem, LASVM(), Stopping(tol=1e-12, max_iter=1))
    assert solution.outcome is Outcome.EPOCHS
    assert 0.0 < solution.certificate.relative_gap < np.inf


@pytest.mark.fast
def test_refusals():
    with pytest.raises(InvalidParameter, match="finishing must be True or False; got 'no'"):
        LASVM(finishing="no").check()
    with pytest.raises(InvalidParameter, match="tau must be a positive number; got 0"):
        LASVM(tau=0).check()
    problem = kernel_problem(SquaredHinge(), 0).problem
    with pytest.raises(InvalidParameter, match='is for loss="hinge"; got loss=SquaredHinge'):
        LASVM().start(problem, 0, None)
