"""Bad input to kernel estimators: each a clear error, tested by its message."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import (
    SDCA,
    Decomposition,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
)
from pegasos.errors import InvalidData, InvalidParameter
from tests.estimators.test_bad_input import Untouchable

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
y = np.array([0, 1, 1, 0])
K = X @ X.T
ESTIMATORS = [KernelPegasosClassifier, KernelPegasosRegressor]

BAD_PARAMETERS = [
    ({"kernel": "gauss"}, r'kernel must be one of "linear", "rbf".*matrices; got kernel=\'gauss\''),
    ({"kernel": None}, r"kernel must be one of .*; got kernel=None"),
    ({"kernel": ["rbf"]}, r"kernel must be one of .*; got kernel=\['rbf'\]"),
    ({"gamma": 0.0}, r'gamma must be a positive, finite number; got gamma=0.0. Or use "scale"'),
    ({"gamma": -1}, r"gamma must be a positive, finite number; got gamma=-1"),
    ({"gamma": np.nan}, r"gamma must be a positive, finite number; got gamma=nan"),
    ({"gamma": np.inf}, r"gamma must be a positive, finite number; got gamma=inf"),
    ({"gamma": "foo"}, r'gamma must be .*; got gamma=\'foo\'. Or use "scale", .* or "auto"'),
    ({"gamma": None}, r"gamma must be .*; got gamma=None"),
    ({"degree": 0}, r"degree must be a positive, finite number; got degree=0. It is the power"),
    ({"degree": -2}, r"degree must be a positive, finite number; got degree=-2"),
    ({"degree": "3"}, r"degree must be a positive, finite number; got degree='3'"),
    ({"coef0": np.nan}, r"coef0 must be a finite number; got coef0=nan"),
    ({"coef0": np.inf}, r"coef0 must be a finite number; got coef0=inf"),
    ({"coef0": "1"}, r"coef0 must be a finite number; got coef0='1'"),
    ({"cache_size": 0}, r"cache_size must be a positive, .*; got cache_size=0. It is in megabytes"),
    ({"cache_size": -5}, r"cache_size must be a positive, finite number; got cache_size=-5"),
    ({"cache_size": "200MB"}, r"cache_size must be .*; got cache_size='200MB'"),
    ({"solver": "newton"}, r'solver must be "auto", "decomposition".* an object; got \'newton\''),
    ({"solver": 3}, r"solver must be a name or one of Decomposition\(\.\.\.\).*; got 3"),
    ({"solver": SDCA()}, r"solver must be a name or one of Decomposition\(\.\.\.\).*; got SDCA"),
    ({"solver": Pegasos()}, r"solver must be a name or one of Decomp.*; got Pegasos"),
    ({"solver": Decomposition(0)}, r'working_set must be a whole number from 1 .*"auto"; got 0'),
    ({"solver": Decomposition(shrinking=1)}, r"shrinking must be True or False; got 1"),
    ({"bias": "regularized"}, r'must be "free" or "none" with a kernel; got bias=\'regularized\''),
    ({"bias": "free-batch"}, r'bias must be "free" or "none" with a kernel; got .*constant added'),
    ({"bias": "fixed"}, r"bias must be .*; got 'fixed'"),
    ({"C": 0.0}, r"C must be a positive, finite number; got C=0.0. Raise C to weaken the penalty"),
    ({"C": 2.0, "lam": 0.1}, r"Give C or lam, not both; got C=2.0 and lam=0.1"),
    ({"tol": -1e-3}, r"tol must be a positive, finite number; got tol=-0.001"),
    ({"max_iter": 0}, r"max_iter must be a whole number, 1 or more; got max_iter=0"),
    ({"max_time": 0}, r"max_time must be a positive, finite number; got max_time=0"),
    ({"warm_start": 1}, r"warm_start must be True or False; got 1"),
    ({"verbose": -1}, r"verbose must be 0 or 1; got -1"),
]
BAD_FOR_CLASSIFIER = [
    ({"loss": "huber"}, r'loss must be "hinge", "squared_hinge", "logistic" or .*; got \'huber\''),
    ({"loss": "epsilon_insensitive"}, r"loss must be .* That loss is for regression"),
    (
        {"loss": "logistic", "solver": "decomposition"},
        r'solver="decomposition" has no loss=Logistic\(\); use solver="sdca" or "pegasos"',
    ),
    (
        {"loss": "logistic", "solver": Decomposition(10)},
        r'solver="decomposition" has no loss=Logistic\(\); use solver="sdca" or "pegasos"',
    ),
    (
        {"loss": "squared_hinge", "solver": "lasvm"},
        r'solver="lasvm" has no loss=SquaredHinge\(\); use solver="sdca" or "pegasos"',
    ),
    ({"stop": "early"}, r'stop must be "gap" or "decisions"; got \'early\''),
    ({"class_weight": "even"}, r'class_weight must be "balanced", a dict or None; got \'even\''),
]
BAD_FOR_REGRESSOR = [
    ({"loss": "hinge"}, r"loss must be .* That loss is for classification"),
    ({"epsilon": -0.1}, r"epsilon must be a finite number, 0 or more; got epsilon=-0.1"),
    (
        {"solver": "lasvm"},
        r'solver="lasvm" has no loss=EpsilonInsensitive.*; use solver="sdca" or "pegasos"',
    ),
]


@pytest.mark.fast
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS + BAD_FOR_CLASSIFIER)
def test_classifier_refuses_a_bad_parameter_before_touching_data(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        KernelPegasosClassifier(**parameters).fit(Untouchable(), Untouchable())


@pytest.mark.fast
@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS + BAD_FOR_REGRESSOR)
def test_regressor_refuses_a_bad_parameter_before_touching_data(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        KernelPegasosRegressor(**parameters).fit(Untouchable(), Untouchable())


# ---- data


@pytest.mark.fast
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_must_be_finite(Estimator, bad, container):
    wrong = X.copy()
    wrong[2, 1] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        Estimator().fit(container(wrong), y)


@pytest.mark.fast
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_and_targets_must_agree(Estimator):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
        Estimator().fit(X, y[:3])
    with pytest.raises(InvalidData, match=r"sample_weight.shape == \(3,\), expected \(4,\)"):
        Estimator().fit(X, y, sample_weight=np.ones(3))


@pytest.mark.fast
def test_a_classifier_needs_two_classes():
    with pytest.raises(InvalidData, match="y has one class only, 1; a classifier needs at least"):
        KernelPegasosClassifier().fit(X, np.ones(4, dtype=int))


def test_rows_to_predict_must_have_the_features_of_the_fit():
    model = KernelPegasosClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but KernelPegasosClassifier is expec"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(np.full((2, 2), np.nan))


@pytest.mark.fast
@pytest.mark.parametrize(
    ("scale", "kernel", "message"),
    [
        (1e200, "linear", r"values that are not finite: Linear\(\). Scale the columns of X"),
        (1e130, "poly", r"values that are not finite: Polynomial.* lower gamma, coef0 or degree"),
        (1e200, "rbf", r"Rows are too long for a Gaussian kernel: gamma .* Scale the columns"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_rows_too_long_for_the_kernel_are_refused(scale, kernel, message):
    with pytest.raises(InvalidData, match=message):
        KernelPegasosClassifier(kernel=kernel, gamma=1.0).fit(scale * X, y)


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
