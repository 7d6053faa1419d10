"""Means, spreads and reaches of columns: those of NumPy, rows on threads or not."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.newton import Newton


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


@pytest.mark.fast
@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-160])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_columns_whose_squares_are_next_to_0_divide_nothing(container, size):
    X = np.column_stack([np.tile([1.0, -2.0, 0.5], 4), np.full(12, size)])
    Y = np.where(X[:, [0]] > 0.0, 1.0, -1.0)
    problem = make_problem(Hinge(), as_rows(container(X)), Y, None, 0.1, "free")
    assert solve(problem, Newton(), Stopping(tol=1e-6)).certificate.relative_gap <= 1e-6
