"""Blocks of kernel values: those of scikit-learn, whatever holds the rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise
from threadpoolctl import threadpool_info

from pegasos import parallel
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidData
from pegasos.kernel_matrix import blocks
from pegasos.kernel_matrix import side as sides
from pegasos.kernel_matrix.blocks import Filled, fill
from pegasos.kernel_matrix.side import left_rows, matrix, side
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

GAMMA = 0.3
KERNELS = [Linear(), Gaussian(GAMMA), Polynomial(GAMMA, 1.0, 3.0), Sigmoid(GAMMA, 0.5),
           Laplacian(GAMMA)]  # fmt: skip
ORACLES = {
    Linear: pairwise.linear_kernel,
    Gaussian: pairwise.rbf_kernel,
    Polynomial: pairwise.polynomial_kernel,
    Sigmoid: pairwise.sigmoid_kernel,
    Laplacian: pairwise.laplacian_kernel,
}
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


def csr(X, index):
    X = sparse.csr_array(X)
    return sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), X.shape)


CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "csr32": lambda X: csr(X, np.int32),
    "csr64": lambda X: csr(X, np.int64),
}


def drawn(n, d=7, seed=0, kind="float64"):
    """Rows with zeros in them, in numbers that every type holds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    if kind == "uint8":
        return rng.integers(0, 4, (n, d)).astype(np.uint8)
    return X > 0.0 if kind == "bool" else X.astype(kind)


