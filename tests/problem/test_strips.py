"""Sums in registers equal NumPy's, whatever the types, and matrices in strips hold every column."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.problem.pairs import sparse_products
from pegasos.problem.strips import LINE, STRIP, in_strips, weighted_strip

TYPES = [np.float32, np.float64]


def columns_of(strips):
    """The matrix that is held in strips."""
    return np.concatenate([*strips.full, strips.rest], axis=1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("q", [1, 2, 23, 24, 25, 47, 48, 49, 240])
def test_strips_hold_every_column(q, dtype):
    rows = np.random.default_rng(q).standard_normal((q, 7)).astype(dtype)
    strips = in_strips(rows)
    np.testing.assert_array_equal(columns_of(strips), rows.T)
    assert len(strips.full) == 0 or strips.full.ctypes.data % LINE == 0
    assert strips.full.shape[2] * strips.full.itemsize == STRIP
    assert strips.rest.shape[1] * strips.rest.itemsize < STRIP


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("of_values", [np.float32, np.float64, np.int8, np.uint16])
@pytest.mark.parametrize("of_indices", [np.int32, np.int64])
@pytest.mark.parametrize("q", [1, 50, 130])
def test_sparse_products_equal_those_of_dense_matrices(q, of_indices, of_values, dtype):
    rng = np.random.default_rng(q)
    right = np.where(rng.random((30, 11)) < 0.4, rng.integers(1, 9, (30, 11)), 0)
    right[[0, 7, 29]] = 0  # empty rows
    X = sparse.csr_array(right.astype(of_values))
    X.indices, X.indptr = X.indices.astype(of_indices), X.indptr.astype(of_indices)
    left = rng.standard_normal((q, 11)).astype(dtype)
    columns = rng.permutation(30)[:20]
    out = np.full((20, q), np.nan, dtype=dtype)
    sparse_products(in_strips(left), as_rows(X), columns, out)
    expected = right[columns].astype(np.float64) @ left.astype(np.float64).T
    np.testing.assert_allclose(out, expected, rtol=100 * np.finfo(dtype).eps, atol=1e-5)


def test_a_strip_of_sums_writes_nothing_beyond_its_end():
    strip = in_strips(np.ones((STRIP // 8, 3))).full[0]
    out = np.full(STRIP // 8 + 4, -7.0)
    x, chosen = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1], dtype=np.uint32)
    weighted_strip(strip, x, chosen, 1, 3, out)
    np.testing.assert_array_equal(out[:-4], 6.0)
    np.testing.assert_array_equal(out[-4:], -7.0)
