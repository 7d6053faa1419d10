"""The kernel datasets have the sizes and the scaling that their papers state."""

import numpy as np
import pytest
from scipy.sparse import issparse

from bench.kernel.datasets import DATASETS

SHAPES = {
    "a9a": (32_561, 16_281, 123),
    "mnist8": (60_000, 10_000, 784),
    "money-fx": (7_770, 3_299, 8_315),
    "usps8": (7_291, 2_007, 256),
}


@pytest.mark.data
@pytest.mark.parametrize("name", DATASETS)
def test_dataset_has_its_size_and_labels(name):
    dataset = DATASETS[name].load()
    train, test, columns = SHAPES[name]
    assert dataset.X.shape == (train, columns)
    assert dataset.X_test.shape == (test, columns)
    assert dataset.X.dtype == dataset.X_test.dtype == np.float32
    assert (len(dataset.y), len(dataset.y_test)) == (train, test)
    assert set(dataset.y.tolist()) == set(dataset.y_test.tolist()) == {-1, 1}
    assert issparse(dataset.X) == issparse(dataset.X_test) == (name in ("a9a", "money-fx"))
    assert pytest.approx(1.0, rel=0.01) == dataset.C


@pytest.mark.data
def test_usps_rows_have_unit_length():
    dataset = DATASETS["usps8"].load()
    for X in (dataset.X, dataset.X_test):
        assert np.linalg.norm(X, axis=1) == pytest.approx(1.0, abs=1e-6)
