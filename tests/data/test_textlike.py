"""The text-like generator: its format, its law, and that its labels can be learnt."""

import numpy as np
import pytest

from pegasos.data.textlike import textlike


@pytest.mark.fast
def test_textlike_is_canonical_csr_with_int32_indices():
    X, y = textlike(n=300, d=1000, nonzeros=12)
    X.check_format(full_check=True)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        assert np.all(np.diff(X.indices[start:stop]) > 0)
    assert X.shape == (300, 1000)
    assert X.indices.dtype == np.int32
    assert X.indptr.dtype == np.int32
    assert X.data.dtype == np.float32
    assert set(y.tolist()) == {-1, 1}


@pytest.mark.fast
def test_textlike_rows_have_unit_length_and_positive_entries():
    X, _ = textlike(n=200, d=500, nonzeros=10, dtype=np.float64)
    np.testing.assert_allclose(np.sqrt((X.multiply(X)).sum(axis=1)), 1.0, atol=1e-12)
    assert X.data.min() > 0
    assert np.diff(X.indptr).min() >= 1


@pytest.mark.fast
def test_textlike_same_seed_gives_same_bits_and_another_seed_does_not():
    (X, y), (again, y_again) = (textlike(n=100, d=300, nonzeros=9, random_state=5) for _ in "ab")
    other, _ = textlike(n=100, d=300, nonzeros=9, random_state=6)
    assert np.array_equal(X.indices, again.indices)
    assert np.array_equal(X.data, again.data)
    assert np.array_equal(y, y_again)
    assert X.nnz != other.nnz or not np.array_equal(X.indices, other.indices)


@pytest.mark.parametrize("nonzeros", [3, 20, 75])
def test_textlike_meets_the_number_of_nonzeros_on_average(nonzeros):
    X, _ = textlike(n=9000, d=4000, nonzeros=nonzeros)  # more rows than one block
    assert X.nnz / 9000 == pytest.approx(nonzeros, rel=0.05)


def test_textlike_words_follow_the_law():
    # P(rank < r) = log(1 + r/20) / log(1 + d/20): the 20 most frequent of 2000 words carry
    # log(2)/log(101) = 15 % of the words. Counting each word once per document hides a little.
    X, _ = textlike(n=5000, d=2000, nonzeros=5)
    counts = np.sort(np.bincount(X.indices, minlength=2000))[::-1]
    assert counts[:20].sum() / counts.sum() == pytest.approx(np.log(2) / np.log(101), rel=0.15)
    # Frequent words lie anywhere, not at the first columns.
    assert np.argmax(np.bincount(X.indices)) not in range(20)


def test_textlike_flips_the_share_of_labels_that_the_noise_promises():
    X, y = textlike(n=4000, d=2000, nonzeros=20, noise=0.0)
    _, noisy = textlike(n=4000, d=2000, nonzeros=20, noise=0.5)
    # Scores of leaning documents are not Gaussian, so arctan(noise)/pi holds only roughly.
    assert np.mean(y != noisy) == pytest.approx(np.arctan(0.5) / np.pi, rel=0.4)
    assert abs(np.mean(y == 1) - 0.5) < 0.05


@pytest.mark.slow
def test_textlike_default_size_can_be_learnt_to_a_few_percent():
    from sklearn.svm import LinearSVC

    X, y = textlike(n=60_000)
    C = 1 / (1e-4 * 50_000)
    svm = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-2, random_state=0)
    svm.fit(X[:50_000], y[:50_000])
    error = np.mean(svm.predict(X[50_000:]) != y[50_000:])
    assert 0.01 < error < 0.1
    assert X.nnz / 60_000 == pytest.approx(75, rel=0.05)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"d": 1}, "d at least 2"),
        ({"d": 2**31}, "int32"),
        ({"d": 10, "nonzeros": 6}, "nonzeros must lie between 1 and d/2 = 5"),
        ({"noise": -0.1}, "noise must be finite"),
        ({"noise": float("nan")}, "noise must be finite"),
        ({"dtype": np.int32}, "float32 or float64"),
    ],
)
def test_textlike_refuses_impossible_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        textlike(**{"n": 5, "d": 100, "nonzeros": 4, **arguments})


@pytest.mark.fast
@pytest.mark.parametrize("d", [2, 3, 13])
def test_textlike_works_for_tiny_vocabularies(d):
    X, y = textlike(n=1, d=d, nonzeros=1)
    X.check_format(full_check=True)
    assert X.shape == (1, d)
    assert len(y) == 1
