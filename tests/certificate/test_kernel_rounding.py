"""A certificate never claims more than the exact kernel bears out, whatever rounding does."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pegasos import KernelPegasosClassifier


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("far", [0.0, 4.0, 1e6])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_claims_hold_for_the_exact_gaussian(kind, far, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)
    Z = (X + far).astype(kind)
    exact = np.exp(-0.5 * cdist(Z.astype(float), Z.astype(float), "sqeuclidean"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # float32 and C = 1e4: rounding hides the rest
        truth = KernelPegasosClassifier(kernel="precomputed", C=C, tol=1e-9).fit(exact, y)
        model = KernelPegasosClassifier(gamma=0.5, C=C, random_state=0).fit(Z, y)
    B = np.zeros(60)
    B[model.support_] = model.dual_coef_[0]
    margins = np.where(y == 1, 1, -1) * (exact @ B + model.intercept_[0])
    objective = 0.5 * model.lam_ * B @ exact @ B + np.maximum(0.0, 1.0 - margins).mean()
    optimum = truth.certificate_.primal
    assert (objective - optimum) / optimum <= model.certificate_.relative_gap + 1e-9
    low, high = model.decision_bounds(Z)
    values = truth.decision_function(exact)
    assert np.all((low - 1e-7 <= values) & (values <= high + 1e-7))


def test_kernel_values_too_coarse_for_the_tolerance_are_computed_in_double_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = rng.integers(0, 2, 60)
    model = KernelPegasosClassifier(gamma=0.5, C=1e5, tol=1e-4).fit(X, y)
    assert model.certificate_.is_within_tol
