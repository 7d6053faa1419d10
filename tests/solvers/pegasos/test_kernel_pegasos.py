"""Kernel Pegasos: steps by hand, the transcription of the paper, outputs, samplings, stores."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from pegasos.certificate.stopping import Stopping
from pegasos.data.order import SAMPLINGS
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Linear, Precomputed
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, slope
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal import run as primal
from pegasos.solvers.responses.responses import FREE_SCALE
from pegasos.solvers.sdca.kernel import KernelSDCA
from tests.reference import kernel_pegasos as reference
from tests.solvers.kernel_problems import (
    BUDGET,
    LOSSES,
    afresh,
    batches,
    kernel_problem,
    run_epochs,
    whole_matrix,
)


def taken(loss):
    """The reference's way to take a step on a loss."""
    if isinstance(loss, SquaredHinge):
        return reference.squared_hinge
    return reference.explicit(lambda z, y: slope(loss, float(z), float(y)))


def transcribed(drawn, epochs, bias="none"):
    """The reference on the same steps."""
    scale = FREE_SCALE if bias == "free" else drawn.problem.bias_scale
    return reference.kernel_pegasos(
        taken(drawn.problem.costs.loss), whole_matrix(drawn), drawn.y[:, 0], drawn.weights,
        drawn.lam, epochs, scale=scale, free=bias == "free",
    )  # fmt: skip


