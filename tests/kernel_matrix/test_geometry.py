"""The space of weights: a linear kernel tells the same as the rows, any kernel the same as K."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.problem.geometry import SAMPLED_ROWS, geometry, square_norm_of
from pegasos.problem.kernels import Gaussian, Linear, Precomputed
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from tests.kernel_matrix.test_blocks import KERNELS, drawn, oracle

pytestmark = pytest.mark.fast

PLENTY = 100 << 20


def expansions(n=25, K=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, K)) * (rng.random((n, 1)) < 0.6)


def gram_of(X, kernel=None):
    return Gram(kernel or Linear(), as_rows(X), PLENTY)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_scores_and_norms_are_those_of_the_kernel_matrix(kernel):
    X, B = drawn(25), expansions()
    K, gram = oracle(kernel, X, X), gram_of(X, kernel)
    Z = np.full_like(B, np.nan)
    geometry(gram).write_scores(B, Z)
    np.testing.assert_allclose(Z, K @ B, rtol=1e-11, atol=1e-11)
    squares = np.diag(B.T @ K @ B)
    for scores in (None, Z):
        np.testing.assert_allclose(geometry(gram).square_norms(B, scores), squares, rtol=1e-10)
    V = expansions(seed=1)
    found = geometry(gram).distances(B, V, Z)
    expected = squares, np.diag(V.T @ K @ V), np.diag((B - V).T @ K @ (B - V))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_linear_kernel_tells_the_same_as_the_rows(container):
    X, B, V = drawn(25), expansions(), expansions(seed=1)
    rows, gram = as_rows(container(X)), gram_of(container(X))
    Z, of_rows = np.empty((25, 3)), np.empty((25, 3))
    geometry(gram).write_scores(B, Z)
    geometry(rows).write_scores(X.T @ B, of_rows)
    np.testing.assert_allclose(Z, of_rows, atol=1e-11)
    mine, theirs = geometry(gram).distances(B, V, Z), geometry(rows).distances(X.T @ B, X.T @ V, Z)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    point = expansions(K=1, seed=2)[:, 0]
    for a, b in (
        (square_norm_of(geometry(gram), point), square_norm_of(geometry(rows), X.T @ point)),
        (
            point @ geometry(gram).functional(B, Z),
            X.T @ point @ geometry(rows).functional(X.T @ B, Z),
        ),
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    push, ends = np.array([1.0, -0.5, 0.0]), []
    for where, weights in ((gram, point), (rows, X.T @ point)):
        moved = np.zeros((25, 3))
        geometry(where).push_scores(weights, square_norm_of(geometry(where), weights), push, moved)
        ends.append(moved)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-7, atol=1e-7)


def test_the_same_weights_are_at_distance_0():
    gram, B = gram_of(drawn(25)), expansions()
    Z = np.empty_like(B)
    geometry(gram).write_scores(B, Z)
    square, same, distance = geometry(gram).distances(B, B, Z)
    assert square is same
    assert distance.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_combination_of_a_dual_point_is_its_expansion(weighted):
    X, rng = drawn(25), np.random.default_rng(0)
    s = rng.integers(0, 3, 25).astype(float) if weighted else None
    Y = np.where(rng.random((25, 2)) < 0.5, 1.0, -1.0)
    A = rng.random((25, 2)) * Y
    kernelized = make_problem(Hinge(), gram_of(X), Y, s, 0.1)
    linear = make_problem(Hinge(), as_rows(X), Y, s, 0.1)
    B = geometry(kernelized.rows).combination(kernelized, A)
    weights = np.ones(25) if s is None else s
    np.testing.assert_allclose(B, weights[:, None] * A / (0.1 * weights.sum()), rtol=1e-14)
    np.testing.assert_allclose(X.T @ B, geometry(linear.rows).combination(linear, A), atol=1e-12)


def test_coefficients_are_kept_in_float64_and_features_in_the_precision_of_the_data():
    X, W = drawn(7).astype(np.float32), expansions(7)
    assert geometry(gram_of(X)).as_stored(W) is W
    assert geometry(as_rows(X.astype(float))).as_stored(W) is W
    np.testing.assert_array_equal(geometry(as_rows(X)).as_stored(W), W.astype(np.float32))


def test_the_typical_point_is_the_mean_of_rows_that_the_expansion_uses():
    gram, B = gram_of(drawn(25)), expansions()
    used = B.any(axis=1)
    assert 0 < used.sum() < 25
    np.testing.assert_allclose(geometry(gram).typical_point(B), used / used.sum(), rtol=1e-14)
    assert not geometry(gram).typical_point(np.zeros_like(B)).any()  # no row: the origin
    many = Gram(Linear(), as_rows(drawn(2000)), PLENTY)
    mean = geometry(many).typical_point(np.ones((2000, 1)))
    assert mean.sum() == pytest.approx(1.0)
    assert SAMPLED_ROWS <= np.count_nonzero(mean) < 2 * SAMPLED_ROWS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("has_point", [True, False])
def test_distances_in_the_space_of_a_kernel_are_not_shortened_by_rounding(dtype, has_point):
    X = (3.0 + drawn(40)).astype(dtype)
    gram = gram_of(X, Gaussian(0.3))
    K = oracle(Gaussian(0.3), X, X)
    point = geometry(gram).typical_point(np.ones((40, 1)))
    square = square_norm_of(geometry(gram), point) if has_point else 4.0
    exact = np.sqrt(1.0 - 2.0 * K @ point + point @ K @ point) if has_point else np.sqrt(5.0)
    Z = np.zeros((40, 2))
    geometry(gram).push_scores(point if has_point else None, square, np.array([1.0, -2.0]), Z)
    assert np.all(Z[:, 0] >= exact * (1.0 - 1e-15))
    np.testing.assert_allclose(Z[:, 0], exact * np.ones(40), rtol=1e-4)
    np.testing.assert_allclose(Z[:, 1], -2.0 * Z[:, 0], rtol=1e-14)


def test_new_rows_are_pushed_like_those_of_the_training():
    X = drawn(25)
    gram, cross = (
        gram_of(X, Gaussian(0.3)), Cross(Gaussian(0.3), as_rows(X[:9]), as_rows(X))
    )  # fmt: skip
    point = geometry(gram).typical_point(np.ones((25, 1)))
    square, push = square_norm_of(geometry(gram), point), np.array([1.5])
    ends = []
    for rows, n in ((gram, 25), (cross, 9)):
        Z = np.zeros((n, 1))
        geometry(rows).push_scores(point, square, push, Z)
        ends.append(Z[:9])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_a_negative_square_norm_is_noticed_and_none_by_mere_rounding():
    # Cauchy-Schwarz holds, but the eigenvalue along (1, -1, -1) is -0.8.
    K = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
    gram = Gram(Precomputed(), as_rows(K), PLENTY)
    B = np.array([[1.0], [-1.0], [-1.0]])
    assert geometry(gram).square_norms(B).tolist() == [0.0]
    assert gram.is_indefinite
    flat = Gram(Precomputed(), as_rows(np.ones((3, 3)) - 1e-9 * np.eye(3)), PLENTY)
    assert geometry(flat).square_norms(np.array([[1.0], [-1.0], [0.0]])).tolist() == [0.0]
    assert not flat.is_indefinite


@pytest.mark.parametrize("far", [0.0, 10.0])
def test_rounding_makes_no_kernel_indefinite(far):
    # Pairs of equal rows, coefficients of opposite sign: w = 0, and what is left is rounding.
    X = np.repeat(far + drawn(30), 2, axis=0).astype(np.float32)
    B = np.random.default_rng(0).standard_normal((30, 20)).repeat(2, axis=0)
    B[1::2] *= -1.0
    K = oracle(Gaussian(0.3), X, X).astype(np.float32)
    for gram in (gram_of(X), gram_of(X, Gaussian(0.3)), Gram(Precomputed(), as_rows(K), PLENTY)):
        assert np.all(geometry(gram).square_norms(B) < 1e-5 * gram.diagonal.max() * 60**2)
        assert not gram.is_indefinite


@pytest.mark.filterwarnings("error")
def test_a_kernel_that_is_not_positive_semi_definite_makes_no_noise():
    gram = Gram(Precomputed(), as_rows(-np.eye(5)), PLENTY)
    Z = np.zeros((5, 1))
    geometry(gram).push_scores(np.full(5, 0.2), -0.2, np.ones(1), Z)
    assert np.isfinite(Z).all()
