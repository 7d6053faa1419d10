"""The two loops of SMO: the same over all rows as over a list of them."""

import re

import numba
import numpy as np
import pytest

from pegasos.dispatch import compiled
from pegasos.solvers.decomposition import partner_search as search


@compiled
def partners(row, i, diagonal, r, up, down, active):
    top = r[i] + up[i]
    return (
        search.best_partner(row, diagonal[i], diagonal, r, down, top, np.empty(len(r))),
        search.best_partner_among(active, row, diagonal[i], diagonal, r, down, top),
    )


@compiled
def follows(row_i, row_j, step, r, up, active):
    other = r.copy()
    found = search.follow(row_i, row_j, step, r, up)
    return found, search.follow_among(active, row_i, row_j, step, other, up), r, other


def drawn(seed, n, dtype):
    """Kernel rows with ties, zero rows, and prices of which some are infinite."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, 3)), 1) * (rng.random(n) < 0.8)[:, None]
    K = (X @ X.T).astype(dtype)
    prices = rng.choice([-0.1, 0.1, np.inf], (2, n), p=[0.4, 0.4, 0.2])
    return K, np.round(rng.standard_normal(n), 1), -prices[0], prices[1]


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, search.STRETCH, 3 * search.STRETCH + 5])
@pytest.mark.parametrize("seed", range(5))
def test_all_rows_and_a_list_of_all_give_the_same(seed, n, dtype):
    K, r, up, down = drawn(seed, n, dtype)
    diagonal, active = np.diag(K).astype(float), np.arange(n)
    i = int(np.argmax(r + up))
    (j, bottom), (other, same) = partners(K[i], i, diagonal, r, up, down, active)
    assert (j, bottom) == (other, same)
    assert bottom == (r + down).min()
    b = r[i] + up[i] - (r + down)
    curvature = np.maximum(diagonal[i] + diagonal - 2.0 * K[i], search.FLAT * 1e-6)
    gains = np.where(b > 0.0, b * b / curvature, 0.0)
    assert (j == -1) == (not gains.any())
    if j >= 0:
        assert gains[j] >= 0.99 * gains.max()
        first, second, mine, theirs = follows(K[i], K[j], 0.3, r.copy(), up, active)
        expected = r - 0.3 * (K[i].astype(float) - K[j])
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(mine, expected, rtol=1e-15, atol=1e-15)
        assert first == second
        assert mine[first] + up[first] == (mine + up).max()


@pytest.mark.fast
def test_no_row_is_its_own_partner():
    """A row that may only rise has no price to fall; rounding must not make it one."""
    r, eps = np.array([0.3, 0.7]), np.array([0.1, 0.1])
    (j, _), (other, _) = partners(np.zeros(2), 1, np.zeros(2), r, eps, eps, np.arange(2))
    assert j == other == 0


@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK), reason="about quick code"
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_loops_run_over_several_numbers_at_a_time(dtype):
    """A search for the largest with `max` or `if`, or a test for division by 0, would not."""
    K, r, up, down = drawn(0, 50, dtype)
    for loop, arguments in (
        (lambda a, b, c, d, e: search.update(a, b, c, d, e), (K[0], K[1], 0.1, r, up)),
        (
            lambda a, b, c, d, e, f, g: search.largest_gain(a, b, c, d, e, f, g),
            (K[0], 1.0, np.ones(50), r, down, 0.1, np.empty(50)),
        ),
    ):
        own = numba.njit(loop)
        own(*arguments)
        (code,) = own.inspect_llvm().values()
        assert re.search(r"(fcmp|maxnum|select)[^\n]*<\d+ x double>", code)
