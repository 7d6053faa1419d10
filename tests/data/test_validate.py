"""User input: what is kept without a copy, what is repaired, what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from pegasos import PegasosClassifier, parallel
from pegasos.data import rows as rows_module
from pegasos.data import structure
from pegasos.data.numbers import checked_weights
from pegasos.data.rows import largest_value, shape
from pegasos.data.structure import check_structure, has_repeats
from pegasos.data.validate import checked_data, checked_rows
from pegasos.errors import InvalidData

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [4.0, 5.0, 0.0], [0.0, 0.0, 0.0]])


def checked(X):
    return checked_rows(BaseEstimator(), X, reset=True)


def with_rest(X):
    """CSR whose arrays are longer than its rows; what is behind them is no part of it."""
    csr = sparse.csr_array(X)
    data, indices = (
        np.concatenate([a, np.full(3, 99, dtype=a.dtype)]) for a in (csr.data, csr.indices)
    )
    longer = sparse.csr_array(X.shape, dtype=X.dtype)
    longer.data, longer.indices, longer.indptr = data, indices, csr.indptr
    return longer


def rebuilt(rows):
    """The numbers in a container, as a dense array."""
    if hasattr(rows, "X"):
        return np.asarray(rows.X)
    n, d = shape(rows)
    out = np.zeros((n, d))
    for i in range(n):
        for p in range(int(rows.indptr[i]), int(rows.indptr[i + 1])):
            assert out[i, int(rows.indices[p])] == 0.0  # no duplicates left
            out[i, int(rows.indices[p])] = rows.data[p]
    return out


def is_sorted(rows):
    ends = rows.indptr.astype(int)
    return all(
        np.all(np.diff(rows.indices[a:b].astype(int)) > 0)
        for a, b in zip(ends[:-1], ends[1:], strict=True)
    )


@pytest.mark.fast
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8, np.int64, np.bool_])
def test_dense_numbers_are_not_copied(dtype, order):
    mine = X.astype(dtype, order=order)
    rows = checked(mine)
    assert np.shares_memory(rows.X, mine)
    np.testing.assert_array_equal(rebuilt(rows), mine)


@pytest.mark.fast
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_csr_is_not_copied(kind, dtype, index):
    mine = kind(X.astype(dtype))
    mine.indices, mine.indptr = mine.indices.astype(index), mine.indptr.astype(index)
    rows = checked(mine)
    assert np.shares_memory(rows.data, mine.data)
    assert np.shares_memory(rows.indices, mine.indices)
    assert np.shares_memory(rows.indptr, mine.indptr)
    assert rows.indices.itemsize == np.dtype(index).itemsize
    np.testing.assert_array_equal(rebuilt(rows), X.astype(dtype))


@pytest.mark.fast
@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.float16, np.float32), (">f8", np.float64), (np.longdouble, np.float64), ("O", np.float64)],
)
def test_other_real_types_become_floats(given, kept):
    rows = checked(X.astype(given))
    assert rows.X.dtype == kept
    np.testing.assert_array_equal(rows.X, X)


@pytest.mark.fast
def test_unaligned_numbers_are_copied_into_place():
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)
    mine = memory[1:].view(np.float64).reshape(X.shape)
    mine[:] = X
    assert not mine.flags.aligned
    rows = checked(mine)
    assert rows.X.flags.aligned
    np.testing.assert_array_equal(rows.X, X)


@pytest.mark.fast
def test_read_only_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mine = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(checked(mine).X, mine)


@pytest.mark.fast
@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=["a", "b", "c"])])
def test_frames_are_accepted(frame):
    np.testing.assert_array_equal(checked(frame(X)).X, X)


@pytest.mark.fast
@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_formats_become_csr(form):
    rows = checked(sparse.csr_array(X).asformat(form))
    np.testing.assert_array_equal(rebuilt(rows), X)
    assert is_sorted(rows)


def unsorted():
    matrix = sparse.csr_array(X)
    matrix.indices[:2], matrix.data[:2] = [2, 0], [2.0, 1.0]
    return matrix


def duplicated():
    return sparse.csr_array(
        (np.array([0.5, 0.5, 2.0, 3.0, 4.0, 5.0]), [0, 0, 2, 2, 0, 1], [0, 3, 4, 6, 6]),
        shape=(4, 3),
    )


@pytest.mark.fast
def test_duplicate_indices_are_repaired_in_a_copy():
    mine = duplicated()
    before = mine.indices.copy(), mine.data.copy(), mine.indptr.copy()
    rows = checked(mine)
    np.testing.assert_array_equal(rebuilt(rows), X)
    assert is_sorted(rows)
    for now, earlier in zip((mine.indices, mine.data, mine.indptr), before, strict=True):
        assert np.array_equal(now, earlier)  # the user's matrix is left alone


@pytest.mark.fast
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_unsorted_indices_without_duplicates_are_used_as_they_are(index):
    mine = unsorted()
    mine.indices, mine.indptr = mine.indices.astype(index), mine.indptr.astype(index)
    rows = checked(mine)
    np.testing.assert_array_equal(rebuilt(rows), X)
    assert np.shares_memory(rows.data, mine.data)
    assert np.shares_memory(rows.indices, mine.indices)


@pytest.mark.fast
def test_the_same_column_in_neighbouring_rows_is_no_duplicate():
    assert not has_repeats(sparse.csr_array(np.ones((3, 2))))
    assert has_repeats(sparse.csr_array((np.ones(3), [1, 0, 1], [0, 3]), shape=(1, 2)))


@pytest.mark.fast
def test_flag_of_the_user_that_there_are_no_duplicates_is_not_believed():
    mine = duplicated()
    mine.has_sorted_indices = mine.has_canonical_format = True
    np.testing.assert_array_equal(rebuilt(checked(mine)), X)


@pytest.mark.fast
def test_indices_of_mixed_types_become_one():
    mine = sparse.csr_array(X)
    mine.indptr = mine.indptr.astype(np.int64)
    rows = checked(mine)
    assert rows.indices.dtype == rows.indptr.dtype == np.uint32
    np.testing.assert_array_equal(rebuilt(rows), X)


@pytest.mark.fast
def test_values_beyond_the_last_row_are_harmless():
    mine = sparse.csr_array(X)
    mine.data = np.append(mine.data, [9.0, 9.0])
    mine.indices = np.append(mine.indices, [0, 1]).astype(np.int32)
    np.testing.assert_array_equal(rebuilt(checked(mine)), X)


def malformed(form, change):
    matrix = sparse.csr_array(X).asformat(form)
    change(matrix)
    return matrix


CHANGES = {
    "index too large": (lambda m: m.indices.__setitem__(0, 9), "found 0 to 9|indices must lie in"),
    "index negative": (lambda m: m.indices.__setitem__(0, -1), "indices must lie in"),
    "indptr decreases": (lambda m: m.indptr.__setitem__(1, 4), "indptr decreases"),
    "indptr starts late": (lambda m: m.indptr.__setitem__(0, 1), "start at 0"),
    "indptr short": (lambda m: setattr(m, "indptr", m.indptr[:-1]), "indptr must have"),
    "indptr long": (lambda m: setattr(m, "indptr", np.append(m.indptr, 5)), "indptr must have"),
    "data short": (lambda m: setattr(m, "data", m.data[:-1]), "5 indices and 4 values"),
    "indices short": (lambda m: setattr(m, "indices", m.indices[:-1]), "4 indices and 5 values"),
    "last too large": (lambda m: m.indptr.__setitem__(-1, 10**6), "announces 1000000 values"),
}


@pytest.mark.fast
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("change", CHANGES)
def test_malformed_sparse_matrices_are_refused(form, change):
    how, message = CHANGES[change]
    with pytest.raises(InvalidData, match=f"Malformed {form.upper()} matrix: .*({message})"):
        checked(malformed(form, how))


@pytest.mark.fast
def test_well_formed_matrices_pass():
    check_structure(sparse.csr_array(X))
    check_structure(sparse.csc_array(X))
    check_structure(sparse.csr_array((3, 2)))
    check_structure(sparse.csr_array((0, 2)))


@pytest.mark.fast
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("change", CHANGES)
def test_malformed_matrices_are_refused_by_whichever_thread_meets_them(form, change, monkeypatch):
    monkeypatch.setattr(structure, "INDICES_PER_PART", 1)
    how, message = CHANGES[change]
    with pytest.raises(InvalidData, match=f"Malformed {form.upper()} matrix: .*({message})"):
        checked(malformed(form, how))


@pytest.mark.fast
@pytest.mark.parametrize("row", range(4))
def test_an_unsorted_row_is_seen_in_whichever_part_it_is(row, monkeypatch):
    monkeypatch.setattr(structure, "INDICES_PER_PART", 1)
    mine = sparse.csr_array(np.ones((4, 3)))
    assert check_structure(mine)
    mine.indices[3 * row : 3 * row + 2] = [1, 0]
    assert not check_structure(mine)


@pytest.mark.fast
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_looked_at_on_as_many_threads_as_the_estimator_may_have(threads, monkeypatch):
    limits = []

    def each(work, parts, at_once=None):
        limits.append(parallel._here.limit)
        parallel.each(work, parts, at_once)

    monkeypatch.setattr(structure, "each", each)
    monkeypatch.setattr("pegasos.data.rows.each", each)
    checked_rows(PegasosClassifier(n_jobs=threads), sparse.csr_array(X), reset=True)
    assert limits == [threads] * 2


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", range(0, 12, 5))
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_bad_numbers_are_seen_in_whichever_part_they_are(kind, place, dtype, monkeypatch):
    monkeypatch.setattr("pegasos.data.rows.VALUES_PER_PART", 3)
    mine = np.full((4, 3), np.finfo(np.float32).max / 2, dtype=dtype)  # float32 sums overflow
    checked(kind(mine))
    mine.ravel()[place] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        checked(kind(mine))


@pytest.mark.fast
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_nan_and_infinity_are_refused(kind, bad):
    broken = X.copy()
    broken[0, 0] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        checked(kind(broken))


@pytest.mark.fast
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_complex_numbers_are_refused(kind):
    with pytest.raises(ValueError, match="Complex data not supported"):
        checked(kind(X + 1j))


@pytest.mark.fast
def test_empty_and_flat_arrays_are_refused():
    for bad, message in ((X[:0], "0 sample"), (X[:, :0], "0 feature"), (X[0], "Reshape your data")):
        with pytest.raises(ValueError, match=message):
            checked(bad)


@pytest.mark.fast
def test_rows_and_targets_must_be_as_many():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        checked_data(BaseEstimator(), X, [1, 2, 3])
    rows, y = checked_data(BaseEstimator(), X, [1, 2, 1, 2])
    assert shape(rows) == (4, 3)
    assert y.tolist() == [1, 2, 1, 2]


@pytest.mark.fast
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"sample_weight.shape == \(2,\), expected \(4,\)"),
        (np.ones((4, 1)), "one weight per row"),
        ([1.0, -2.0, 1.0, 1.0], "must not be negative; the least is -2"),
        ([0.0] * 4, "zero for every row"),
        ([1.0, np.nan, 1.0, 1.0], "NaN or infinity"),
        ([1.0, np.inf, 1.0, 1.0], "NaN or infinity"),
        (["a"] * 4, "must hold numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InvalidData, match=message):
        checked_weights(weights, 4)


@pytest.mark.fast
def test_weights_become_float64_and_none_stays_none():
    assert checked_weights(None, 4) is None
    assert checked_weights([1, 0, 2, 1], 4).dtype == np.float64
    assert checked_weights(2, 4).tolist() == [2.0] * 4


@pytest.mark.parametrize("name", ["row", "col"])
def test_coo_with_places_outside_its_shape_is_refused(name):
    X = sparse.coo_matrix(np.eye(3))
    places = getattr(X, name).copy()
    places[0] = 7
    setattr(X, name, places)
    with pytest.raises(InvalidData, match=f"Malformed COO matrix: {name} must lie in"):
        checked_rows(BaseEstimator(), X, reset=True)


def test_bsr_with_a_bad_index_is_refused():
    X = sparse.bsr_matrix(np.eye(4), blocksize=(2, 2))
    X.indices[0] = 5
    with pytest.raises(InvalidData, match="Malformed CSR matrix"):
        checked_rows(BaseEstimator(), X, reset=True)


@pytest.mark.parametrize("n_jobs", ["a", 2.5, -2, np.ones(2)])
def test_an_odd_number_of_threads_is_not_what_validation_speaks_of(n_jobs, monkeypatch):
    monkeypatch.setattr("pegasos.data.rows.VALUES_PER_PART", 1)
    checked_rows(PegasosClassifier(n_jobs=n_jobs), np.ones((4, 2)), reset=True)


@pytest.mark.fast
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array, with_rest])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8, np.bool_])
def test_rows_know_their_largest_value_and_look_for_it_once(kind, dtype, monkeypatch):
    signed = -X if np.dtype(dtype).kind in "if" else X
    rows = checked(kind(signed.astype(dtype)))
    monkeypatch.setattr(rows_module, "over_parts", None)  # nobody looks again
    assert largest_value(rows) == (1.0 if dtype == np.bool_ else 5.0)


def test_values_whose_squares_overflow_together_are_refused_however_many_they_are():
    many = np.full((100, 100), 1.01e98)
    with pytest.raises(InvalidData, match="squares sum to more than"):
        checked(many)
    assert largest_value(checked(many / 1.02)) == pytest.approx(1.01e98 / 1.02)
    lonely = np.zeros((100, 100))
    lonely[3, 4] = 0.99e100  # one of many: the squares themselves tell
    assert largest_value(checked(lonely)) == 0.99e100