def dense64(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def oracle(kernel, X, Z):
    """Kernel values by scikit-learn, in float64; its parameters are called the same."""
    return ORACLES[type(kernel)](dense64(X), dense64(Z), **kernel._asdict())


def block(kernel, X, Z, chosen=None, others=None, precision=np.float64):
    """Kernel values of all, or of some rows of X and Z."""
    right = side(kernel, as_rows(Z))
    left = side(kernel, as_rows(X), right)
    chosen = np.arange(X.shape[0]) if chosen is None else chosen
    out = np.full((len(chosen), Z.shape[0] if others is None else len(others)), np.nan, precision)
    fill(kernel, left, chosen, right, others, Filled(out, np.arange(len(chosen))))
    return out


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks so small that a few rows take many of them."""
    monkeypatch.setattr(sides, "LEFT_ROWS", 4)
    monkeypatch.setattr(blocks, "TILE_VALUES", 32)
    monkeypatch.setattr(blocks, "CHUNK", 16)


@pytest.fixture
def blocks_of_128(monkeypatch):
    """Make blocks and tiles an eighth as long, still with work for several threads in each."""
    monkeypatch.setattr(sides, "LEFT_ROWS", 128)
    monkeypatch.setattr(blocks, "TILE_ROWS", 1024)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(
    ("container", "kind"),
    [(container, kind) for container in CONTAINERS for kind in ("float64", "float32")]
    + [("C", "uint8"), ("csr32", "uint8"), ("F", "bool"), ("csr32", "bool")],
)
def test_blocks_equal_those_of_scikit_learn(kernel, container, kind, small_blocks):
    X, Z = (CONTAINERS[container](drawn(n, seed=n, kind=kind)) for n in (11, 19))
    precision = np.float32 if kind == "float32" else np.float64
    found = block(kernel, X, Z, precision=precision)
    tolerance = TOLERANCE[np.dtype(precision).name]
    expected = oracle(kernel, X, Z)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("left", ["C", "csr32", "csr64"])
@pytest.mark.parametrize("right", ["F", "csr32"])
def test_the_two_sides_may_be_stored_differently(kernel, left, right, small_blocks):
    X = CONTAINERS[left](drawn(9, seed=1, kind="float32"))
    Z = CONTAINERS[right](drawn(13, seed=2))
    expected = oracle(kernel, X, Z)
    np.testing.assert_allclose(block(kernel, X, Z), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(block(kernel, Z, X), expected.T, rtol=1e-6, atol=1e-6)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("container", ["C", "csr32"])
def test_some_rows_and_columns_in_any_order(kernel, container, small_blocks):
    X = CONTAINERS[container](drawn(25))
    rng = np.random.default_rng(1)
    chosen, others = rng.permutation(25)[:10], rng.integers(0, 25, 17)  # others: some twice
    places = rng.permutation(12)[:10]
    out, own = np.full((12, 17), np.nan), side(kernel, as_rows(X))
    fill(kernel, own, chosen, own, others, Filled(out, places))
    expected = oracle(kernel, X, X)[np.ix_(chosen, others)]
    np.testing.assert_allclose(out[places], expected, rtol=1e-12, atol=1e-12)
    assert np.isnan(np.delete(out, places, axis=0)).all()  # nothing else was written


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("container", ["C", "csr32"])
def test_more_rows_than_a_block_and_a_tile_hold(kernel, container, blocks_of_128):
    X = CONTAINERS[container](drawn(2 * sides.LEFT_ROWS + 3))
    Z = CONTAINERS[container](drawn(2 * blocks.TILE_ROWS + 5, seed=1))
    expected = oracle(kernel, X, Z)
    np.testing.assert_allclose(block(kernel, X, Z), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.fast
def test_wide_rows_come_in_fewer_at_a_time(monkeypatch):
    monkeypatch.setattr(sides, "LEFT_VALUES", 20)
    assert left_rows(as_rows(np.zeros((9, 7)))) == 2
    assert left_rows(as_rows(np.zeros((9, 70)))) == 1
    X = drawn(9)
    np.testing.assert_allclose(block(Linear(), X, X), X @ X.T, atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "csr32"])
@pytest.mark.parametrize("kernel", [Gaussian(GAMMA), Laplacian(GAMMA)], ids=str)
def test_float32_rows_far_from_the_origin_keep_their_distances(kernel, container):
    # ||x||^2 is some 7e8 here, where float32 is only good to 64: no trace of distances of 1.
    X = CONTAINERS[container]((1e4 + drawn(30)).astype(np.float32))
    expected = oracle(kernel, X, X)
    assert 0.01 < np.median(expected) < 0.5
    np.testing.assert_allclose(block(kernel, X, X, precision=np.float32), expected, atol=2e-6)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_ordinary_float32_rows_are_multiplied_in_float32(kernel):
    assert side(kernel, as_rows(drawn(30, kind="float32"))).precision == np.float32


@pytest.mark.fast
def test_one_side_far_from_the_origin_meets_one_that_is_not():
    X, Z = drawn(20, kind="float32"), (1e4 + drawn(20, seed=1)).astype(np.float32)
    X[:3] = Z[:3]
    expected = oracle(Gaussian(1e-4), X, Z)
    for found in (block(Gaussian(1e-4), X, Z), block(Gaussian(1e-4), Z, X).T):
        np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "csr32"])
@pytest.mark.parametrize(
    ("kernel", "length", "message"),
    [
        (Linear(), 1e200, r"values that are not finite: Linear\(\). Scale the columns of X"),
        (Polynomial(1.0, 0.0, 3.0), 1e110, r"values that are not finite: Polynomial\(gamma=1.0"),
        (Polynomial(1.0, -50.0, 0.5), 1.0, r"of fractional degree, Polynomial.* a larger coef0"),
        (Gaussian(1.0), 1e200, r"Rows are too long for a Gaussian kernel: .* = inf. Scale"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_values_that_overflow_are_refused(kernel, length, message, container):
    X = CONTAINERS[container](length * np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 2.0]]))
    with pytest.raises(InvalidData, match=message):
        block(kernel, X, X)


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "csr32"])
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_a_sigmoid_of_what_is_not_a_number_is_refused(container):
    X = CONTAINERS[container](1e200 * np.array([[1.0, 1.0], [1.0, -1.0]]))  # inf - inf
    try:
        assert np.isfinite(block(Sigmoid(1.0, 0.0), X, X)).all()  # a fused product is inf
    except InvalidData as error:
        assert "values that are not finite: Sigmoid" in str(error)  # noqa: PT017


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("container", ["C", "csr32"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("far", [0.0, 30.0])
def test_kernel_values_are_no_further_off_than_a_side_says(kernel, container, kind, far):
    X = CONTAINERS[container]((far + drawn(40)).astype(kind))
    exact = oracle(kernel, X, X)
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    own = side(kernel, as_rows(X))
    off = np.abs(block(kernel, X, X, precision=kind) - exact)
    assert np.median(off - own.error * size) <= 1e-15
    assert (off - 8.0 * own.error * size).max() <= 1e-15 * (1.0 + size.max())


# ---- kernels of the user's own


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "F", "csr32", "csr64"])
def test_a_callable_is_given_rows_as_the_user_stores_them(container, small_blocks):
    X, seen = CONTAINERS[container](drawn(11)), []

    def product(A, B):
        seen.append((sparse.issparse(A), sparse.issparse(B)))
        return A @ B.T

    others = np.array([7, 2, 2, 10])
    found = block(Custom(product), X, X, others=others)
    np.testing.assert_allclose(found, (dense64(X) @ dense64(X).T)[:, others], atol=1e-12)
    assert set(seen) == {(container.startswith("csr"),) * 2}


@pytest.mark.fast
@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: sparse.csr_array(A @ B.T),
        lambda A, B: (A @ B.T).tolist(),
        lambda A, B: (A @ B.T).astype(np.int64),
        lambda A, B: (A @ B.T) > 0.0,
    ],
    ids=["sparse", "list", "int", "bool"],
)
def test_a_callable_may_return_any_matrix_of_real_numbers(function):
    X = np.arange(6.0).reshape(3, 2)
    expected = function(X, X)
    expected = expected.toarray() if sparse.issparse(expected) else np.asarray(expected)
    np.testing.assert_array_equal(block(Custom(function), X, X), expected.astype(float))


@pytest.mark.fast
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ A.T, r"given 5 and 3 rows, a matrix of shape \(5, 3\); .* \(5, 5\)"),
        (lambda A, B: 1.0, r"it returned shape \(\). For a function of two vectors use sklearn"),
        (lambda A, B: (A @ B.T)[:, 0], r"it returned shape \(5,\)"),
        (lambda A, B: None, r"it returned shape \(\)"),
        (lambda A, B: 1j * (A @ B.T), r"must return real numbers; it returned type complex128"),
        (lambda A, B: (A @ B.T).astype(str), r"must return real numbers; it returned type <U"),
        (lambda A, B: (A @ B.T).astype(object), r"must return real numbers; .* object"),
        (lambda A, B: A @ B, r"kernel raised ValueError.* of shapes \(5, 7\) and \(3, 7\)"),
        (lambda A: A, r"kernel raised TypeError"),
        (lambda A, B: np.nan * (A @ B.T), r"values that are not finite: Custom"),
        (lambda A, B: (A @ B.T) + np.inf, r"values that are not finite: Custom"),
    ],
)
def test_a_callable_that_returns_no_kernel_values_is_refused(function, message):
    with pytest.raises(InvalidData, match=message):
        block(Custom(function), drawn(5), drawn(3, seed=1))


@pytest.mark.fast
def test_a_precomputed_block_is_a_part_of_the_matrix(small_blocks):
    K = drawn(12, d=12)
    others = np.array([11, 0, 3])
    np.testing.assert_array_equal(block(Precomputed(), K, K), K)
    np.testing.assert_array_equal(block(Precomputed(), K, K, others=others), K[:, others])


# ---- helpers and threads


@pytest.mark.fast
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_come_back_as_the_kind_of_matrix_they_were(container):
    X = CONTAINERS[container](drawn(9))
    chosen = np.array([3, 3, 8])
    some = matrix(as_rows(X), chosen)
    assert sparse.issparse(some) == container.startswith("csr")
    np.testing.assert_array_equal(dense64(some), dense64(X)[chosen])


@pytest.mark.parametrize(
    "kernel", [*KERNELS, Custom(pairwise.linear_kernel)], ids=lambda kernel: type(kernel).__name__
)
@pytest.mark.parametrize("container", ["C", "csr32"])
def test_blocks_do_not_depend_on_the_number_of_threads(
    kernel, container, blocks_of_128, monkeypatch
):
    X = CONTAINERS[container](drawn(3 * blocks.TILE_ROWS + 1))
    chosen, found = np.arange(sides.LEFT_ROWS + 10), []
    for count in (1, 2, 5):
        monkeypatch.setattr(parallel, "cores", lambda count=count: count)
        monkeypatch.setattr(parallel, "_pools", {})
        found.append(block(kernel, X, X, chosen))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.fast
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_blas_has_its_threads_back_afterwards():
    before = [pool["num_threads"] for pool in threadpool_info()]
    block(Linear(), drawn(30), drawn(30))
    with pytest.raises(InvalidData):
        block(Linear(), 1e200 * drawn(30), 1e200 * drawn(30))
    assert [pool["num_threads"] for pool in threadpool_info()] == before
