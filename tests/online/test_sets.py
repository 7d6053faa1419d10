"""Projections: equal to cvxpy's and to a slow oracle, in either norm, in a few passes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online import Box, Everywhere, L1Ball, L2Ball, Simplex, nearest
from tests.reference.projections import by_cvxpy, projected

pytestmark = pytest.mark.fast

KINDS = [
    lambda r: Everywhere(),
    L2Ball,
    L1Ball,
    Simplex,
    lambda r: Box(-r, 0.5 * r),
]
numbers = st.floats(-100.0, 100.0).map(lambda x: round(x, 6))
vectors = st.lists(numbers, min_size=1, max_size=12)
seeds = st.integers(0, 2**31)


@pytest.mark.parametrize("kind", KINDS)
@given(vectors, st.floats(1e-3, 1e3), st.booleans(), seeds)
def test_projection_equals_the_oracle(kind, v, r, has_norm, seed):
    h = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, len(v)) if has_norm else None
    w = nearest(kind(r), v, h)
    size = max(r, np.abs(v).max())
    np.testing.assert_allclose(w, projected(kind(r), v, h), atol=1e-10 * size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_projection_equals_that_of_cvxpy(kind, seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 30))
    v = rng.standard_normal(d) * 10.0 ** rng.uniform(-1, 1)
    h = None if seed % 2 else 10.0 ** rng.uniform(-1, 1, d)
    within = kind(10.0 ** rng.uniform(-1, 1))
    np.testing.assert_allclose(nearest(within, v, h), by_cvxpy(within, v, h), atol=2e-6)


@pytest.mark.parametrize("kind", [L1Ball, Simplex])
def test_a_small_radius_costs_no_digits(kind):
    v = 1e6 + np.random.default_rng(0).standard_normal(50)
    w = nearest(kind(1e-9), v)
    assert np.abs(w).sum() == pytest.approx(1e-9, rel=1e-12)


@pytest.mark.parametrize("kind", [L1Ball, Simplex])
@pytest.mark.parametrize("base", [1.01, 2.0, 10.0])
def test_breakpoints_of_every_size_take_few_passes(kind, base):
    # Newton's method alone would drop few of these at a time.
    v = base ** np.linspace(-60, 60, 300)
    within = kind(0.3 * v.sum())
    np.testing.assert_allclose(nearest(within, v), projected(within, v), atol=1e-12 * v.max())


def test_by_hand():
    # |v| = (3, 1), radius 2: cut 1 off the first, all of the second.
    np.testing.assert_array_equal(nearest(L1Ball(2.0), [3.0, -1.0]), [2.0, 0.0])
    np.testing.assert_array_equal(nearest(L2Ball(5.0), [6.0, 8.0]), [3.0, 4.0])
    np.testing.assert_array_equal(nearest(Simplex(), [0.0, 0.0]), [0.5, 0.5])
    # A coordinate of weight 3 gives way a third as much: 3 a = b, a + b = 2 - 1.
    np.testing.assert_allclose(nearest(L1Ball(1.0), [1.0, 1.0], [3.0, 1.0]), [0.75, 0.25])


def test_the_argument_stays_as_it_is():
    v = np.array([3.0, 4.0])
    nearest(L2Ball(1.0), v)
    np.testing.assert_array_equal(v, [3.0, 4.0])


def test_a_million_weights_are_projected_in_a_few_passes():
    v = np.random.default_rng(0).standard_normal(10**6 if not _is_uncompiled() else 1000)
    for kind in KINDS:
        w = nearest(kind(3.0), v)
        np.testing.assert_allclose(w, projected(kind(3.0), v), atol=1e-9)


def _is_uncompiled():
    import numba

    return bool(numba.config.DISABLE_JIT)


@pytest.mark.parametrize(
    "within",
    [L2Ball(0.0), L1Ball(-1.0), Simplex(np.nan), L1Ball(np.inf), Box(1.0, 1.0), Box(0.0, np.inf)],
)
def test_empty_and_endless_sets_are_refused(within):
    with pytest.raises(InvalidParameter, match="got"):
        nearest(within, [1.0])


def test_what_is_no_set_or_no_vector_is_refused():
    with pytest.raises(InvalidParameter, match="the set must be one of Everywhere"):
        nearest("ball", [1.0])
    for v in ([], [[1.0]], [np.nan]):
        with pytest.raises(InvalidData, match="v must be a vector"):
            nearest(L2Ball(1.0), v)
    with pytest.raises(InvalidData, match="h must hold a positive number"):
        nearest(L2Ball(1.0), [1.0, 2.0], [1.0])
    with pytest.raises(InvalidData, match="h must hold a positive number"):
        nearest(L2Ball(1.0), [1.0], [0.0])
