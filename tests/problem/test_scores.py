"""Scores of weights of features: errors are below their bounds, held against exact sums."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos.data.rows import sizes
from pegasos.problem.losses import Hinge
from pegasos.problem.scores import EPS, extent, linear_scores, sharper
from tests.conftest import draw


def exact_score(w, x):
    """<w, x> as a fraction: no rounding at all."""
    return sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(w, x, strict=True))


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_of_linear_scores_are_below_both_bounds(kind, dtype):
    drawn = draw(Hinge(), n=12, d=40, K=2, kind=kind, dtype=dtype)
    rng = np.random.default_rng(0)
    W = rng.standard_normal((40, 2)) * 10.0 ** rng.uniform(-6, 6, (40, 1))
    known = extent(drawn.problem)
    rough = linear_scores(drawn.problem.rows, W, np.empty((12, 2)), known)
    fine = sharper(drawn.problem, W, rough, known)
    assert np.all(fine.radius <= rough.radius)
    for i, k in np.ndindex(12, 2):
        error = abs(Fraction(float(rough.Z[i, k])) - exact_score(W[:, k], drawn.X[i]))
        assert error <= Fraction(float(fine.radius[0, k]))
    largest = np.abs(drawn.X) @ np.abs(W)
    np.testing.assert_allclose(
        fine.radius[0], (known.values + 16) * EPS * largest.max(axis=0), rtol=1e-12
    )


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_sizes_are_sums_of_absolute_products(kind):
    drawn = draw(Hinge(), kind=kind)
    W, z = np.random.default_rng(0).standard_normal((6, 3)), np.empty(3)
    for i in range(30):
        sizes(drawn.problem.rows, i, W, z)
        np.testing.assert_allclose(z, np.abs(drawn.X[i]) @ np.abs(W), rtol=1e-13)