@pytest.mark.fast
def test_two_steps_worked_by_hand():
    # lam = 1/2, one row with K = 5, y = 1, twice.
    # t = 1: w_1 = 0, score 0 < 1: an error, alpha = 1. w_2 = 1/(lam 1) alpha phi = 2 phi.
    # t = 2: score 2 K = 10, no error. w_3 = 1/(lam 2) alpha phi = phi.
    gram = Gram(Precomputed(), as_rows(np.array([[5.0]])), BUDGET)
    problem = make_problem(Hinge(), gram, np.ones((1, 1)), None, 0.5)
    solver = KernelPegasos()
    state = solver.start(problem, 0, None)
    assert solver.dual_point(problem, state) is None
    solver.advance(problem, state)
    assert primal.last_weights(problem, state.path)[0] == 2.0
    assert solver.dual_point(problem, state)[:2] == (1.0, 1.0)
    solver.advance(problem, state)
    assert primal.last_weights(problem, state.path)[0] == 1.0
    assert state.path.V[0, 0] == 1.0  # alpha
    assert state.F[0, 0] == 5.0
    assert gram.evaluations == 1


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_pegasos_equals_the_transcription(loss, bias):
    for k in (1, 4, 20):
        drawn = kernel_problem(loss, k, n=20, weighted=k != 4, bias=bias)
        state, visits = run_epochs(KernelPegasos(batch_size=k), drawn.problem, 3)
        path = transcribed(drawn, batches(visits, k), bias)
        B, b = primal.last_weights(drawn.problem, state.path)
        np.testing.assert_allclose(B[:, 0], path.B, rtol=1e-9, atol=1e-12)
        assert b[0] == pytest.approx(path.b, rel=1e-9, abs=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("sampling", ["permutation", "multiset"])
def test_literal_samplings_equal_the_transcription(sampling):
    drawn = kernel_problem(Hinge(), 7, n=20, weighted=True)
    solver = KernelPegasos(batch_size=7, sampling=sampling, output="last")
    state, visits = run_epochs(solver, drawn.problem, 4)
    steps = batches(visits, 7)
    assert any(len(set(A)) < len(A) for epoch in steps for A in epoch) == (sampling == "multiset")
    path = transcribed(drawn, steps)
    B, _ = solver.iterate(drawn.problem, state)
    np.testing.assert_allclose(B[:, 0], path.B, rtol=1e-9, atol=1e-12)


@pytest.mark.fast
def test_average_equals_that_of_the_transcription():
    drawn = kernel_problem(Hinge(), 4, n=20, weighted=True)
    solver = KernelPegasos(batch_size=3, output="average")
    state, visits = run_epochs(solver, drawn.problem, 3)
    path = transcribed(drawn, batches(visits, 3))
    B, _ = solver.iterate(drawn.problem, state)
    np.testing.assert_allclose(B[:, 0], path.average, rtol=1e-9, atol=1e-14)


@pytest.mark.fast
def test_tail_is_the_dual_point_and_its_responses_are_known():
    # After 5 epochs the tail leaves out the first: its duals sum to alpha_5 - alpha_1.
    drawn = kernel_problem(Hinge(), 5, n=20, weighted=True)
    solver = KernelPegasos()
    state, visits = run_epochs(solver, drawn.problem, 5)
    late, early = (transcribed(drawn, batches(visits[:e], 1)).alpha for e in (5, 1))
    A, scale, _ = solver.dual_point(drawn.problem, state)
    np.testing.assert_allclose(scale * A[:, 0], (late - early) / 4.0, atol=1e-12)
    B = state.coefficients(drawn.problem)
    s = drawn.weights / (drawn.lam * drawn.weights.sum())
    np.testing.assert_allclose(B[:, 0], s * (late - early) / 4.0, atol=1e-12)
    assert solver.iterate(drawn.problem, state) is None


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_pegasos_is_certified_close_to_the_optimum(loss, bias):
    drawn = kernel_problem(loss, 6, n=60, bias=bias, weighted=True)
    found = solve(drawn.problem, KernelPegasos(), Stopping(tol=1e-2, max_iter=20_000))
    assert found.certificate.relative_gap <= 1e-2
    exact = solve(drawn.problem, KernelSDCA(), Stopping(tol=1e-9, max_iter=20_000)).certificate
    assert found.certificate.dual <= exact.primal * (1 + 1e-12)
    assert exact.dual <= found.certificate.primal * (1 + 1e-12)


@pytest.mark.parametrize("output", ["tail", "last", "average"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_every_output_and_sampling_approaches_the_optimum(output, sampling, bias):
    drawn = kernel_problem(Hinge(), 7, weighted=True, bias=bias)
    solver = KernelPegasos(batch_size=3, output=output, sampling=sampling)
    found = solve(drawn.problem, solver, Stopping(tol=0.1, max_iter=2000)).certificate
    assert found.is_within_tol


@pytest.mark.fast
def test_a_limit_inside_the_first_epoch_leaves_a_model():
    drawn = kernel_problem(Hinge(), 8)
    solver = KernelPegasos()
    state = solver.start(drawn.problem, 0, None)
    B, b = solver.iterate(drawn.problem, state)
    assert (B == 0.0).all()
    assert (b == 0.0).all()


@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=str)
def test_linear_kernel_takes_the_steps_of_the_linear_solver(loss):
    drawn = kernel_problem(loss, 9, Linear(), weighted=True, bias="regularized")
    limits = Stopping(tol=1e-9, max_iter=30)
    for solver in ({}, {"batch_size": 7}, {"sampling": "iid"}, {"output": "average"}):
        found = solve(drawn.problem, KernelPegasos(**solver), limits, seed=2).certificate
        linear = drawn.problem._replace(rows=drawn.problem.rows.rows)
        other = solve(linear, Pegasos(**solver), limits, seed=2)
        # Certificates are made after different epochs; the last one is of the same epoch.
        assert found.primal >= other.certificate.dual
        state, _ = run_epochs(KernelPegasos(**solver), drawn.problem, 30, seed=2)
        B, b = primal.last_weights(drawn.problem, state.path)
        W, c = primal.last_weights(linear, other.state)
        np.testing.assert_allclose(drawn.X.T @ B, W, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(b, c, rtol=1e-8, atol=1e-10)


def test_csr_equals_dense_and_float32_is_near_float64():
    drawn = kernel_problem(Logistic(), 10, kind="csr", bias="regularized")
    ends = {}
    for dtype in (np.float64, np.float32):
        for container in (np.asarray, sparse.csr_array):
            rows = as_rows(container(drawn.X.astype(dtype)))
            problem = afresh(drawn.problem, rows=rows)
            state, _ = run_epochs(KernelPegasos(batch_size=2), problem, 4)
            ends[dtype, container] = primal.last_weights(problem, state.path)[0]
    exact = ends[np.float64, np.asarray]
    np.testing.assert_allclose(ends[np.float64, sparse.csr_array], exact, rtol=1e-10, atol=1e-13)
    for container in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(ends[np.float32, container], exact, rtol=1e-4, atol=1e-5)


def test_weight_of_two_is_a_row_twice_in_one_batch():
    # With all rows in one step there is no order, and a weight of 2 must be exactly a row twice.
    drawn = kernel_problem(EpsilonInsensitive(0.1), 11, n=20)
    s = np.random.default_rng(11).integers(0, 3, 20).astype(float)
    twice = np.repeat(np.arange(20), s.astype(int))
    gram = Gram(drawn.problem.rows.kernel, as_rows(drawn.X[twice]), BUDGET)
    weighted = drawn.problem.costs.loss, afresh(drawn.problem).rows, drawn.y, s, drawn.lam
    repeated = drawn.problem.costs.loss, gram, drawn.y[twice], None, drawn.lam
    ends = []
    for parts in (weighted, repeated):
        problem = make_problem(*parts)
        solver = KernelPegasos(batch_size=len(problem.costs.Y))
        ends.append(solve(problem, solver, Stopping(tol=1e-12, max_iter=50)).certificate)
    assert ends[0].primal == pytest.approx(ends[1].primal, rel=1e-9)
    assert ends[0].dual == pytest.approx(ends[1].dual, rel=1e-9)
    assert not ((weighted[1].slot_of >= 0) & (s == 0.0)).any()


def test_models_side_by_side_equal_models_alone():
    drawn = kernel_problem(Hinge(), 12, K=3, kind="csr", bias="free")
    for solver in (KernelPegasos(batch_size=2, output="average"), KernelPegasos()):
        state, _ = run_epochs(solver, drawn.problem, 3, seed=5)
        together, b = solver.iterate(drawn.problem, state)
        for k in range(3):
            costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
            alone = drawn.problem._replace(costs=costs)
            state_k, _ = run_epochs(solver, alone, 3, seed=5)
            B_k, b_k = solver.iterate(alone, state_k)
            np.testing.assert_allclose(B_k[:, 0], together[:, k], rtol=1e-9, atol=1e-12)
            assert b_k[0] == pytest.approx(b[k], rel=1e-9)


@pytest.mark.parametrize("capacity", [4, 7, 10])
@pytest.mark.parametrize("options", [{}, {"batch_size": 15}, {"sampling": "iid"}], ids=str)
def test_tiny_store_gives_the_same_answer(capacity, options):
    # 15 rows to a step: more than a store of 10 holds at a time.
    drawn = kernel_problem(Hinge(), 13, K=2, n=40, bias="free")
    solver = KernelPegasos(**options)
    large, _ = run_epochs(solver, drawn.problem, 5)
    small = afresh(drawn.problem, capacity)
    state, _ = run_epochs(solver, small, 5)
    np.testing.assert_allclose(state.path.V, large.path.V, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.F, large.F, rtol=1e-9, atol=1e-12)
    assert small.rows.evaluations > drawn.problem.rows.evaluations


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_same_seed_gives_the_same_bits(sampling):
    drawn = kernel_problem(Hinge(), 14, weighted=True, bias="free")
    solver, limits = KernelPegasos(batch_size=3, sampling=sampling), Stopping(tol=1e-9, max_iter=20)
    first, again, other = (
        solve(afresh(drawn.problem), solver, limits, seed=seed).W for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_estimate_is_the_gap_that_a_certificate_proves():
    for bias in ("none", "regularized"):
        for loss in (Hinge(), EpsilonInsensitive(0.1)):
            drawn = kernel_problem(loss, 15, K=2, weighted=True, bias=bias)
            solver = KernelPegasos()
            state = solver.start(drawn.problem, 0, None)
            estimate = [solver.advance(drawn.problem, state).estimate for _ in range(6)][-1]
            proven = solve(drawn.problem, solver, Stopping(tol=1e-12, max_iter=6)).certificate
            # A certificate measures a gap against the best dual value of all epochs.
            assert estimate == pytest.approx(proven.relative_gap, rel=0.2)


def test_objective_agrees_with_scikit_learn():
    drawn = kernel_problem(Hinge(), 16, n=80, bias="free")
    found = solve(drawn.problem, KernelPegasos(), Stopping(tol=1e-3, max_iter=20_000)).certificate
    K = whole_matrix(drawn)
    peer = SVC(C=1.0 / (drawn.lam * 80), kernel="precomputed", tol=1e-10).fit(K, drawn.y[:, 0])
    dual = np.zeros(80)
    dual[peer.support_] = peer.dual_coef_[0]
    z = K @ dual + peer.intercept_[0]
    objective = 0.5 * drawn.lam * dual @ K @ dual + np.maximum(0.0, 1.0 - drawn.y[:, 0] * z).mean()
    assert found.dual <= objective * (1 + 1e-9)
    assert found.primal <= objective * (1 + 1e-3)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 to .*; got 0"),
        ({"batch_size": 2.0}, "batch_size must be a whole number .* got 2.0"),
        ({"batch_size": 31}, "batch_size must be at most the number of rows, 30; got 31"),
        ({"sampling": "random"}, 'sampling must be one of "epoch", .*, "multiset"; got \'random\''),
        ({"output": "random"}, 'output must be one of "tail", "last", "average"; got \'random\''),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        KernelPegasos(**options).start(kernel_problem(Hinge()).problem, 0, None)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("output", ["tail", "average"])
def test_warm_start_goes_on_from_any_kernel_solver(bias, output):
    drawn = kernel_problem(Hinge(), 17, n=60, bias=bias)
    solver, brief = KernelPegasos(output=output), Stopping(tol=1e-9, max_iter=2)
    cold = solve(drawn.problem, solver, brief).certificate
    for earlier in (KernelPegasos(), KernelSDCA()):
        known = solve(drawn.problem, earlier, Stopping(tol=1e-9, max_iter=400))
        warm = solve(afresh(drawn.problem), solver, brief, previous=known.state).certificate
        assert warm.gap < 0.3 * cold.gap
