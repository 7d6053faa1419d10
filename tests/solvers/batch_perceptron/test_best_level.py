"""The level that suits lam: against brute force over all kinks, for all kinds of heights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.solvers.batch_perceptron.best_level import balanced_best_level, best_level, best_scale
from tests.reference import batch_perceptron as reference

TIED = st.integers(-3, 5).map(float)  # few values: ties are frequent
HEIGHTS = TIED | st.floats(-10.0, 10.0).map(lambda x: round(x, 6))
COLUMNS = st.lists(st.tuples(HEIGHTS, st.booleans()), max_size=30)
LAMS = st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 30.0])


def rows_of(columns):
    c = np.array([1.0, -0.5] + [height for height, _ in columns])
    return c, np.array([1.0, -1.0] + [1.0 if is_plus else -1.0 for _, is_plus in columns])


@pytest.mark.fast
def test_levels_worked_by_hand():
    # c = (1, 2), n lam ||w||^2 = 1: with both columns under water the slope vanishes at 1/3, which
    # is below both; with the first alone at 1: gamma = 1.  With 8, 8/3 is above both columns.
    c = np.array([2.0, 1.0])
    assert best_level(c, 1.0, np.empty(2))[:2] == (1.0, 1.0)
    assert best_level(c, 8.0, np.empty(2))[:2] == pytest.approx((8.0 / 3.0, 2.0))
    # 3 is between: the first column alone asks for 3, above the second; both ask for 1. So it is
    # the second, of which 1/4 counts: 1 + 2/4 = 3/2.
    assert best_level(c, 3.0, np.empty(2))[:2] == (2.0, 1.25)
    assert best_level(-c, 1.0, np.empty(2))[:2] == (np.inf, 2.0)
    assert best_scale(-c, c, False, 1.0) == 0.0
    assert c.tolist() == [2.0, 1.0]


@pytest.mark.fast
@given(columns=COLUMNS, lam=LAMS, free=st.booleans())
def test_best_scale_equals_brute_force(columns, lam, free):
    c, y = rows_of(columns)
    n, square = len(c), 0.7
    s = best_scale(c, y, free, n * lam * square)

    def primal(s):
        return 0.5 * lam * s**2 * square + reference.hinges(c, y, free, s) / n

    best = primal(1.0 / reference.gamma_for_lam(c, y, free, lam, square))
    assert primal(s) == pytest.approx(best, rel=1e-12)


@pytest.mark.fast
@given(columns=COLUMNS, lam=LAMS, free=st.booleans())
def test_the_mass_gives_the_slope_of_the_level(columns, lam, free):
    c, y = rows_of(columns)
    stiffness = len(c) * lam
    found = (
        balanced_best_level(c, y, stiffness, np.empty_like(c))
        if free
        else best_level(c, stiffness, np.empty_like(c))
    )
    heights, times = reference.columns(c, y, free)
    whole = int(np.floor(found.mass + 1e-9))
    rest = max(0.0, found.mass - whole)
    response = heights[:whole].sum() + (rest * heights[whole] if whole < len(heights) else 0.0)
    scale = 1.0 + np.abs(c).sum()
    if np.isfinite(found.gamma):
        assert times * response == pytest.approx(stiffness / found.gamma, abs=1e-6 * scale)
    else:
        assert found.mass == len(heights)
    if free:
        k = max(1, int(np.ceil(found.mass - 1e-9)))
        assert found.low_plus == np.sort(c[y > 0.0])[k - 1]
        assert found.low_minus == np.sort(c[y < 0.0])[k - 1]
