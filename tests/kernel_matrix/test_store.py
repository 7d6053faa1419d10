"""The store of rows: where a row is, who makes room for it, and how it is saved."""

import numpy as np
import pytest

from pegasos.kernel_matrix.store import RowStore

pytestmark = pytest.mark.fast


def bring(store, *rows):
    """Bring in rows as a matrix does; the values of a row are its number."""
    missing = store.request(np.array(rows))
    if len(missing):
        places = store.make_room(len(missing))
        store.values[places] = missing[:, None]
        store.enter(missing, places)
    return missing.tolist()


def kept(store):
    return set(np.flatnonzero(store.has(np.arange(len(store.slot_of)))).tolist())


def test_the_row_used_least_recently_makes_room():
    store = RowStore(9, np.full((3, 9), np.nan))
    assert bring(store, 4, 7) == [4, 7]
    assert bring(store, 4, 1) == [1]
    assert bring(store, 2) == [2]  # 7 was used before all others
    assert kept(store) == {4, 1, 2}
    for i in kept(store):
        assert store.owner[store.slot_of[i]] == i
        assert (store.values[store.slot_of[i]] == i).all()


def test_a_loop_marks_what_it_uses():
    store = RowStore(9, np.zeros((2, 9)))
    bring(store, 3)
    bring(store, 5)
    store.clock += 1
    store.last_use[store.slot_of[3]] = store.clock
    bring(store, 6)
    assert kept(store) == {3, 6}


def test_what_was_never_written_is_there_to_borrow():
    store = RowStore(4, np.zeros((3, 4)))
    bring(store, 0)
    assert len(store.unused()) == 8
    assert np.shares_memory(store.unused(), store.values[1:])
    bring(store, 1, 2)
    assert len(store.unused()) == 0


def test_a_store_goes_on_where_another_was_saved():
    one, other = RowStore(9, np.zeros((3, 9))), RowStore(9, np.ones((3, 9)))
    bring(other, 8)
    bring(one, 4, 7)
    one.make_room(1)  # of a row that failed to come in
    other.restore(one.contents())
    for store in (one, other):
        bring(store, 7, 2)
        bring(store, 5, 6)
    assert kept(one) == kept(other)
    np.testing.assert_array_equal(one.slot_of, other.slot_of)
    np.testing.assert_array_equal(one.last_use, other.last_use)
    np.testing.assert_array_equal(one.values, other.values)
    assert (one.clock, one.used) == (other.clock, other.used)
