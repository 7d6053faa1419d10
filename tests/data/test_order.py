"""Index streams: permutations, uniform, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pegasos.data.order import (
    STRETCH_BYTES,
    Stretches,
    draw,
    draw_sets,
    identity,
    permute,
    shuffle,
    stretches_of,
)
from pegasos.data.rows import as_rows

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps


def state(seed):
    return np.array([seed], dtype=np.uint64)


def permuted(n, length, seed, idle=None, visits=256, in_turn=False):
    order = identity(n)
    idle = np.zeros(n, dtype=np.uint8) if idle is None else idle
    count = permute(order, Stretches(length, 8, in_turn), idle, visits, state(seed))
    return order[:count]


@pytest.mark.fast
@given(n=st.integers(0, 200), seed=st.integers(0, 2**64 - 1))
def test_shuffle_permutes(n, seed):
    order = identity(n)
    shuffle(order, state(seed))
    assert sorted(order.tolist()) == list(range(n))


@pytest.mark.fast
@given(
    n=st.integers(1, 200),
    length=st.integers(1, 64),
    in_turn=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
)
def test_permute_visits_every_row_once(n, length, in_turn, seed):
    assert sorted(permuted(n, length, seed, in_turn=in_turn).tolist()) == list(range(n))


@pytest.mark.fast
def test_stretches_in_turn_give_one_row_each():
    # 24 rows in 8 stretches of 3, all in one window: first rows, then second, then third rows.
    order = permuted(24, 3, 1, in_turn=True)
    assert [i % 3 for i in order.tolist()] == [0] * 8 + [1] * 8 + [2] * 8


def test_permute_visits_every_row_once_in_several_windows():
    assert sorted(permuted(5000, 3, 1).tolist()) == list(range(5000))


@pytest.mark.fast
def test_permute_leaves_idle_rows_out():
    idle = (np.arange(50) % 3).astype(np.uint8)
    assert sorted(permuted(50, 4, 1, idle, visits=2)) == [i for i in range(50) if i % 3 < 2]
    assert len(permuted(50, 4, 1, np.full(50, 9, dtype=np.uint8), visits=2)) == 0


@pytest.mark.fast
def test_draw_stays_below_n_and_reaches_both_ends():
    order = identity(1000)
    draw(order, 7, state(3))
    assert set(order.tolist()) == set(range(7))


def test_draws_are_uniform():
    order = identity(70_000)
    draw(order, 7, state(3))
    # Chi-square with 6 degrees of freedom: above 38 once in a million.
    counts = np.bincount(order, minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 38


@pytest.mark.parametrize("length", [1, 2])
def test_every_place_is_as_likely_for_every_row(length):
    counts, stream = np.zeros((5, 5)), state(8)
    order, idle = identity(5), np.zeros(5, dtype=np.uint8)
    for _ in range(6000):
        permute(order, Stretches(length, 8, False), idle, 256, stream)
        counts[np.arange(5), order] += 1
    assert ((counts - 1200) ** 2 / 1200).sum() < 70  # 16 degrees of freedom


@pytest.mark.fast
def test_same_seed_gives_same_bits_and_the_stream_moves_on():
    assert np.array_equal(permuted(100, 1, 5), permuted(100, 1, 5))
    assert not np.array_equal(permuted(100, 1, 5), permuted(100, 1, 6))
    stream = state(5)
    first, second = identity(100), identity(100)
    shuffle(first, stream)
    shuffle(second, stream)
    assert not np.array_equal(first, second)


@pytest.mark.fast
def test_random_numbers_are_those_of_splitmix64():
    # First outputs for seed 1234567 in the public reference implementation of SplitMix64.
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    order = identity(3)
    draw(order, 2**32 - 1, state(1234567))
    assert order.tolist() == [((x >> 32) * (2**32 - 1)) >> 32 for x in outputs]


@pytest.mark.fast
def test_only_large_data_is_visited_in_stretches():
    def length(X):
        return stretches_of(as_rows(X), in_turn=True).length

    assert length(np.ones((100, 10))) == 1
    assert length(np.ones((20_000, 16))) == min(64, STRETCH_BYTES // 128)
    assert length(np.ones((200, 2 * STRETCH_BYTES // 8))) == 1
    large = as_rows(sparse.csr_array(np.ones((20_000, 16))))
    assert stretches_of(large, in_turn=True).in_turn
    assert not stretches_of(large, in_turn=False).in_turn


@pytest.mark.fast
def test_sets_have_different_rows_and_each_row_is_in_as_many_of_them():
    n, size, sets = 5, 2, 600
    order, state = np.empty(size * sets, dtype=np.uint32), np.array([3], dtype=np.uint64)
    draw_sets(order, identity(n), size, state)
    drawn = order.reshape(sets, size)
    assert np.all(drawn[:, 0] != drawn[:, 1])
    expected = sets / n
    for place in range(size):
        counts = np.bincount(drawn[:, place], minlength=n)
        assert np.all(np.abs(counts - expected) <= 5.0 * np.sqrt(expected))
