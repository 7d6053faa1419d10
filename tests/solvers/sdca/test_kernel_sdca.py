"""Kernel SDCA: a step by hand, the transcription, optima of every loss and bias, small stores."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian, Linear, Polynomial, Precomputed
from pegasos.problem.losses import Hinge, SquaredHinge, gain, lower, upper
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.responses.responses import FREE_SCALE
from pegasos.solvers.sdca.kernel import KernelSDCA
from pegasos.solvers.sdca.linear import SDCA
from tests.reference.kernel_sdca import kernel_sdca
from tests.solvers.kernel_problems import (
    BUDGET,
    LOSSES,
    afresh,
    kernel_problem,
    run_epochs,
    whole_matrix,
)

TIGHT = Stopping(tol=1e-9, max_iter=20_000)


@pytest.mark.fast
def test_a_step_worked_by_hand():
    # lam = 1/2, one row with K = 4, y = 1: w = a phi / lam, score 8 a, curvature q = K / lam = 8.
    # The dual a - 1/2 q a^2 has its maximum at a = 1/8, where the score is 1: the kink.
    gram = Gram(Precomputed(), as_rows(np.array([[4.0]])), BUDGET)
    problem = make_problem(Hinge(), gram, np.ones((1, 1)), None, 0.5)
    state = KernelSDCA().start(problem, 0, None)
    assert KernelSDCA().advance(problem, state).ends_epoch
    assert state.A[0, 0] == 0.125
    assert state.F[0, 0] == 1.0
    assert state.coefficients(problem)[0, 0] == 0.25
    # At the kink nothing moves: the row of the kernel matrix is not asked for again.
    used = gram.last_use.copy()
    KernelSDCA().advance(problem, state)
    np.testing.assert_array_equal(gram.last_use, used)
    assert gram.evaluations == 1


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("sampling", ["epoch", "iid"])
def test_sdca_equals_the_transcription(loss, bias, sampling):
    drawn = kernel_problem(loss, 1, n=8, d=3, weighted=True, bias=bias, lam=0.2)
    state, visits = run_epochs(KernelSDCA(sampling), drawn.problem, 3)
    # Every row has K(x, x) = 1, so a typical length is 1.
    scale = FREE_SCALE if bias == "free" else drawn.problem.bias_scale

    def box(y):
        return max(lower(loss, y), -50.0), min(upper(loss, y), 50.0)

    a = kernel_sdca(
        lambda c, y: gain(loss, float(c), float(y)), box, whole_matrix(drawn), drawn.y[:, 0],
        drawn.weights, drawn.lam, visits, scale=scale, free=bias == "free",
    )  # fmt: skip
    seen = drawn.weights > 0.0
    np.testing.assert_allclose(state.A[seen, 0], a[seen], atol=2e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("sampling", ["epoch", "iid"])
def test_sdca_reaches_the_optimum(loss, bias, sampling):
    drawn = kernel_problem(loss, 2, n=60, weighted=True, bias=bias)
    solution = solve(drawn.problem, KernelSDCA(sampling), TIGHT)
    assert solution.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_linear_kernel_has_the_objective_of_the_linear_solver(loss, bias):
    drawn = kernel_problem(loss, 3, Linear(), n=40, weighted=True, bias=bias)
    found = solve(drawn.problem, KernelSDCA(), TIGHT).certificate
    linear = drawn.problem._replace(rows=drawn.problem.rows.rows)
    other = solve(linear, SDCA(), TIGHT).certificate
    assert found.primal == pytest.approx(other.primal, rel=1e-8)


def test_csr_equals_dense_and_float32_is_near_float64():
    drawn = kernel_problem(Hinge(), 4, kind="csr", bias="free")
    ends = {}
    for dtype in (np.float64, np.float32):
        for container in (np.asarray, sparse.csr_array):
            rows = as_rows(container(drawn.X.astype(dtype)))
            solution = solve(afresh(drawn.problem, rows=rows), KernelSDCA(), Stopping(tol=1e-5))
            assert solution.certificate.is_within_tol
            ends[dtype, container] = solution.W
    exact = ends[np.float64, np.asarray]
    np.testing.assert_allclose(ends[np.float64, sparse.csr_array], exact, rtol=1e-7, atol=1e-9)
    for container in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(ends[np.float32, container], exact, atol=0.05)


def test_weight_of_two_is_a_row_twice_and_of_zero_no_row():
    drawn = kernel_problem(Hinge(), 5, n=30, bias="free")
    s = np.random.default_rng(5).integers(0, 3, 30).astype(float)
    weighted = make_problem(Hinge(), afresh(drawn.problem).rows, drawn.y, s, drawn.lam, "free")
    twice = np.repeat(np.arange(30), s.astype(int))
    gram = Gram(drawn.problem.rows.kernel, as_rows(drawn.X[twice]), BUDGET)
    repeated = make_problem(Hinge(), gram, drawn.y[twice], None, drawn.lam, "free")
    ends = [solve(problem, KernelSDCA(), TIGHT).certificate for problem in (weighted, repeated)]
    assert ends[0].primal == pytest.approx(ends[1].primal, rel=1e-8)
    asked = (weighted.rows.slot_of >= 0) & (s == 0.0)
    assert not asked.any()


def test_models_side_by_side_equal_models_alone():
    drawn = kernel_problem(Hinge(), 6, K=3, bias="free")
    together, _ = run_epochs(KernelSDCA(), drawn.problem, 4, seed=5)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone, _ = run_epochs(KernelSDCA(), drawn.problem._replace(costs=costs), 4, seed=5)
        np.testing.assert_allclose(alone.A[:, 0], together.A[:, k], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("capacity", [4, 7, 10])
def test_tiny_store_gives_the_same_answer(capacity):
    drawn = kernel_problem(Hinge(), 7, K=2, n=40, bias="free")
    large, _ = run_epochs(KernelSDCA(), drawn.problem, 6)
    small = afresh(drawn.problem, capacity)
    state, _ = run_epochs(KernelSDCA(), small, 6)
    np.testing.assert_allclose(state.A, large.A, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.F, large.F, rtol=1e-9, atol=1e-12)
    assert small.rows.evaluations > drawn.problem.rows.evaluations
    assert solve(afresh(drawn.problem, capacity), KernelSDCA(), TIGHT).certificate.is_within_tol


def test_same_seed_gives_the_same_bits():
    drawn = kernel_problem(SquaredHinge(), 8, weighted=True, bias="free")
    limits = Stopping(tol=1e-12, max_iter=5)
    first, again, other = (
        solve(afresh(drawn.problem), KernelSDCA(), limits, seed=seed).W for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_estimate_is_the_gap_that_a_certificate_proves():
    for bias in ("none", "regularized"):
        for loss in LOSSES:
            drawn = kernel_problem(loss, 9, K=2, weighted=True, bias=bias)
            solver = KernelSDCA()
            state = solver.start(drawn.problem, 0, None)
            estimate = np.nan
            for _ in range(3):
                estimate = solver.advance(drawn.problem, state).estimate
            proven = solve(drawn.problem, solver, Stopping(tol=1e-12, max_iter=3)).certificate
            assert estimate == pytest.approx(proven.relative_gap, rel=1e-6)


def test_objective_agrees_with_scikit_learn():
    drawn = kernel_problem(Hinge(), 10, Gaussian(0.3), n=80, bias="free")
    found = solve(drawn.problem, KernelSDCA(), TIGHT)
    K = whole_matrix(drawn)
    peer = SVC(C=1.0 / (drawn.lam * 80), kernel="precomputed", tol=1e-10).fit(K, drawn.y[:, 0])
    dual = np.zeros(80)
    dual[peer.support_] = peer.dual_coef_[0]
    z = K @ dual + peer.intercept_[0]
    objective = 0.5 * drawn.lam * dual @ K @ dual + np.maximum(0.0, 1.0 - drawn.y[:, 0] * z).mean()
    assert found.certificate.primal == pytest.approx(objective, rel=1e-7)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_warm_start_goes_on_from_any_kernel_solver(bias):
    drawn = kernel_problem(Hinge(), 11, Polynomial(0.5, 1.0, 2), n=60, bias=bias)
    cold = solve(drawn.problem, KernelSDCA(), Stopping(tol=1e-12, max_iter=1))
    known = [solve(drawn.problem, KernelSDCA(), TIGHT)]
    if bias != "regularized":
        known.append(solve(drawn.problem, Decomposition(), TIGHT))
    for earlier in known:
        problem = afresh(drawn.problem)
        warm = solve(problem, KernelSDCA(), Stopping(tol=1e-12, max_iter=1), previous=earlier.state)
        assert warm.certificate.gap < 1e-3 * cold.certificate.gap
    # Twice the penalty: duals are kept, and clipped where they are not feasible.
    harder = drawn.problem._replace(lam=2.0 * drawn.lam)
    assert solve(harder, KernelSDCA(), TIGHT, previous=known[-1].state).certificate.is_within_tol
