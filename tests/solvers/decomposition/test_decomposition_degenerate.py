"""Dual decomposition on degenerate data: it ends, and what it proves is true."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.gram import Gram
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Precomputed
from pegasos.problem.losses import EpsilonInsensitive, Hinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.decomposition.decomposition import Decomposition
from tests.solvers.decomposition.test_decomposition import QUADRATIC, TIGHT, solved
from tests.solvers.kernel_problems import BUDGET

# ---- degenerate data


def both_biases(X, y, kernel, lam, q="auto", stopping=TIGHT, loss=None):
    """Solve without and with a bias; yield the solutions."""
    for bias in ("none", "free"):
        gram = Gram(kernel, as_rows(np.asarray(X)), BUDGET)
        y = np.asarray(y, dtype=float).reshape(-1, 1)
        yield solved(make_problem(loss or Hinge(), gram, y, None, lam, bias), q, stopping)


@pytest.mark.parametrize("q", [2, 10, "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear()], ids=str)
def test_equal_rows_with_different_labels(q, dtype, kernel):
    X = np.repeat(np.random.default_rng(0).standard_normal((20, 3)), 2, axis=0).astype(dtype)
    y = np.tile([1.0, -1.0], 20)  # the best is w = 0, whose mean loss is 1
    for found in both_biases(X, y, kernel, 0.01, q, Stopping(tol=1e-5)):
        assert found.certificate.relative_gap <= 1e-5
        assert found.certificate.primal == pytest.approx(1.0, rel=1e-5)
        assert found.certificate.is_proven


@pytest.mark.parametrize("q", [2, 10, "auto"])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear(), Laplacian(1.0)], ids=str)
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_rows_that_are_all_the_same(q, kernel, constant):
    y = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
    free = None
    for free in both_biases(np.full((30, 2), constant), y, kernel, 0.1, q):
        assert free.certificate.relative_gap <= 1e-9
    assert free.certificate.primal == pytest.approx(2.0 / 3.0, rel=1e-9)  # w = 0, b = -1


@pytest.mark.parametrize("q", [2, 10, "auto"])
@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
def test_some_rows_that_are_zero(q, loss):
    X = np.random.default_rng(0).standard_normal((30, 3)) * (np.arange(30) % 2)[:, None]
    y = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
    for found in both_biases(X, y, Linear(), 0.05, q, loss=loss):
        assert found.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("q", [2, "auto"])
def test_one_row_per_class(q):
    for found in both_biases([[0.0], [1.0]], [1, -1], Gaussian(1.0), 0.1, q):
        assert found.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_all_labels_but_one_are_equal(q):
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.where(np.arange(60) == 17, 1.0, -1.0)
    for found in both_biases(X, y, Gaussian(1.0), 1e-3, q):
        assert found.certificate.relative_gap <= 1e-9
        assert found.W[17, 0] > 0.0


@pytest.mark.parametrize("q", [2, 10, "auto"])
@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("loss", QUADRATIC[:2], ids=str)
def test_penalties_from_very_strong_to_very_weak(q, C, loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, 1.0, -1.0)
    for found in both_biases(X, y, Gaussian(1.0), 1.0 / (C * 40), q, Stopping(tol=1e-4), loss):
        assert found.certificate.relative_gap <= 1e-4


@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_matrix_of_rank_one(q):
    v = np.random.default_rng(0).standard_normal(40)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    for found in both_biases(np.outer(v, v), y, Precomputed(), 0.01, q):
        assert found.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("bias", ["none", "free"])
def test_targets_within_epsilon_of_a_constant_are_fitted_by_it(bias):
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = 0.05 * np.sin(np.arange(30.0))[:, None] + (5.0 if bias == "free" else 0.0)
    gram = Gram(Gaussian(1.0), as_rows(X), BUDGET)
    found = solved(make_problem(EpsilonInsensitive(0.1), gram, y, None, 0.1, bias))
    assert found.certificate.primal == pytest.approx(0.0, abs=1e-12)
    assert found.certificate.relative_gap == 0.0
    assert not found.W.any()


@pytest.mark.parametrize("q", [2, 10, "auto"])
@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.filterwarnings("error")
def test_an_indefinite_matrix_is_noticed_and_comes_to_an_end(q, loss):
    rng = np.random.default_rng(0)
    K = rng.standard_normal((40, 40))
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    for bias in ("none", "free"):
        gram = Gram(Precomputed(), as_rows(K + K.T), BUDGET)
        problem = make_problem(loss, gram, y[:, None], None, 0.05, bias)
        found = solve(problem, Decomposition(q), Stopping(tol=1e-3, max_iter=100))
        assert gram.is_indefinite
        assert np.isfinite(found.W).all()
        assert np.isfinite(found.certificate.primal)


def test_sparse_rows_of_zeros():
    X = sparse.csr_array((20, 5))
    gram = Gram(Linear(), as_rows(X), BUDGET)
    y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)[:, None]
    found = solved(make_problem(Hinge(), gram, y, None, 0.1, "free"))
    assert found.certificate.primal == pytest.approx(1.0, rel=1e-12)
