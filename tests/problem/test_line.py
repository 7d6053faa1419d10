"""The best point on a line of weights, against a search that knows nothing of slopes."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pegasos.problem.line import best_steps, slope_along
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from tests.conftest import draw
from tests.reference import losses
from tests.reference import objective as reference

LOSSES = [
    (Hinge(), losses.hinge),
    (SquaredHinge(), losses.squared_hinge),
    (Logistic(), losses.logistic),
    (EpsilonInsensitive(0.1), losses.epsilon_insensitive),
]


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize(("loss", "value"), LOSSES, ids=lambda part: type(part).__name__)
def test_no_point_of_the_line_is_better(loss, value, bias):
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, bias=bias, weighted=True, regression=is_regression)
    rng = np.random.default_rng(1)
    w, v = rng.standard_normal((2, 6))
    b, c = (0.3, -0.2) if bias != "none" else (0.0, 0.0)

    def objective(u):
        return reference.primal(
            value, drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, w + u * v, b + u * c,
            drawn.problem.bias_scale,
        )  # fmt: skip

    Z, D = (drawn.X @ w)[:, None], (drawn.X @ v)[:, None]
    biases, products = (np.array([b]), np.array([c])), (np.array([w @ v]), np.array([v @ v]))
    u = best_steps(drawn.problem, (Z, D), biases, products)[0]
    least = minimize_scalar(objective, bracket=(-3.0, 3.0), tol=1e-12).fun
    assert objective(u) <= least * (1.0 + 1e-9)
    h = 1e-6
    if not isinstance(loss, Hinge | EpsilonInsensitive):
        slope = drawn.lam * (w + 0.5 * v) @ v
        slope += slope_along(drawn.problem.costs, Z, D, 0, biases, 0.5) / drawn.problem.S
        slope += drawn.lam * (b + 0.5 * c) * c / 1.5**2 if bias == "regularized" else 0.0
        assert slope == pytest.approx(
            (objective(0.5 + h) - objective(0.5 - h)) / (2.0 * h), rel=1e-5
        )
