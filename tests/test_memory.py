"""A fit adds no copy of X: at most 40 bytes per row and 40 per feature, and a small constant."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier, PegasosRegressor

PER_ROW = PER_FEATURE = 40
CONSTANT = 100_000  # history, certificate, buffers of NumPy


def data(n, d, kind):
    rng = np.random.default_rng(0)
    if kind == "csr":
        X = sparse.random(n, d, density=min(1.0, 20 / d), format="csr", rng=rng)
        return X, np.where(rng.standard_normal(n) > 0.0, 1, 0)
    X = (3.0 * rng.standard_normal((n, d))).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0.0, 1, 0)
    return (np.abs(X) if kind == "uint8" else X).astype(kind), y


def peak(estimator, X, y):
    """Bytes allocated at most during a fit, beyond what was there before."""
    estimator.fit(X[:50], y[:50])  # compiles
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        estimator.fit(X, y)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("n", "d"), [(100_000, 10), (60, 100_000)])
@pytest.mark.parametrize("kind", ["float32", "float64", "uint8", "csr"])
def test_fit_takes_at_most_40_bytes_per_row_and_feature(kind, n, d):
    X, y = data(n, d, kind)
    used = peak(PegasosClassifier(C=1e-4, random_state=0), X, y)
    assert used <= PER_ROW * n + PER_FEATURE * d + CONSTANT


def test_regression_takes_no_more():
    X, _ = data(100_000, 10, "float64")
    y = X[:, 0] + np.random.default_rng(1).standard_normal(100_000)
    used = peak(PegasosRegressor(C=1e-4, random_state=0), X, y)
    assert used <= PER_ROW * 100_000 + CONSTANT


def test_many_classes_take_no_more_per_model():
    X, _ = data(3_000, 2_000, "float32")
    y = np.arange(3_000) % 5
    used = peak(PegasosClassifier(C=1e-6, random_state=0, max_iter=3, tol=0.5), X, y)
    assert used <= 5 * (PER_ROW * 3_000 + PER_FEATURE * 2_000) + CONSTANT
