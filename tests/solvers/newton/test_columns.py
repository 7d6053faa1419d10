"""Means, spreads and reaches of columns: those of NumPy, rows on threads or not."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton.columns import columns_of


@pytest.mark.fast
@pytest.mark.parametrize("n", [40, 4000])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_columns_are_centred_and_scaled_as_numpy_does(n, container, is_weighted, monkeypatch):
    monkeypatch.setattr("pegasos.problem.objective.VALUES_PER_PART", 1000)
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((n, 6)) + np.arange(6.0)) * (rng.random((n, 6)) < 0.6)
    s = rng.integers(0, 3, n).astype(float) if is_weighted else np.ones(n)
    problem = make_problem(
        Hinge(), as_rows(container(X)), np.where(X[:, [0]] > 0.0, 1.0, -1.0),
        s if is_weighted else None, 0.1, "free",
    )  # fmt: skip
    m = s @ X / s.sum()
    scale = np.sqrt(s @ (X - m) ** 2 / s.sum())
    found = columns_of(problem, True)
    assert found.m == pytest.approx(m)
    assert found.scale == pytest.approx(scale)
    assert found.reach == pytest.approx(np.abs(X - m)[s > 0.0].max(axis=0) / scale)
