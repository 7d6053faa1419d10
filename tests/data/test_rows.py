"""Row containers: every kind of array answers alike, without a copy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from pegasos.data.rows import (
    CsrRows,
    DenseRows,
    add,
    add_scaled,
    all_scores,
    as_rows,
    float_type,
    is_sparse,
    room_for,
    scores,
    shape,
    square_norm,
    square_norms,
    stored_bytes,
    stored_values,
)
from pegasos.problem.objective import Weights, add_combination, blocks

TYPES = [np.float32, np.float64, np.int8, np.uint8, np.int32, np.bool_]


def strided(X):
    wide = np.zeros((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[:, ::2] = X
    return wide[:, ::2]


def csr(X, kind=sparse.csr_array, index=np.int32):
    matrix = kind(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def with_gaps(matrix):
    """The same CSR matrix in arrays that are every other value of larger ones."""
    arrays = []
    for array in (matrix.data, matrix.indices, matrix.indptr):
        wide = np.full(2 * len(array), 77, dtype=array.dtype)
        wide[::2] = array
        arrays.append(wide[::2])
    odd = type(matrix)(matrix.shape, dtype=matrix.dtype)
    odd.data, odd.indices, odd.indptr = arrays
    return odd


CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "csr_array": csr,
    "csr_matrix": lambda X: csr(X, sparse.csr_matrix),
    "csr int64": lambda X: csr(X, index=np.int64),
    "csr with gaps": lambda X: with_gaps(csr(X)),
}


def numbers(dtype, n=7, d=5, seed=0):
    """Rows with zeros in them, an empty row and a column of zeros."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(-9, 10, (n, d)) * (rng.random((n, d)) < 0.6)).astype(np.float64)
    if np.dtype(dtype).kind == "f":
        X /= 7.0
    X[n // 2], X[:, d // 2] = 0.0, 0.0
    return (X != 0 if dtype == np.bool_ else np.abs(X) if dtype == np.uint8 else X).astype(dtype)


def answers(rows, K):
    """All that a container can be asked, in compiled code."""
    n, d = shape(rows)
    rng = np.random.default_rng(1)
    W, A = rng.standard_normal((d, K)), rng.standard_normal((n, K))
    Z, squares, sums = np.empty((n, K)), np.empty(n), np.zeros((d, K))
    flat = [W[:, 0].copy(), sums[:, 0]] if K == 1 else [W, sums]
    all_scores(rows, 0, n, flat[0], Z)
    square_norms(rows, 0, n, squares)
    add_combination(rows, Weights(np.ones(1), 0), 0, n, A, flat[1])
    return Z, squares, sums


def expected_answers(X, K):
    n, d = X.shape
    X = X.astype(np.float64)
    rng = np.random.default_rng(1)
    W, A = rng.standard_normal((d, K)), rng.standard_normal((n, K))
    return X @ W, (X * X).sum(axis=1), X.T @ A


@pytest.mark.parametrize(
    ("container", "dtype", "K"),
    [
        *((container, np.float64, 1) for container in CONTAINERS),
        *((container, np.float32, 1) for container in ("C", "csr_array")),
        *((container, np.float64, 3) for container in ("C", "csr_array")),
    ],
)
def test_rows_answer_as_numpy_does(container, dtype, K):
    X = numbers(dtype)
    for found, expected in zip(
        answers(as_rows(CONTAINERS[container](X)), K), expected_answers(X, K), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "csr_array"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.bool_])
def test_rows_of_integers_and_booleans_do_not_wrap_around(container, dtype):
    X = numbers(dtype)
    if dtype in (np.int8, np.uint8):
        X[0, 0] = np.iinfo(dtype).max  # its square is beyond the type
    for found, expected in zip(
        answers(as_rows(CONTAINERS[container](X)), 1), expected_answers(X, 1), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("container", ["C", "csr_array"])
def test_square_norms_of_float32_are_summed_in_float64(container):
    X = np.array([[1.0 / 3.0, 1e25, 0.0], [1.0 / 3.0, 0.0, 1.0]], dtype=np.float32)
    squares = np.empty(2)
    square_norms(as_rows(CONTAINERS[container](X)), 0, 2, squares)
    np.testing.assert_allclose(squares, (X.astype(np.float64) ** 2).sum(axis=1), rtol=1e-15)


@pytest.mark.fast
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (6, 1), (3, 3)])
def test_rows_of_any_shape_agree_dense_and_sparse(n, d):
    X = np.round(np.random.default_rng(n + d).standard_normal((n, d)))
    for kind in (np.ascontiguousarray, csr):
        rows = as_rows(kind(X))
        assert shape(rows) == (n, d)
        for found, expected in zip(answers(rows, 1), expected_answers(X, 1), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.fast
@given(
    X=arrays.arrays(
        np.float64,
        arrays.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e3]),
    )
)
def test_rows_csr_and_dense_agree(X):
    for dense, sparse_one in zip(answers(as_rows(X), 1), answers(as_rows(csr(X)), 1), strict=True):
        np.testing.assert_allclose(dense, sparse_one, rtol=1e-13, atol=1e-13)


