"""Steps that stay in a set: their optimality, and the curvature of what they leave."""

import numpy as np
import pytest

from pegasos.online import Box, Everywhere, L1Ball, L2Ball, Simplex
from pegasos.online.proximal import curvature, prox

pytestmark = pytest.mark.fast

SETS = [
    Everywhere(), L2Ball(1.0), L2Ball(50.0), L1Ball(1.0), L1Ball(50.0), Simplex(1.0), Box(-0.5, 1),
]  # fmt: skip


def drawn(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(5), 10.0 ** rng.uniform(-1, 1, 5), rng


@pytest.mark.parametrize("within", SETS, ids=str)
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_no_other_point_of_the_set_pays_better(within, lam):
    w, h, rng = drawn(0)
    u = prox(within, w, h, lam)

    def paid(v):
        return 0.5 * lam * v @ v + 0.5 * h @ (v - w) ** 2

    for _ in range(50):
        v = u + 0.1 * rng.standard_normal(5)
        assert paid(u) <= paid(prox(within, v, h, 0.0)) + 1e-12


@pytest.mark.parametrize("within", SETS, ids=str)
@pytest.mark.parametrize("lam", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_curvature_is_the_derivative_of_the_multiplier(within, lam, seed):
    w, h, _ = drawn(seed)
    diagonal, v = curvature(within, w, prox(within, w, h, lam), h, lam)
    step, found = 1e-6, np.empty((5, 5))
    for j in range(5):
        sides = [w + sign * step * np.eye(5)[j] for sign in (1.0, -1.0)]
        up, down = (h * (side - prox(within, side, h, lam)) for side in sides)
        found[:, j] = (up - down) / (2.0 * step)
    np.testing.assert_allclose(np.diag(diagonal) + np.outer(v, v), found, atol=1e-6)
