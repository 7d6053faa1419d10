"""Scores from a Gram matrix: rows that pass, batches, borrowed room."""

import numpy as np
import pytest

from pegasos.kernel_matrix import gram as module
from tests.kernel_matrix.test_gram import KINDS, matrix_of, small_store


@pytest.mark.fast
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("models", [1, 3])
def test_sums_of_rows_that_pass(kind, dtype, models, monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.side.LEFT_ROWS", 4)
    monkeypatch.setattr("pegasos.kernel_matrix.blocks.TILE_VALUES", 24)
    monkeypatch.setattr("pegasos.kernel_matrix.blocks.CHUNK", 8)
    gram, K = matrix_of(30, kind=kind, dtype=dtype)
    rng = np.random.default_rng(0)
    chosen, c = rng.permutation(30)[:11], rng.standard_normal((11, models))
    Z = np.ones((30, models))
    gram.add_passing(chosen, c, Z)
    np.testing.assert_allclose(Z, 1.0 + K[:, chosen] @ c, atol=1e-12 + 4.0 * gram.rounding * 11)
    assert (gram.evaluations, gram.kept.used) == (11 * 30, 0)


@pytest.mark.fast
def test_batches_fit_the_store_and_bring_in_few_rows(monkeypatch):
    gram, _ = small_store(20, 6)
    monkeypatch.setattr(module, "VALUES_AT_A_TIME", 3 * 20)
    gram.hold(np.array([0, 1, 2, 3]))
    rows = np.array([0, 5, 6, 1, 7, 2, 3, 8, 9, 10, 11])
    parts = gram.batches(rows)
    assert np.concatenate(parts).tolist() == rows.tolist()
    assert all(len(part) <= 6 for part in parts)
    assert all(np.count_nonzero(gram.slot_of[part] < 0) <= 3 for part in parts)
    assert gram.batches(rows[:0]) == []


@pytest.mark.fast
def test_a_block_borrows_the_unused_part_of_the_store():
    gram, K = matrix_of(20)
    gram.hold(np.array([3, 8]))
    W = gram.kept_first(np.array([1, 3, 5, 8]))
    assert W.tolist() == [3, 8, 1, 5]
    room = gram.spare(4)
    assert np.shares_memory(room, gram.store)
    np.testing.assert_allclose(gram.square_block(W, room), K[np.ix_(W, W)], rtol=1e-12)
    for i in (3, 8):  # rows in use are left alone
        np.testing.assert_allclose(gram.store[gram.slot_of[i]], K[i], rtol=1e-12)
    assert not np.shares_memory(gram.spare(20), gram.store)
    assert gram.at_hand(W).tolist() == W.tolist()  # too few are kept to stand for all
    assert gram.at_hand(W[:2]).tolist() == [3, 8]
