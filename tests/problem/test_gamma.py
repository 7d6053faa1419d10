"""The width of kernels: "scale" and "auto"."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem import gamma as module
from pegasos.problem.gamma import resolved_gamma, variance

pytestmark = pytest.mark.fast


def thinned(n=70, d=9, seed=0):
    rng = np.random.default_rng(seed)
    return (3.0 + rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.3)


def test_scale_worked_by_hand():
    # Entries 0, 2, 4, 6: mean 3, variance (9 + 1 + 1 + 9) / 4 = 5; d = 2.
    X = np.array([[0.0, 2.0], [4.0, 6.0]])
    assert resolved_gamma("scale", X) == pytest.approx(1.0 / 10.0)
    assert resolved_gamma("scale", sparse.csr_array(X)) == pytest.approx(1.0 / 10.0)


def test_auto_is_one_over_the_number_of_features():
    assert resolved_gamma("auto", thinned()) == 1.0 / 9.0
    assert resolved_gamma("auto", sparse.csr_array(thinned())) == 1.0 / 9.0


@pytest.mark.parametrize("number", [0.5, 3, np.float32(0.25), np.int64(2)])
def test_numbers_stay_what_they_are(number):
    found = resolved_gamma(number, thinned())
    assert type(found) is float
    assert found == number


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_agrees_with_scikit_learn(gamma, container):
    X = container(thinned())
    theirs = SVC(gamma=gamma).fit(X, np.arange(70) % 2)._gamma
    assert resolved_gamma(gamma, X) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("values", [1, 10, 64, 10**6])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_blocks_of_any_size_give_the_variance_of_all_entries(values, container, monkeypatch):
    monkeypatch.setattr(module, "VALUES", values)
    X = thinned()
    assert variance(as_rows(container(X))) == pytest.approx(X.var(), rel=1e-12)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.bool_])
def test_integers_and_booleans_do_not_wrap_around(kind):
    X = thinned().astype(kind)
    assert variance(as_rows(X)) == pytest.approx(X.astype(float).var(), rel=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_float32_entries_far_from_zero_are_summed_in_float64(container):
    # The squares of the entries are near 1e8, where float32 is only good to 8: about the variance.
    X = (1e4 + np.random.default_rng(0).standard_normal((2000, 5))).astype(np.float32)
    assert variance(as_rows(container(X))) == pytest.approx(X.astype(float).var(), rel=1e-10)


def test_values_stored_beyond_the_last_row_do_not_count():
    X = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 3.0]]))
    padded = sparse.csr_array(X.shape)
    padded.indptr, padded.indices = X.indptr, np.append(X.indices, 0).astype(X.indices.dtype)
    padded.data = np.append(X.data, 1e6)
    assert variance(as_rows(padded)) == pytest.approx(X.toarray().var())


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_equal_entries_give_1_as_in_scikit_learn(value, container):
    # The mean of many 0.1 is not 0.1 after rounding: gamma must not become some 1e33.
    assert resolved_gamma("scale", container(np.full((1000, 7), value))) == 1.0


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_variance_takes_no_copy_of_the_data(container):
    X = container(np.random.default_rng(0).standard_normal((20_000, 100)).astype(np.float32))
    rows = as_rows(X)
    tracemalloc.start()
    try:
        variance(rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * 8 * module.VALUES + 100_000  # X in float64: 16,000,000


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, None, True, "wide", "1", [1.0]])
def test_gamma_must_be_positive_or_one_of_two_words(bad):
    message = r'gamma must be a positive, finite number; got gamma=.* Or use "scale", .* "auto"'
    with pytest.raises(InvalidParameter, match=message):
        resolved_gamma(bad, thinned())


@pytest.mark.parametrize("factor", [1e200, 1e-160])
def test_scale_out_of_the_range_of_floats_is_refused(factor):
    with pytest.raises(InvalidParameter, match=r'gamma="scale" is .* out of range. Rescale X'):
        resolved_gamma("scale", factor * np.arange(6.0).reshape(3, 2))
