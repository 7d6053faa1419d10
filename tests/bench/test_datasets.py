"""The real datasets have the sizes that their papers state."""

import os

import numpy as np
import pytest
from scipy.sparse import issparse

from bench.datasets import DATASETS

SHAPES = {
    "a9a": (32_561, 123),
    "cov1": (522_911, 54),
    "mnist8": (60_000, 784),
    "news20": (15_935, 62_061),
    "reuters": (9_603, 15_932),
    "textlike": (200_000, 47_236),
}


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("PEGASOS_DATA"), reason="PEGASOS_DATA is not set")
@pytest.mark.parametrize("name", DATASETS)
def test_dataset_has_its_size_and_finite_values(name):
    module = DATASETS[name]
    dataset = module.load(module.LAMS[0])
    assert dataset.X.shape == SHAPES[name]
    assert len(dataset.y) == SHAPES[name][0]
    values = dataset.X.data if issparse(dataset.X) else dataset.X
    assert np.isfinite(values).all()
    assert dataset.n_models == (20 if name == "news20" else 1)
    if name in ("cov1", "mnist8"):
        assert (values.min(), values.max()) == (0.0, 1.0)
    if issparse(dataset.X):
        assert dataset.X.has_canonical_format
        assert dataset.X.indices.dtype == np.int32


def test_a_missing_data_folder_is_named(monkeypatch):
    from bench.harness.files import open_data

    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="PEGASOS_DATA"):
        open_data("a9a", "a9a.xz")
