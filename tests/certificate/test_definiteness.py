"""Kernels that only their maker knows are tested before anything is called proven."""

import warnings

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier
from pegasos.certificate import definiteness as module
from pegasos.certificate.definiteness import definiteness
from pegasos.data.rows import as_rows
from pegasos.errors import IndefiniteKernel
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Custom, Gaussian, Polynomial, Precomputed, Sigmoid


def largest_difference(A, B):
    """A function of distances that looks like a kernel and is none."""
    return 1.0 - np.abs(A[:, None, :] - B[None, :, :]).max(axis=2) / 10.0


def gaussian(A, B):
    return np.exp(-0.1 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def gram_of(kernel, n=60, dtype=np.float64):
    X = np.random.default_rng(0).uniform(-5.0, 5.0, (n, 4)).astype(dtype)
    return Gram(kernel, as_rows(X), 1 << 24)


@pytest.mark.fast
def test_built_in_kernels_are_known():
    assert definiteness(gram_of(Gaussian(0.1)), 0) == (True, "")
    assert definiteness(gram_of(Sigmoid(0.1, 0.0)), 0) == (False, "")
    assert definiteness(gram_of(Polynomial(0.1, -1.0, 2.0)), 0) == (False, "")


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("few", [100, 40])
def test_functions_are_tested_on_all_rows_or_on_random_sets(dtype, few, monkeypatch):
    monkeypatch.setattr(module, "FEW_ROWS", few)
    monkeypatch.setattr(module, "BLOCK_ROWS", 30)
    tested = "all 60 rows together" if few == 100 else "8 random sets of 30 rows"
    assert definiteness(gram_of(Custom(gaussian), dtype=dtype), 0) == (True, tested)
    assert definiteness(gram_of(Custom(largest_difference), dtype=dtype), 0) == (False, tested)


@pytest.mark.fast
def test_a_matrix_with_a_small_negative_eigenvalue_is_found():
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 50)))
    for least, expected in ((-1e-4, False), (-1e-9, False), (0.0, True)):
        values = np.concatenate([[least], np.linspace(0.1, 2.0, 49)])
        K = (Q * values) @ Q.T
        gram = Gram(Precomputed(), as_rows(0.5 * (K + K.T)), 1 << 24)
        assert definiteness(gram, 0).is_psd == expected


def test_nothing_is_called_proven_before_the_test(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-5.0, 5.0, (60, 4)), rng.integers(0, 2, 60)
    for kernel in (largest_difference, "sigmoid"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KernelPegasosClassifier(kernel=kernel, verbose=1, max_iter=60).fit(X, y)
        assert not model.certificate_.is_proven
        assert "proven within" not in capsys.readouterr().err
    with pytest.warns(IndefiniteKernel, match="not positive semi-definite"):
        KernelPegasosClassifier(kernel=largest_difference).fit(X, y)


def test_a_certificate_says_what_was_tested():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-5.0, 5.0, (60, 4)), rng.integers(0, 2, 60)
    certificate = KernelPegasosClassifier(kernel=gaussian).fit(X, y).certificate_
    assert certificate.is_proven
    assert certificate.kernel_tested_on == "all 60 rows together"
    assert "if the kernel is as semi-definite as all 60 rows together show" in str(certificate)
    assert certificate.basis == "recomputed"
