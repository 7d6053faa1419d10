"""Scores of expansions, and bounds on their errors: audited where offered."""

import numpy as np
import pytest

from pegasos.kernel_matrix import scores as module
from pegasos.kernel_matrix.scores import kernel_scores, make_exact
from pegasos.problem.scores import Offered, Scores
from tests.kernel_matrix.test_gram import matrix_of


def expansion(n, models, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, models)) * 10.0 ** rng.uniform(0, 3, (n, 1))


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_of_kernel_scores_are_below_their_bounds(kind, dtype):
    gram, K = matrix_of(80, kind=kind, dtype=dtype)
    B = expansion(80, 2)
    scored = kernel_scores(gram, B, np.empty_like(B), None, np.random.default_rng(0))
    assert scored.audited == 0
    assert np.all(np.abs(scored.Z - K @ B) <= scored.radius)
    square = np.einsum("jk,jk->k", B, K @ B)
    assert np.all(np.abs(np.einsum("jk,jk->k", B, scored.Z) - square) <= scored.square)
    chosen = np.array([3, 50])
    exact = make_exact(gram, B, scored, chosen)
    assert np.all(np.abs(exact.Z - K @ B) <= exact.radius)
    assert np.all(exact.radius[chosen] <= 1e-6 * np.abs(B).sum(axis=0).max())
    np.testing.assert_allclose(exact.Z[chosen], (K @ B)[chosen], rtol=1e-9)


@pytest.mark.fast
def test_offered_scores_are_used_after_an_audit():
    gram, K = matrix_of(100)
    B = expansion(100, 2)
    other = B * (1.0 + 1e-15)
    other[7] += 0.5
    scored = kernel_scores(
        gram, other, np.empty_like(B), Offered(B, K @ B), np.random.default_rng(0)
    )
    assert scored.audited == module.AUDITED_ROWS
    assert gram.misses == 1  # row 7 alone was computed
    assert np.all(np.abs(scored.Z - K @ other) <= scored.radius)


@pytest.mark.fast
@pytest.mark.parametrize("error", [1e-6, np.nan])
def test_offered_scores_that_are_wrong_are_computed_from_the_data(error):
    gram, K = matrix_of(100)
    B = np.random.default_rng(0).standard_normal((100, 1))
    scored = kernel_scores(
        gram, B, np.empty_like(B), Offered(B, K @ B + error), np.random.default_rng(0)
    )
    assert scored.audited == 0
    np.testing.assert_allclose(scored.Z, K @ B, rtol=1e-12, atol=1e-12)


@pytest.mark.fast
def test_other_rows_are_audited_each_time():
    gram, K = matrix_of(200)
    B = np.random.default_rng(0).standard_normal((200, 1))
    random, seen = np.random.default_rng(0), []
    gram.exact_scores = lambda chosen, B: seen.append(set(chosen)) or (K @ B)[chosen]
    for _ in range(2):
        kernel_scores(gram, B, np.empty_like(B), Offered(B, K @ B), random)
    assert len(seen[0]) == module.AUDITED_ROWS
    assert seen[0] != seen[1]


@pytest.mark.fast
def test_an_audit_widens_the_bound_of_all_rows():
    gram, K = matrix_of(100, dtype=np.float32)
    B = np.random.default_rng(0).standard_normal((100, 1))
    plain = kernel_scores(gram, B, np.empty_like(B), None, np.random.default_rng(0))
    gram.exact_scores = lambda chosen, B: (K @ B)[chosen] + 10.0 * plain.radius[chosen]
    wide = kernel_scores(gram, B, np.empty_like(B), None, np.random.default_rng(0))
    assert np.all(wide.radius >= 9.0 * plain.radius)
    assert isinstance(wide, Scores)


@pytest.mark.fast
def test_wider_values_are_more_exact_and_forget_coarser_ones():
    gram, K = matrix_of(60, dtype=np.float32)
    gram.hold(np.arange(10))
    assert gram.can_be_wider
    coarse = gram.rounding
    gram.widen()
    assert gram.store.dtype == np.float64
    assert gram.rounding < 1e-6 * coarse
    assert not gram.can_be_wider
    assert np.all(gram.slot_of == -1)
    slots = gram.hold(np.arange(10))
    np.testing.assert_allclose(gram.store[slots], K[:10], rtol=1e-12)
