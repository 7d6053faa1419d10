"""Sums in registers equal NumPy's, whatever the types, and matrices in strips hold every column."""

import numba
import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.products import sparse_products
from pegasos.kernel_matrix.register_sums import LINE, STRIP, in_strips
from pegasos.numba_private.register_sums import weighted_strip

PLENTY = 1000
TYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("q", [1, 2, 23, 24, 25, 47, 48, 49, 240])
def test_strips_hold_every_column_and_zeros(q, dtype):
    rows = np.random.default_rng(q).standard_normal((q, 7)).astype(dtype)
    strips = in_strips(rows, PLENTY).all
    held = np.concatenate(list(strips), axis=1)
    np.testing.assert_array_equal(held[:, :q], rows.T)
    assert not held[:, q:].any()
    assert strips.ctypes.data % LINE == 0
    assert strips.shape[2] * strips.itemsize == STRIP
    assert held.shape[1] - q < strips.shape[2]


def test_no_strips_where_they_would_take_too_much():
    rows, length = np.ones((STRIP // 8 + 1, 3)), STRIP // 8
    assert in_strips(rows, 2 * length).all.shape == (2, 3, length)
    strips = in_strips(rows, 2 * length - 1)
    assert len(strips.all) == 0
    np.testing.assert_array_equal(strips.none, rows.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("of_values", "of_indices"),
    [
        (np.float32, np.int32),
        (np.float64, np.int32),
        (np.float64, np.int64),
        (np.int8, np.int32),
        (np.uint16, np.int64),
    ],
)
@pytest.mark.parametrize("most", [0, PLENTY])
@pytest.mark.parametrize("q", [1, 48, 130])
def test_sparse_products_equal_those_of_dense_matrices(q, most, of_indices, of_values, dtype):
    rng = np.random.default_rng(q)
    right = np.where(rng.random((30, 11)) < 0.4, rng.integers(1, 9, (30, 11)), 0)
    right[[0, 7, 29]] = 0  # empty rows
    X = sparse.csr_array(right.astype(of_values))
    X.indices, X.indptr = X.indices.astype(of_indices), X.indptr.astype(of_indices)
    left = rng.standard_normal((q, 11)).astype(dtype)
    columns = rng.permutation(30)[:20]
    out = np.full((20, q), np.nan, dtype=dtype)
    sparse_products(in_strips(left, most), as_rows(X), columns, out)
    expected = right[columns].astype(np.float64) @ left.astype(np.float64).T
    np.testing.assert_allclose(out, expected, rtol=100 * np.finfo(dtype).eps, atol=1e-5)


@compiled
def sums_of(strip, x, chosen, start, stop, out):
    weighted_strip(strip, x, chosen, start, stop, out)


@pytest.mark.parametrize("sums", [weighted_strip, sums_of])
def test_a_strip_of_sums_writes_nothing_beyond_its_end(sums):
    strip = in_strips(np.ones((STRIP // 8, 3)), PLENTY).all[0]
    out = np.full(STRIP // 8 + 4, -7.0)
    x, chosen = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1], dtype=np.uint32)
    sums(strip, x, chosen, 1, 3, out)
    np.testing.assert_array_equal(out[:-4], 6.0)
    np.testing.assert_array_equal(out[-4:], -7.0)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="about compiled code")
def test_arrays_with_gaps_are_not_compiled():
    strip = in_strips(np.ones((STRIP // 8, 3)), PLENTY).all[0]
    out, x, chosen = np.zeros(STRIP // 8), np.ones(6), np.zeros(6, dtype=np.uint32)
    for arrays in ((x[::2], chosen[:3], out), (x[:3], chosen[::2], out), (x, chosen, out[::2])):
        with pytest.raises(numba.TypingError):
            sums_of(strip, *arrays[:2], 0, 3, arrays[2])
    with pytest.raises(numba.TypingError):
        sums_of(strip, x, chosen, 0, 3, out.astype(np.float32))


def test_few_rows_that_are_wide_take_no_strip():
    d = (1 << 20) // STRIP + 1
    assert len(in_strips(np.ones((2, d), dtype=np.float32), PLENTY).all) == 0
    assert len(in_strips(np.ones((20, d), dtype=np.float32), PLENTY).all) == 1
    assert len(in_strips(np.ones((2, d - 1), dtype=np.float32), PLENTY).all) == 1
