"""The kernel perceptron: by hand, the transcription, the linear one, small stores, refusals."""

import pickle

import numpy as np
import pytest

from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from pegasos.problem.losses import Hinge, Logistic
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.perceptron.kernel import KernelPerceptron
from pegasos.solvers.perceptron.linear import Perceptron, handed_out
from tests.reference import perceptron as reference
from tests.reference.kernel_optimum import kernel_optimum
from tests.solvers.kernel_problems import BUDGET, afresh, kernel_problem, whole_matrix

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps

OUTPUTS = ["average", "random", "longest", "last"]
KERNELS = {
    "linear": Linear(),
    "rbf": Gaussian(0.5),
    "poly": Polynomial(0.5, 1.0, 3),
    "laplacian": Laplacian(0.3),
}


def run(problem, solver, seed=0, previous=None):
    """Run all passes; return the state and the rows in the order they were visited."""
    state, visits, is_done = solver.start(problem, seed, previous), [], False
    while not is_done:
        step = solver.advance(problem, state)
        is_done = step.is_done
        if step.ends_epoch:
            visits += list(state.order)
    return state, visits


@pytest.mark.fast
def test_errors_worked_by_hand():
    # K = [[1, 1/2], [1/2, 1]], y = (1, -1). The first row of the two errs at score 0 and is added;
    # the other then has score 1/2 times the wrong sign, and is added too: B = (1, -1).
    gram = Gram(Precomputed(), as_rows(np.array([[1.0, 0.5], [0.5, 1.0]])), BUDGET)
    problem = make_problem(Hinge(), gram, np.array([[1.0], [-1.0]]), None, 0.5)
    state, visits = run(problem, KernelPerceptron())
    assert state.coefficients(problem).tolist() == [[1.0], [-1.0]]
    assert state.F.tolist() == [[0.5], [-0.5]]
    B, _ = handed_out(state.run, "average")
    assert B[visits].tolist() == [[0.5 if visits[0] == 0 else -0.5], [0.0]]
    # The dual point: c (1, -1) is worth 2 c - c^2 / 2, most at c = 2 or, with C = 1, at c = 1.
    assert KernelPerceptron().dual_point(problem, state).A.tolist() == [[1.0], [-1.0]]


@pytest.mark.fast
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_perceptron_equals_the_transcription(output, bias, kernel):
    drawn = kernel_problem(Hinge(), 1, KERNELS[kernel], n=90, K=2, weighted=True, bias=bias)
    state, visits = run(drawn.problem, KernelPerceptron(passes=2, output=output))
    K, s = whole_matrix(drawn), drawn.weights
    scale = np.sqrt(s @ np.diag(K) / s.sum()) if bias == "free" else 0.0
    B, b = handed_out(state.run, output)
    for k in range(2):
        hypotheses, weights, errors, last = reference.perceptron(K, drawn.y[:, k], s, visits, scale)
        expected = {
            "average": reference.average(hypotheses, weights),
            "longest": reference.longest(hypotheses, weights, errors, last),
            "last": last,
        }
        if output == "random":
            pick = np.searchsorted(np.cumsum(weights), state.run.diary.time[1])
            expected["random"] = hypotheses[pick]
        np.testing.assert_allclose(B[:, k], expected[output], atol=1e-9)
        assert b[k] == pytest.approx(scale**2 * expected[output].sum(), abs=1e-8)
        np.testing.assert_allclose(state.F[:, k], K @ last, atol=1e-9)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_linear_kernel_is_the_linear_perceptron(output, bias):
    drawn = kernel_problem(Hinge(), 2, Linear(), n=150, K=2, bias=bias)
    linear = drawn.problem._replace(rows=drawn.problem.rows.rows)
    one = solve(drawn.problem, KernelPerceptron(passes=2, output=output), Stopping(), seed=3)
    other = solve(linear, Perceptron(passes=2, output=output), Stopping(), seed=3)
    np.testing.assert_allclose(drawn.X.T @ one.W, other.W, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.b, other.b, atol=1e-3)  # a free one is found to within 1e-3 tol


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_it_ends_after_its_passes_with_a_certificate_that_holds(kernel, bias):
    for seed in range(5):
        drawn = kernel_problem(
            Hinge(), seed, KERNELS[kernel], n=40, weighted=seed % 2 == 1, bias=bias
        )
        found = solve(drawn.problem, KernelPerceptron(), Stopping(tol=1e-9), seed=seed)
        assert found.outcome is Outcome.DONE
        best, _ = kernel_optimum(
            whole_matrix(drawn), drawn.y[:, 0], drawn.weights, drawn.lam, "hinge", bias
        )
        assert 0.0 < found.certificate.dual <= best * (1.0 + 1e-6)
        assert found.certificate.primal >= best * (1.0 - 1e-6)
        assert np.isfinite(found.certificate.relative_gap)