@pytest.mark.fast
def test_single_answers_agree_with_those_for_all_rows():
    X = numbers(np.float64)
    w = np.arange(5.0)
    for rows in (as_rows(X), as_rows(csr(X))):
        z, v = np.empty(1), np.ones(5)
        scores(rows, 2, w, z)
        assert z[0] == pytest.approx(X[2] @ w)
        add(rows, 2, np.array([-2.0]), v)
        np.testing.assert_allclose(v, 1.0 - 2.0 * X[2])
        assert square_norm(rows, 2) == pytest.approx(X[2] @ X[2])


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_rows_are_added_coordinate_by_coordinate(dtype):
    X = numbers(dtype)
    B, c = np.random.default_rng(2).random((5, 3)), np.array([1.0, -2.0, 0.5])
    for rows in (as_rows(X), as_rows(csr(X))):
        v, V = np.ones(5), np.ones((5, 3))
        add_scaled(rows, 2, c[:1], B[:, 0].copy(), v)
        add_scaled(rows, 2, c, B, V)
        np.testing.assert_allclose(V, 1.0 + c * B * X[2].astype(np.float64)[:, None])
        np.testing.assert_allclose(v, V[:, 0])


@pytest.mark.fast
@pytest.mark.parametrize("container", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", TYPES)
def test_dense_rows_share_the_memory_of_x_and_cannot_write(container, dtype):
    X = CONTAINERS[container](numbers(dtype))
    rows = as_rows(X)
    assert isinstance(rows, DenseRows)
    assert np.shares_memory(rows.X, X)
    assert not rows.X.flags.writeable
    assert X.flags.writeable
    assert rows.X.strides == X.strides


@pytest.mark.fast
@pytest.mark.parametrize("container", ["csr_array", "csr_matrix", "csr int64"])
@pytest.mark.parametrize("dtype", TYPES)
def test_sparse_rows_share_the_memory_of_x_and_cannot_write(container, dtype):
    X = CONTAINERS[container](numbers(dtype))
    rows = as_rows(X)
    assert isinstance(rows, CsrRows)
    assert is_sparse(X)
    for mine, theirs in ((rows.data, X.data), (rows.indices, X.indices), (rows.indptr, X.indptr)):
        assert np.shares_memory(mine, theirs)
        assert not mine.flags.writeable
        assert theirs.flags.writeable
    assert rows.indices.dtype == np.dtype(f"u{X.indices.itemsize}")


def test_read_only_memory_map_is_the_same_type_to_a_kernel(tmp_path):
    X = numbers(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    rows = as_rows(mapped)
    assert type(rows.X) is np.ndarray
    before = len(getattr(all_scores, "signatures", []))
    for found, expected in zip(answers(rows, 1), answers(as_rows(X), 1), strict=True):
        assert np.array_equal(found, expected)
    assert len(getattr(all_scores, "signatures", [])) <= before + 1


@pytest.mark.fast
def test_sizes_and_types_are_told():
    X = numbers(np.float32)
    dense, compressed = as_rows(X), as_rows(csr(X))
    assert stored_values(dense) == 35
    assert stored_values(compressed) == np.count_nonzero(X)
    assert stored_bytes(dense) == 140
    assert stored_bytes(compressed) == 8 * np.count_nonzero(X) + 4 * 8
    assert float_type(dense) == float_type(compressed) == np.float32
    for dtype in (np.float64, np.int8, np.bool_):
        assert float_type(as_rows(numbers(dtype))) == np.float64


@pytest.mark.fast
@given(n=st.integers(1, 60), d=st.integers(1, 9), values=st.integers(1, 200))
def test_blocks_cover_every_row_once(n, d, values):
    X = np.ones((n, d))
    for rows in (as_rows(X), as_rows(csr(X)), as_rows(csr(0.0 * X))):
        parts = blocks(rows, values)
        assert [i for start, stop in parts for i in range(start, stop)] == list(range(n))
        width = max(1, stored_values(rows) // n)
        assert all((stop - start) * width <= max(values, width) for start, stop in parts)


@pytest.mark.parametrize(("height", "K"), [(0, 1), (1, 1), (5, 3), (7, 20)])
def test_room_for_weights_is_zero_and_begins_a_line_of_memory(height, K):
    W = room_for(height, K)
    assert W.shape == (height, K)
    assert W.flags.c_contiguous
    assert not W.any()
    assert W.ctypes.data % 64 == 0 or W.size == 0
