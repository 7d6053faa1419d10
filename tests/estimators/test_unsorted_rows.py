"""CSR rows with unsorted indices are used as they are: the same model, but for rounding."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import (
    FourierFeatures,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
)


def rows():
    rng = np.random.default_rng(0)
    X = sparse.random(60, 12, density=0.4, format="csr", rng=rng)
    y = np.where(X @ rng.standard_normal(12) > 0.1, 1, 0)
    return X, y


def shuffled(X):
    """The same matrix, the values of every row in another order."""
    rng = np.random.default_rng(1)
    X = X.copy()
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = start + rng.permutation(stop - start)
        X.indices[start:stop], X.data[start:stop] = X.indices[order], X.data[order]
    X.has_sorted_indices = X.has_canonical_format = False
    return X


MODELS = [
    PegasosClassifier(random_state=0),
    PegasosRegressor(random_state=0),
    KernelPegasosClassifier(kernel="rbf", random_state=0),
    KernelPegasosClassifier(kernel="poly", random_state=0),
    KernelPegasosClassifier(kernel="laplacian", gamma=1.0, random_state=0),
    KernelPegasosRegressor(kernel="rbf", random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_unsorted_rows_give_the_same_model(model):
    X, y = rows()
    other = shuffled(X)
    before = other.indices.copy()
    assert not np.array_equal(before, X.indices)
    Z = model.fit(X, y).predict(X), model.decision_bounds(X)
    objective = model.certificate_.primal
    Z_other = model.fit(other, y).predict(other), model.decision_bounds(other)
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-9)
    np.testing.assert_allclose(Z_other[0], Z[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(Z_other[1], Z[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(other.indices, before)  # the user's matrix is left alone


def test_unsorted_rows_stream_and_transform_alike():
    X, y = rows()
    for stream in (PegasosClassifier(lam=0.01), KernelPegasosClassifier()):
        one = stream.partial_fit(X, y, classes=[0, 1]).decision_function(X)
        other = stream.__class__(**stream.get_params())
        other.partial_fit(shuffled(X), y, classes=[0, 1])
        np.testing.assert_allclose(other.decision_function(X), one, rtol=1e-9, atol=1e-9)
    features = FourierFeatures(n_pairs=5, random_state=0)
    one = features.fit_transform(X)
    np.testing.assert_allclose(features.fit_transform(shuffled(X)), one, atol=1e-12)
