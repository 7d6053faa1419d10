"""Sums of rows in registers: what the plain loop finds, bit by bit, whatever the columns."""

import numba
import numpy as np
import pytest

from pegasos.numba_private.row_sums import add_to_rows, sum_rows

pytestmark = pytest.mark.fast


@numba.njit
def summed(W, x, chosen, start, stop, out):
    sum_rows(W, x, chosen, start, stop, out)


@numba.njit
def added(W, x, chosen, start, stop, c):
    add_to_rows(W, x, chosen, start, stop, c)


def drawn(K, kind):
    rng = np.random.default_rng(K)
    x = rng.standard_normal(9).astype(kind)
    chosen = rng.integers(0, 5, 9).astype(np.uint32)  # some more than once
    return rng.standard_normal((5, K)), x, chosen, rng.standard_normal(K)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 20, 26, 31, 35, 60])
def test_rows_are_summed_up_and_added_to_in_order(K, kind):
    W, x, chosen, c = drawn(K, kind)
    total, V = np.zeros(K), W.copy()
    for p in range(2, 8):
        total += np.float64(x[p]) * W[chosen[p]]
        V[chosen[p]] += c * np.float64(x[p])
    out = np.full(K, np.nan)
    summed(W, x, chosen, 2, 8, out)
    np.testing.assert_array_equal(out, total)
    added(W, x, chosen, 2, 8, c)
    np.testing.assert_array_equal(W, V)


@pytest.mark.parametrize("K", [3, 4, 20])
def test_no_rows_sum_up_to_zero_and_add_nothing(K):
    W, x, chosen, c = drawn(K, np.float64)
    V, out = W.copy(), np.full(K, np.nan)
    summed(W, x, chosen, 4, 4, out)
    added(W, x, chosen, 4, 4, c)
    np.testing.assert_array_equal(out, np.zeros(K))
    np.testing.assert_array_equal(W, V)


def test_matrices_that_do_not_lie_on_end_are_read_as_they_are():
    W, x, chosen, c = drawn(12, np.float64)
    out, V = np.empty(6), W.copy()
    summed(W[:, ::2], x, chosen, 0, 9, out)
    np.testing.assert_allclose(out, x @ W[chosen][:, ::2], rtol=1e-13)
    added(W[:, ::2], x, chosen, 0, 9, c[:6])
    np.add.at(V[:, ::2], chosen, x[:, None] * c[:6])
    np.testing.assert_allclose(W, V, rtol=1e-13)
