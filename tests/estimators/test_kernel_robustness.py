"""What a demanding user does to kernel estimators: threads, failed refits, odd kernels."""

import threading
import warnings

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor
from pegasos.errors import IndefiniteKernel, InvalidData, InvalidParameter
from tests.data.test_rows import with_gaps


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)


def blas_threads():
    info = threadpoolctl.threadpool_info()
    return [pool["num_threads"] for pool in info if pool["user_api"] == "blas"]


def test_predictions_in_threads_leave_blas_as_it_was(data):
    X, y = data
    model = KernelPegasosClassifier().fit(X, y)
    before = blas_threads()
    work = [threading.Thread(target=lambda: [model.predict(X) for _ in range(50)]) for _ in "1234"]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert blas_threads() == before


def test_failed_refit_leaves_the_model_and_keeps_no_rows(data):
    X, y = data
    model = KernelPegasosClassifier().fit(X, y)
    values = model.decision_function(X)
    model.set_params(kernel="poly", degree=900.0)
    with pytest.raises(InvalidData, match="not finite"):
        model.fit(X * 1e3, y)
    assert np.array_equal(model.decision_function(X), values)
    assert "_rows" not in vars(model)


def test_failed_refit_leaves_labels_and_penalty(data):
    X, y = data
    model = KernelPegasosClassifier().fit(X, y)
    labels, penalty = model.predict(X), (model.C_, model.lam_)
    model.set_params(kernel="poly", degree=900.0, C=7.0)
    with pytest.raises(InvalidData, match="not finite"):
        model.fit(X * 1e3, np.array(["no", "yes", "none"])[np.arange(len(y)) % 3])
    assert np.array_equal(model.predict(X), labels)
    assert (model.C_, model.lam_) == penalty


def test_regressor_without_support_vectors_predicts(data):
    X, _ = data
    model = KernelPegasosRegressor(kernel=rbf_kernel).fit(X, np.ones(60))
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X[:2]), [1.0, 1.0], atol=0.11)


def test_indefinite_matrix_is_not_called_proven(data):
    _, y = data
    A = np.random.default_rng(0).normal(size=(60, 60))
    A = A + A.T
    np.fill_diagonal(A, 0.0)
    A *= 1.1 / -np.linalg.eigvalsh(A)[0]
    A += np.eye(60)  # the least eigenvalue is -0.1, but no pair of rows shows it
    with pytest.warns(IndefiniteKernel, match="not positive semi-definite"):
        model = KernelPegasosClassifier(kernel="precomputed").fit(A, y)
    assert not model.certificate_.is_proven


def test_indefinite_kernel_ends_soon(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPegasosClassifier(kernel="precomputed").fit(-(X @ X.T), y)
    assert model.n_iter_ <= 50


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda a, b: float(a @ b), "kernel raised .* shapes .*pairwise_kernels"),
        (lambda a, b: a @ np.diag([1.0, 2.0, 3.0]) @ np.roll(b, 1, axis=1).T, "must be symmetric"),
    ],
)
def test_functions_that_are_no_kernel_are_refused(data, kernel, message):
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel=kernel).fit(*data)


def test_csr_arrays_with_gaps_are_read_right(data):
    X, y = data
    plain = sparse.csr_matrix(X * (X > 0.0))
    odd = with_gaps(plain)
    one, other = (KernelPegasosClassifier(gamma=0.5).fit(Z, y) for Z in (plain, odd))
    expected = one.decision_function(plain)
    np.testing.assert_array_equal(other.decision_function(odd), expected)
    other.support_vectors_ = with_gaps(other.support_vectors_)
    np.testing.assert_array_equal(other.decision_function(odd), expected)


def test_stream_says_the_bound_it_really_has(data):
    X, y = data
    model = KernelPegasosClassifier(C=1.0).fit(X, y)
    model.set_params(C=0.5).partial_fit(X, y)
    assert model.C_ == 0.5
    assert np.abs(model.dual_coef_).max() <= 0.5


@pytest.mark.parametrize("change", [{"gamma": 3.0}, {"kernel": "poly"}, {"kernel": rbf_kernel}])
@pytest.mark.parametrize("begins", ["fit", "partial_fit"])
def test_stream_refuses_another_kernel_than_it_began_with(data, begins, change):
    X, y = data
    model = KernelPegasosClassifier(gamma=0.5)
    model = model.fit(X, y) if begins == "fit" else model.partial_fit(X, y, classes=np.unique(y))
    before = model.decision_function(X)
    with pytest.raises(InvalidParameter, match=r"goes on with the kernel .*gamma=0\.5"):
        model.set_params(**change).partial_fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.set_params(gamma=0.5, kernel="rbf").partial_fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", rbf_kernel])
def test_stream_goes_on_with_gamma_of_the_first_rows(data, kernel):
    X, y = data
    model = KernelPegasosClassifier(kernel=kernel, coef0=1.0)
    model.partial_fit(X[:20], y[:20], classes=np.unique(y))
    model.partial_fit(3.0 * X[20:], y[20:]).partial_fit(X, y)


def test_options_of_a_kernel_name_are_refused_with_advice():
    with pytest.raises(InvalidParameter, match="set gamma, degree or coef0"):
        KernelPegasosClassifier().set_params(kernel__gamma=1.0)
