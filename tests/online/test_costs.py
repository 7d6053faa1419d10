"""Costs of rows: sums over rows, means and gradients as NumPy has them."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import CustomLoss
from pegasos.online import row_costs
from pegasos.online.row_sums import add_rows, each_loss, scores_of, write_slopes
from pegasos.online.saddle import dual_steps, write_bounds, write_gains
from pegasos.problem import losses

pytestmark = pytest.mark.fast

LOSSES = [*losses.MARGIN_LOSSES.values(), losses.EpsilonInsensitive(0.1)]


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 4)) * (rng.random((9, 4)) < 0.6)
    return X, np.tile([1.0, -1.0, 1.0], 3), rng


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("has_constant", [False, True])
def test_sums_over_rows(layout, has_constant):
    X, y, rng = drawn()
    full = np.hstack([X, np.ones((9, 1))]) if has_constant else X
    costs = row_costs(layout(X), y, fit_intercept=has_constant)
    w, a, g = rng.standard_normal(full.shape[1]), rng.standard_normal(9), np.zeros(full.shape[1])
    np.testing.assert_allclose(scores_of(costs.rows, costs.constant, w), full @ w)
    add_rows(costs.rows, costs.constant, a, g)
    np.testing.assert_allclose(g, full.T @ a)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_loops_over_rows_are_the_loss_of_every_row(loss):
    _, y, rng = drawn()
    z, a = 2.0 * rng.standard_normal(9), 0.5 * y * rng.random(9)
    np.testing.assert_allclose(
        each_loss(loss, z, y), [losses.value(loss, *r) for r in zip(z, y, strict=True)]
    )
    out, bounds, stepped = np.empty(9), np.empty((2, 9)), a.copy()
    write_slopes(loss, z, y, out)
    np.testing.assert_allclose(out, [losses.slope(loss, *row) for row in zip(z, y, strict=True)])
    write_gains(loss, a, y, out)
    np.testing.assert_allclose(out, [losses.gain(loss, *row) for row in zip(a, y, strict=True)])
    write_bounds(loss, y, bounds)
    np.testing.assert_array_equal(bounds[0], [losses.lower(loss, t) for t in y])
    np.testing.assert_array_equal(bounds[1], [losses.upper(loss, t) for t in y])
    dual_steps(loss, z, 0.7, y, stepped)
    expected = [
        losses.dual_step(loss, z_i, a_i, 0.7, t) for z_i, a_i, t in zip(z, a, y, strict=True)
    ]
    np.testing.assert_allclose(stepped, expected, rtol=1e-12)


def test_the_mean_over_all_rows_and_its_gradient():
    X, y, rng = drawn()
    full = row_costs(X, y, loss="squared_hinge", lam=0.3).full()
    w = rng.standard_normal(4)
    u = np.maximum(0.0, 1.0 - y * (X @ w))
    assert full.value(w) == pytest.approx((u**2).mean() + 0.15 * w @ w)
    np.testing.assert_allclose(full.gradient(w), -2.0 * X.T @ (u * y) / 9 + 0.3 * w)
    assert full.lam == 0.3


def test_a_loss_of_ones_own():
    def value(z, y):
        return (z - y) ** 2

    def slope(z, y):
        return 2.0 * (z - y)

    X, y, rng = drawn()
    w = rng.standard_normal(4)
    full = row_costs(X, y, loss=CustomLoss(value, slope)).full()
    assert full.value(w) == pytest.approx(((X @ w - y) ** 2).mean())