def test_kernel_values_are_those_of_errors_and_a_few_more():
    drawn = kernel_problem(Hinge(), 3, n=600, lam=0.01)
    drawn.y[:, 0] = np.where(drawn.X[:, 0] > 0.0, 1.0, -1.0)
    problem = drawn.problem._replace(costs=drawn.problem.costs._replace(Y=drawn.y))
    found = solve(problem, KernelPerceptron(output="last"), Stopping())
    errors = np.count_nonzero(found.W)
    assert errors < 200
    assert problem.rows.evaluations <= 600 * (errors + 128)


def test_csr_equals_dense_and_seeds_repeat():
    drawn = kernel_problem(Hinge(), 4, n=80, kind="csr", K=2, bias="free")
    dense = afresh(drawn.problem, rows=as_rows(drawn.X))
    ends = [
        solve(problem, KernelPerceptron(), Stopping(), seed=7).W
        for problem in (drawn.problem, dense, afresh(dense))
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ends[1], ends[2])


def test_float32_is_near_float64():
    single = kernel_problem(Hinge(), 5, n=60, dtype=np.float32)
    double = afresh(single.problem, rows=as_rows(single.X))
    a, b = (solve(p, KernelPerceptron(), Stopping()).W for p in (single.problem, double))
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_models_side_by_side_are_those_alone(output):
    drawn = kernel_problem(Hinge(), 6, n=80, K=3, bias="free")
    together = solve(drawn.problem, KernelPerceptron(output=output), Stopping())
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = afresh(drawn.problem._replace(costs=costs))
        found = solve(alone, KernelPerceptron(output=output), Stopping())
        np.testing.assert_allclose(together.W[:, [k]], found.W, rtol=1e-8, atol=1e-12)


def test_a_small_store_changes_nothing():
    drawn = kernel_problem(Hinge(), 7, n=100, K=2, bias="free")
    states = [
        run(problem, KernelPerceptron(passes=3))[0]
        for problem in (drawn.problem, afresh(drawn.problem, capacity=4))
    ]
    np.testing.assert_array_equal(states[0].run.now.W, states[1].run.now.W)


def test_a_warm_start_goes_on_from_any_expansion():
    drawn = kernel_problem(Hinge(), 8, n=60, bias="free")
    first, visits = run(drawn.problem, KernelPerceptron())
    stored = pickle.loads(pickle.dumps(first))
    again, more = run(drawn.problem, KernelPerceptron(), seed=1, previous=stored)
    scale = np.sqrt(np.mean(drawn.problem.rows.diagonal))
    *_, last = reference.perceptron(
        whole_matrix(drawn), drawn.y[:, 0], drawn.weights, visits + more, scale
    )
    np.testing.assert_allclose(again.coefficients(drawn.problem)[:, 0], last, atol=1e-9)
    found = solve(
        afresh(drawn.problem), Decomposition(), Stopping(tol=1e-6, max_iter=500), previous=again
    )
    assert found.certificate.relative_gap >= 0.0


def test_it_needs_no_positive_semi_definite_kernel():
    drawn = kernel_problem(Hinge(), 9, Sigmoid(0.5, -1.0), n=50)
    found = solve(drawn.problem, KernelPerceptron(), Stopping())
    assert found.outcome is Outcome.DONE
    assert np.all(np.isfinite(found.W))


@pytest.mark.fast
def test_refusals():
    with pytest.raises(InvalidParameter, match="passes must be a whole number from 1; got 1.5"):
        KernelPerceptron(passes=1.5).check()
    with pytest.raises(InvalidParameter, match='output must be one of "average".* got None'):
        KernelPerceptron(output=None).check()
    problem = kernel_problem(Logistic(), 0).problem
    with pytest.raises(InvalidParameter, match='is for loss="hinge"; got loss=Logistic'):
        KernelPerceptron().start(problem, 0, None)
