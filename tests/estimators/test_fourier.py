"""Random Fourier features: the mapping of the paper, its statistics, types, memory, refusals."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import FourierFeatures, PegasosClassifier
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.problem import fourier as module

fast = pytest.mark.fast


def some_rows(n=40, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)


def by_the_paper(X, V, sigma):
    """The mapping of [CSS12] App. A, entry by entry; row i of V is the paper's v_i."""
    k = len(V)
    P = np.empty((len(X), 2 * k))
    for row, x in enumerate(X):
        for i in range(k):
            P[row, 2 * i] = np.cos(V[i] @ x / sigma) / np.sqrt(k)
            P[row, 2 * i + 1] = np.sin(V[i] @ x / sigma) / np.sqrt(k)
    return P


# -------------------------------------------------------------- the mapping


@fast
def test_one_direction_worked_by_hand():
    # gamma = 1/8: sigma = 2. v = (1, 2), x = (pi, 0): the angle is pi / 2.
    model = FourierFeatures(gamma=0.125, n_pairs=1).fit(np.zeros((1, 2)))
    model.directions_ = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(model.transform([[np.pi, 0.0]]), [[0.0, 1.0]], atol=1e-15)


@fast
@pytest.mark.parametrize("values", [1, 50, 10**6])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_features_are_those_of_the_paper_whatever_the_block(values, container, monkeypatch):
    monkeypatch.setattr(module, "VALUES", values)
    X, gamma = some_rows(), 0.3
    model = FourierFeatures(gamma=gamma, n_pairs=7, random_state=0).fit(container(X))
    expected = by_the_paper(X, model.directions_.T, sigma=np.sqrt(1.0 / (2.0 * gamma)))
    np.testing.assert_allclose(model.transform(container(X)), expected, rtol=0, atol=1e-14)


@fast
def test_every_row_has_length_one():
    P = FourierFeatures(n_pairs=9, random_state=0).fit_transform(some_rows())
    np.testing.assert_allclose(np.linalg.norm(P, axis=1), 1.0)


def errors_in_standard_deviations(k, seeds):
    """Return (<P(x), P(x')> - K) sqrt(2 k) / (1 - K^2) for all pairs of 8 rows and all seeds.

    With s^2 = 2 gamma ||x - x'||^2, each of the k terms cos(s N) of an inner product has the mean
    exp(-s^2/2) = K and the variance (1 + exp(-2 s^2)) / 2 - exp(-s^2) = (1 - K^2)^2 / 2.
    """
    X, gamma = np.random.default_rng(1).standard_normal((8, 4)), 0.2
    one, other = np.triu_indices(len(X), 1)
    K = rbf_kernel(X, gamma=gamma)[one, other]
    errors = []
    for seed in seeds:
        P = FourierFeatures(gamma, n_pairs=k, random_state=seed).fit_transform(X)
        errors.append(((P @ P.T)[one, other] - K) * np.sqrt(2.0 * k) / (1.0 - K**2))
    return np.array(errors)


def test_inner_products_approximate_the_gaussian_kernel():
    # 28 pairs, 5 standard deviations: chance 2e-5 to fail. A gamma wrong by 10 % fails at once.
    assert np.abs(errors_in_standard_deviations(100_000, seeds=[0])).max() < 5.0


@pytest.mark.parametrize("k", [20, 320])
def test_the_error_falls_like_the_inverse_square_root_of_k(k):
    errors = errors_in_standard_deviations(k, seeds=range(200))
    # The mean square over 200 seeds is 1 +- sqrt(2 / 200) for each pair.
    mean_square = (errors**2).mean(axis=0)
    np.testing.assert_array_less(mean_square, 1.5)
    np.testing.assert_array_less(0.5, mean_square)
    np.testing.assert_array_less(np.abs(errors.mean(axis=0)), 5.0 / np.sqrt(200))  # no bias


@fast
def test_directions_are_independent_standard_normals():
    V = FourierFeatures(n_pairs=5000, random_state=0).fit(np.eye(4)).directions_
    # Entries of the mean and of the covariance are off by some 1 / sqrt(5000) = 0.014.
    np.testing.assert_allclose(V.mean(axis=1), 0.0, atol=5 * 0.015)
    np.testing.assert_allclose(np.cov(V), np.eye(4), atol=5 * 0.02)


@fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_gamma_scale_and_auto_are_resolved_from_the_data_of_fit(container):
    X = some_rows()
    assert FourierFeatures().fit(container(X)).gamma_ == pytest.approx(1.0 / (6 * X.var()))
    assert FourierFeatures("auto").fit(container(X)).gamma_ == 1.0 / 6.0


# -------------------------------------------------------------- containers and types


@fast
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.uint8, np.int64, np.bool_])
def test_dense_and_csr_agree_for_every_type(kind):
    X = np.abs(3.0 * some_rows()).astype(kind)
    dense = FourierFeatures(random_state=0).fit(X)
    csr = FourierFeatures(random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.directions_, csr.directions_)
    assert dense.gamma_ == pytest.approx(csr.gamma_, rel=1e-12)
    one, other = dense.transform(X), csr.transform(sparse.csr_array(X))
    assert one.dtype == other.dtype == (np.float32 if kind == np.float32 else np.float64)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 if kind == np.float32 else 1e-14)


@fast
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_other_sparse_containers_are_taken(container):
    X = some_rows()
    model = FourierFeatures(random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(container(X)), model.transform(X), atol=1e-14)


@fast
def test_csr_of_wide_indices_with_unsorted_and_repeated_entries_is_taken():
    # Row 0 holds 2 at column 4 and, in two parts, 1 + 3 at column 1.
    X = sparse.csr_array(
        (np.array([2.0, 1.0, 3.0]), np.array([4, 1, 1]), np.array([0, 3, 3])), shape=(2, 6)
    )
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    model = FourierFeatures(random_state=0).fit(some_rows())
    expected = model.transform([[0, 4, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-14)


@fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_float32_is_near_float64_and_the_type_follows_what_is_transformed(container):
    X = some_rows()
    wide, narrow = container(X), container(X.astype(np.float32))
    of_wide = FourierFeatures(gamma=0.2, random_state=0).fit(wide)
    of_narrow = FourierFeatures(gamma=0.2, random_state=0).fit(narrow)
    assert of_wide.directions_.dtype == np.float64
    assert of_narrow.directions_.dtype == np.float32
    expected = of_wide.transform(wide)
    for model in (of_wide, of_narrow):
        for rows in (wide, narrow):
            P = model.transform(rows)
            assert P.dtype == rows.dtype
            np.testing.assert_allclose(P, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["float32", "float64", "uint8", "fortran", "csr"])
def test_memory_is_the_result_and_two_small_blocks(kind):
    X = np.random.default_rng(0).standard_normal((50_000, 30)).astype(np.float32)
    if kind in ("fortran", "csr"):
        X = np.asfortranarray(X) if kind == "fortran" else sparse.csr_array(X)
    else:
        X = X.astype(kind)
    model = FourierFeatures(n_pairs=100, random_state=0).fit(X)
    tracemalloc.start()
    try:
        P = model.transform(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A second copy of the result would be 40 or 80 MB.
    assert peak < P.nbytes + 2.2 * P.itemsize * module.VALUES


def test_fit_draws_float32_directions_without_a_float64_copy():
    X = np.ones((2, 20_000), dtype=np.float32)
    tracemalloc.start()
    try:
        V = FourierFeatures(n_pairs=500, random_state=0).fit(X).directions_
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < V.nbytes + 8 * 1.5 * module.VALUES  # in float64, 80 MB more


@fast
def test_blocks_of_draws_are_one_draw(monkeypatch):
    whole = FourierFeatures(n_pairs=3, random_state=0).fit(some_rows()).directions_
    monkeypatch.setattr(module, "VALUES", 3)
    np.testing.assert_array_equal(
        FourierFeatures(n_pairs=3, random_state=0).fit(some_rows()).directions_, whole
    )


@fast
def test_same_seed_same_bits_and_another_seed_others():
    X = some_rows()
    one, same, other = (FourierFeatures(random_state=seed).fit_transform(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


# -------------------------------------------------------------- scikit-learn


@parametrize_with_checks([FourierFeatures()])
def test_transformer_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@fast
def test_output_features_have_names():
    table = pd.DataFrame(some_rows(d=2), columns=["height", "weight"])
    model = FourierFeatures(n_pairs=2, random_state=0).set_output(transform="pandas").fit(table)
    names = [f"fourierfeatures{j}" for j in range(4)]
    assert model.get_feature_names_out().tolist() == names
    assert model.transform(table).columns.tolist() == names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_ring_needs_the_features_and_both_models_are_certified(dtype):
    X, y = make_circles(1000, factor=0.6, noise=0.08, random_state=0)
    train, test, y_train, y_test = train_test_split(X.astype(dtype), y, random_state=0)
    linear = PegasosClassifier(C=10.0, random_state=0).fit(train, y_train)
    curved = make_pipeline(
        FourierFeatures(gamma=2.0, n_pairs=100, random_state=0),
        PegasosClassifier(C=10.0, random_state=0),
    ).fit(train, y_train)
    assert linear.certificate_.is_within_tol
    assert curved[-1].certificate_.is_within_tol
    assert curved[-1].coef_.dtype == dtype
    # The rings' radii differ by 5 deviations of the noise; a line through them can at best guess.
    assert curved.score(test, y_test) > 0.95
    assert linear.score(test, y_test) < 0.7


# -------------------------------------------------------------- refusals


class Untouchable:
    """Data that must not be looked at."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("data was looked at before the parameters were checked")

    def __len__(self):
        raise AssertionError("data was looked at before the parameters were checked")


@fast
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, r'gamma must be a positive, finite number; got gamma=0.0. Or use "scale"'),
        ({"gamma": -2}, r"gamma must be .*; got gamma=-2"),
        ({"gamma": np.nan}, r"gamma must be .*; got gamma=nan"),
        ({"gamma": np.inf}, r"gamma must be .*; got gamma=inf"),
        ({"gamma": "wide"}, r"gamma must be .*; got gamma='wide'"),
        ({"gamma": None}, r"gamma must be .*; got gamma=None"),
        ({"n_pairs": 0}, r"n_pairs must be a whole number, 1 or more; got n_pairs=0. It is"),
        ({"n_pairs": 2.5}, r"n_pairs must be a whole number, 1 or more; got n_pairs=2.5"),
        ({"n_pairs": True}, r"n_pairs must be a whole number, 1 or more; got n_pairs=True"),
        ({"n_pairs": None}, r"n_pairs must be a positive, finite number; got n_pairs=None. It is"),
    ],
)
def test_bad_parameters_are_refused_before_data_is_looked_at(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        FourierFeatures(**parameters).fit(Untouchable())


@fast
def test_a_bad_seed_is_refused_before_data_is_looked_at():
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        FourierFeatures(random_state="zero").fit(Untouchable())


@fast
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_nan_and_infinity_are_refused(bad, container):
    X = some_rows()
    model = FourierFeatures().fit(X)
    X[3, 2] = bad
    for method in (model.fit, model.transform):
        with pytest.raises(ValueError, match="contains (NaN|infinity)"):
            method(container(X))


@fast
def test_rows_of_another_width_are_refused():
    model = FourierFeatures().fit(some_rows(d=6))
    with pytest.raises(ValueError, match="X has 5 features, but .* is expecting 6 features"):
        model.transform(some_rows(d=5))


@fast
def test_a_malformed_matrix_is_refused():
    X = sparse.csr_array(some_rows())
    X.indices = X.indices.copy()
    X.indices[0] = 99
    with pytest.raises(InvalidData, match="Malformed CSR matrix"):
        FourierFeatures().fit(X)


@fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_angles_that_overflow_are_refused(container):
    X = container(np.full((3, 4), 1e38, dtype=np.float32))
    model = FourierFeatures(gamma=100, random_state=0).fit(X)
    with pytest.raises(InvalidData, match=r"X is too large for gamma=100: .* Rescale X"):
        model.transform(X)
