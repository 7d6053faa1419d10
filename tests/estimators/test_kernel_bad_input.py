"""Bad input to kernel estimators: each a clear error, tested by its message."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor
from pegasos.errors import InvalidData
from tests.estimators.bad_data import X, y

K = X @ X.T
ESTIMATORS = [KernelPegasosClassifier, KernelPegasosRegressor]


def test_rows_to_predict_must_have_the_features_of_the_fit():
    model = KernelPegasosClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but KernelPegasosClassifier is expec"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(np.full((2, 2), np.nan))


@pytest.mark.fast
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_rows_too_long_for_the_kernel_are_refused():
    message = r"values that are not finite: Polynomial.* lower gamma, coef0 or degree"
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel="poly", gamma=1.0).fit(1e60 * X, y)


# ---- precomputed matrices


@pytest.mark.fast
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_precomputed_matrix_must_be_square(Estimator):
    message = r'kernel="precomputed" needs a square matrix, .*; X has shape \(4, 2\)'
    with pytest.raises(InvalidData, match=message):
        Estimator(kernel="precomputed").fit(X, y)


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_a_precomputed_matrix_must_be_symmetric(dtype):
    wrong = K.astype(dtype)
    wrong[1, 3] += 2
    message = r'kernel="precomputed" needs a symmetric matrix; X\[1, 3\] = 3 but X\[3, 1\] = 1'
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel="precomputed").fit(wrong, y)


def test_rounding_and_any_real_type_of_a_precomputed_matrix_are_accepted():
    models = [
        KernelPegasosClassifier(kernel="precomputed", tol=1e-8).fit(given, y)
        for given in (
            K,
            K.astype(np.uint8),
            K.astype(np.int16),
            K + 1e-9 * np.triu(np.ones((4, 4))),
        )
    ]
    for model in models[1:]:
        assert model.certificate_.primal == pytest.approx(models[0].certificate_.primal, rel=1e-6)


@pytest.mark.fast
def test_a_precomputed_matrix_must_be_dense():
    message = r'kernel="precomputed" needs a dense matrix .* got a sparse one. Use X.toarray\(\)'
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel="precomputed").fit(sparse.csr_array(K), y)


def test_a_precomputed_matrix_to_predict_for_must_be_dense_and_of_the_right_width():
    model = KernelPegasosClassifier(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 4 features"):
        model.predict(K[:, :3])
    with pytest.raises(InvalidData, match=r'kernel="precomputed" needs a dense matrix'):
        model.predict(sparse.csr_array(K))


# ---- kernels of the user's own


@pytest.mark.fast
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda A, B: 1.0,
            r"kernel must return one value per pair of rows.* it returned shape \(\)",
        ),
        (lambda A, B: A @ B.T + 1j, r"kernel must return real numbers; .* complex128"),
        (lambda A, B: np.nan * (A @ B.T), r"The kernel gives values that are not finite: Custom"),
    ],
)
def test_a_callable_that_returns_no_kernel_values_is_refused(function, message):
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel=function).fit(X, y)


@pytest.mark.fast
def test_an_error_in_a_callable_reaches_the_user():
    def broken(A, B):
        raise ZeroDivisionError("my own")

    with pytest.raises(InvalidData, match=r"kernel raised ZeroDivisionError\('my own'\)") as told:
        KernelPegasosClassifier(kernel=broken).fit(X, y)
    assert isinstance(told.value.__cause__, ZeroDivisionError)
