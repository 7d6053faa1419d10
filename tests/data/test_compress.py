"""Dense rows in compressed form: the same values, and only where it pays."""

import numpy as np
import pytest

from pegasos.data import compress
from pegasos.data.compress import compressed
from pegasos.data.rows import as_rows
from pegasos.problem.pairs import matrix

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
