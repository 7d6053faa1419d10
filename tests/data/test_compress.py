"""Dense rows in compressed form: the same values, and only where it pays."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos.data import compress
from pegasos.data.compress import compressed, quickest
from pegasos.data.rows import CsrRows, DenseRows, as_rows, stored_bytes
from pegasos.kernel_matrix.side import matrix

PLENTY = 1 << 30


def mostly_zeros(n=50, d=20, share=0.2, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < share, rng.integers(1, 100, (n, d)), 0)
    X[[0, n - 1]] = 0
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16])
def test_compressed_rows_are_the_same_rows(dtype, monkeypatch):
    monkeypatch.setattr(compress, "ROWS", 7)  # many parts
    X = mostly_zeros(dtype=dtype)
    rows = compressed(as_rows(X), 0.5, PLENTY)
    assert rows.data.dtype == dtype
    assert len(rows.data) == np.count_nonzero(X)
    np.testing.assert_array_equal(matrix(rows, slice(None)).toarray(), X)


def test_rows_stay_dense_where_too_many_values_are_not_0():
    X = mostly_zeros()
    share = np.count_nonzero(X) / X.size
    assert compressed(as_rows(X), 1.01 * share, PLENTY) is not None
    assert compressed(as_rows(X), 0.99 * share, PLENTY) is None


def test_rows_stay_dense_where_the_copy_does_not_fit():
    X = mostly_zeros()
    needed = 12 * np.count_nonzero(X) + 16 * (len(X) + 1)
    assert compressed(as_rows(X), 1.0, needed) is not None
    assert compressed(as_rows(X), 1.0, needed - 1) is None


@pytest.mark.parametrize("view", [np.asfortranarray, lambda X: X[::2], lambda X: X[:, :0]])
def test_rows_stay_dense_where_they_are_not_contiguous_or_empty(view):
    assert compressed(as_rows(view(mostly_zeros())), 1.0, PLENTY) is None


def test_a_look_at_some_rows_saves_a_pass_over_dense_ones(monkeypatch):
    monkeypatch.setattr(compress, "count_nonzeros", None)  # not called
    assert compressed(as_rows(np.ones((1000, 300))), 0.3, PLENTY) is None


@pytest.mark.parametrize(("dtype", "share"), [(np.float64, 0.15), (np.uint8, 0.04)])
def test_wide_rows_of_zeros_are_compressed_into_a_quarter_of_their_memory(dtype, share):
    X = mostly_zeros(40, 1000, share, dtype)
    rows = quickest(as_rows(X))
    assert isinstance(rows, CsrRows)
    assert stored_bytes(rows) <= 0.25 * X.nbytes
    assert isinstance(quickest(as_rows(mostly_zeros(40, 1000, 1.3 * share, dtype))), DenseRows)


def test_narrow_rows_and_csr_rows_stay_as_they_are():
    narrow, sparse_rows = as_rows(mostly_zeros(40, 200, 0.05)), as_rows(csr_array(np.eye(500)))
    assert quickest(narrow) is narrow
    assert quickest(sparse_rows) is sparse_rows


def test_small_rows_are_read_row_by_row(monkeypatch):
    X = np.asfortranarray(mostly_zeros())
    rows = quickest(as_rows(X))
    assert rows.X.flags.c_contiguous
    np.testing.assert_array_equal(rows.X, X)
    monkeypatch.setattr(compress, "SMALL", X.nbytes - 1)
    assert np.shares_memory(quickest(as_rows(X)).X, X)
