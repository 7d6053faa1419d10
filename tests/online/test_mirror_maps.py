"""Mirror maps: the way back is the minimum that it claims to be."""

import cvxpy as cp
import numpy as np
import pytest

from pegasos.errors import InvalidParameter
from pegasos.online import Box, Entropy, Euclidean, Everywhere, L1Ball, L2Ball, PNorm, Simplex
from pegasos.online.mirror_maps import checked_map, dual_square, link, mirror, p_for
from tests.reference.online import mirrored
from tests.reference.projections import constraints

pytestmark = pytest.mark.fast

PAIRS = [
    (Euclidean(), L1Ball(1.0)),
    (PNorm(1.5), Everywhere()),
    (PNorm(1.2), L1Ball(1.3)),
    (PNorm(2.0), L1Ball(0.7)),
    (PNorm(1.5), Simplex(2.0)),
]


@pytest.mark.parametrize(("mirror_map", "within"), PAIRS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_way_back_is_the_minimum_that_cvxpy_finds(mirror_map, within, seed):
    theta = np.random.default_rng(seed).standard_normal(6)
    w = np.empty(6)
    mirror(mirror_map, within, theta, w)
    p = getattr(mirror_map, "p", 2.0)
    u = cp.Variable(6)
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.square(cp.pnorm(u, p)) - theta @ u), constraints(within, u)
    )
    problem.solve(solver="CLARABEL")
    ours = 0.5 * np.linalg.norm(w, p) ** 2 - theta @ w
    assert ours <= problem.value + 1e-6
    np.testing.assert_allclose(w, u.value, atol=1e-3)


@pytest.mark.parametrize("within", [L1Ball(2.0), Simplex(0.5)])
def test_entropy_is_a_softmax(within):
    theta = np.random.default_rng(0).standard_normal(5)
    w = np.empty(5)
    mirror(Entropy(), within, theta, w)
    np.testing.assert_allclose(w, mirrored(Entropy(), within, theta))
    mirror(Entropy(), within, 1e4 * theta, w)  # does not overflow
    assert np.abs(w).sum() == pytest.approx(within.radius)


def test_there_and_back_again():
    w, theta, back = np.array([0.3, -1.2, 0.0, 2.0]), np.empty(4), np.empty(4)
    for mirror_map in (Euclidean(), PNorm(1.4)):
        link(mirror_map, w, theta)
        mirror(mirror_map, Everywhere(), theta, back)
        np.testing.assert_allclose(back, w, atol=1e-12)


def test_dual_norms():
    g = np.array([3.0, -4.0])
    assert dual_square(Euclidean(), g) == 25.0
    assert dual_square(Entropy(), g) == 16.0
    assert dual_square(PNorm(2.0), g) == pytest.approx(25.0)
    assert dual_square(PNorm(1.5), np.zeros(2)) == 0.0


def test_p_suits_the_number_of_features():
    assert p_for(1) == 2.0
    assert p_for(10**6) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("mirror_map", "within", "says"),
    [
        (Entropy(), L2Ball(1.0), "Entropy needs L1Ball or Simplex"),
        (Entropy(), Everywhere(), "Entropy needs L1Ball or Simplex"),
        (PNorm(1.0), L1Ball(1.0), "1 < p <= 2"),
        (PNorm(3.0), L1Ball(1.0), "1 < p <= 2"),
        (PNorm(1.5), Box(), "PNorm goes with"),
        ("entropy", L1Ball(1.0), "the mirror map must be"),
    ],
)
def test_maps_that_do_not_go_with_a_set_are_refused(mirror_map, within, says):
    with pytest.raises(InvalidParameter, match=says):
        checked_map(mirror_map, within)
