"""The kernel matrix of dense rows that are mostly zeros: products of compressed rows."""

import numpy as np
import pytest

from pegasos.data.rows import CsrRows, DenseRows, as_rows, stored_bytes
from pegasos.kernel_matrix import gram as module
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian, Laplacian
from tests.kernel_matrix.test_blocks import KERNELS, drawn, oracle
from tests.kernel_matrix.test_gram import MEGABYTE, PLENTY


def mostly_zeros(n, d, dtype):
    X = drawn(n, d=d, seed=n)
    X[np.random.default_rng(n).random(X.shape) < 0.8] = 0.0
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_rows_that_are_mostly_zeros_have_the_same_kernel_values(kernel, dtype):
    X = mostly_zeros(90, 60, dtype)
    gram, K = Gram(kernel, as_rows(X), PLENTY), oracle(kernel, X, X)
    assert isinstance(gram.side.rows, CsrRows) != isinstance(kernel, Laplacian)
    size = np.abs(K).max()
    tolerance = dict(rtol=0.0, atol=100 * size * np.finfo(dtype).eps)
    np.testing.assert_allclose(gram.store[gram.hold(np.arange(90))], K, **tolerance)
    np.testing.assert_allclose(gram.square_block(np.arange(5, 85)), K[5:85, 5:85], **tolerance)


def test_the_compressed_copy_is_part_of_the_budget(monkeypatch):
    monkeypatch.setattr(module, "TILE_VALUES", 1000)
    X = mostly_zeros(2_000, 60, np.float64)
    gram = Gram(Gaussian(0.1), as_rows(X), 4 * MEGABYTE)
    copied, row = stored_bytes(gram.side.rows), 8 * 2_000
    assert copied > 5 * row
    assert 10 < gram.capacity < gram.n
    monkeypatch.setattr(module, "stored_bytes", lambda rows: 0)
    uncounted = Gram(Gaussian(0.1), as_rows(X), 4 * MEGABYTE)
    assert uncounted.capacity - gram.capacity == pytest.approx(copied / row, abs=1.0)


def test_rows_stay_dense_where_the_copy_would_take_much_of_the_budget():
    X = mostly_zeros(500, 50, np.float64)
    gram = Gram(Gaussian(0.1), as_rows(X), 300_000)
    assert isinstance(gram.side.rows, DenseRows)
