"""Kernels: values worked by hand, powers, and which of them are positive semi-definite."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    exponents,
    finish,
    is_bounded,
    is_of_distance,
    is_psd,
    left_factor,
)

pytestmark = pytest.mark.fast

# x = (1, 2), z = (3, -1): <x, z> = 1, ||x||^2 = 5, ||z||^2 = 10, ||x - z||^2 = 13,
# abs(1 - 3) + abs(2 + 1) = 5.
BY_HAND = [
    (Linear(), 1.0),
    (Gaussian(0.1), np.exp(-1.3)),
    (Polynomial(2.0, 1.0, 3), 27.0),
    (Polynomial(2.0, -4.0, 2), 4.0),
    (Sigmoid(0.5, -0.25), np.tanh(0.25)),
    (Laplacian(0.2), np.exp(-1.0)),
]


def value(kernel, x, z):
    """One kernel value by the steps that a block takes."""
    x, z = np.array(x), np.array(z)
    raw = np.abs(x - z).sum() if is_of_distance(kernel) else left_factor(kernel) * (x @ z)
    block = np.array([[float(raw)]])
    of = [exponents(kernel, np.array([float(v @ v)]), np.float64) for v in (x, z)]
    finish(kernel, block, of[0], of[1])
    return block[0, 0]


@pytest.mark.parametrize(("kernel", "expected"), BY_HAND, ids=str)
def test_a_value_worked_by_hand(kernel, expected):
    assert value(kernel, [1.0, 2.0], [3.0, -1.0]) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7, 2.0, 3.0])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_whole_powers_equal_those_of_numpy(degree, precision):
    base = np.random.default_rng(0).standard_normal((20, 30)).astype(precision)
    block = base.copy()
    finish(Polynomial(1.0, 0.0, degree), block, None, None)
    assert block.dtype == precision
    np.testing.assert_allclose(block, base**degree, rtol=8 * np.finfo(precision).eps)


def test_a_fractional_power_equals_that_of_numpy():
    base = np.random.default_rng(0).random((20, 30))
    block = base.copy()
    finish(Polynomial(1.0, 0.5, 2.5), block, None, None)
    np.testing.assert_allclose(block, (base + 0.5) ** 2.5, rtol=1e-14)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)], ids=str)
def test_rounding_lifts_no_value_above_1(kernel):
    # A distance that rounding made negative: -1e-9 instead of 0.
    block = np.array([[1e-9 if isinstance(kernel, Gaussian) else -1e-9]])
    finish(kernel, block, np.zeros(1), np.zeros(1))
    assert block[0, 0] == 1.0


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("kernel", [k for k, _ in BY_HAND if is_bounded(k)], ids=str)
@pytest.mark.parametrize("raw", [np.inf, -np.inf, np.nan, 1e308])
def test_values_said_to_be_finite_are_so_whatever_products_overflow_to(kernel, raw):
    # inf - inf, the product of two long rows of mixed signs, is not a number.
    if is_of_distance(kernel) and not raw >= 0.0:
        return  # a sum of absolute values is never one
    block = np.array([[raw]])
    exponent = np.array([-1e308 if isinstance(kernel, Gaussian) else 0.0])
    finish(kernel, block, exponent, exponent)
    assert np.isfinite(block[0, 0])


def test_exponents_are_those_of_the_gaussian_alone():
    squares = np.array([0.0, 2.0, 5.0])
    found = exponents(Gaussian(0.5), squares, np.float32)
    assert found.dtype == np.float32
    assert found.tolist() == [0.0, -1.0, -2.5]
    for kernel in (Linear(), Polynomial(1.0, 0.0, 2), Sigmoid(1.0, 0.0), Laplacian(1.0)):
        assert len(exponents(kernel, squares, np.float64)) == 0


PSD = [
    (Linear(), pairwise.linear_kernel),
    (Gaussian(0.7), pairwise.rbf_kernel),
    (Laplacian(0.7), pairwise.laplacian_kernel),
    (Polynomial(0.7, 0.0, 3.0), pairwise.polynomial_kernel),
    (Polynomial(0.7, 2.0, 2), pairwise.polynomial_kernel),
]
INDEFINITE = [
    (Sigmoid(1.0, -1.0), pairwise.sigmoid_kernel),
    (Polynomial(1.0, -1.0, 2), pairwise.polynomial_kernel),
    (Polynomial(0.1, 1.0, 1.5), pairwise.polynomial_kernel),
]


def least_eigenvalue(kernel, oracle, d):
    """Of the kernel matrix of random rows, relative to the largest."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, d))
    eigenvalues = np.linalg.eigvalsh(oracle(X, **kernel._asdict()))
    return eigenvalues[0] / eigenvalues[-1]


@pytest.mark.parametrize(("kernel", "oracle"), PSD)
def test_kernels_said_to_be_positive_semi_definite_are(kernel, oracle):
    assert is_psd(kernel) is True
    assert least_eigenvalue(kernel, oracle, 3) >= -1e-12


@pytest.mark.parametrize(("kernel", "oracle"), INDEFINITE)
def test_kernels_said_not_to_be_are_not_on_some_rows(kernel, oracle):
    assert is_psd(kernel) is False
    assert least_eigenvalue(kernel, oracle, 5) < -1e-8


def test_what_a_user_brings_only_the_user_can_know():
    assert is_psd(Precomputed()) is None
    assert is_psd(Custom(lambda A, B: A @ B.T)) is None
