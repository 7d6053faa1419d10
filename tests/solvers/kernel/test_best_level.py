"""The level that suits lam: against brute force over all kinks, for all kinds of heights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.solvers.kernel.best_level import balanced_best_level, best_level, best_scale
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
    assert best_level(c, 1.0, np.empty(2)) == 1.0
    assert best_level(c, 8.0, np.empty(2)) == pytest.approx(8.0 / 3.0)
    # 3 is between: the first column alone asks for 3, above the second; both ask for 1.
    assert best_level(c, 3.0, np.empty(2)) == 2.0
    assert best_level(-c, 1.0, np.empty(2)) == np.inf
    assert best_scale(-c, c, False, 1.0) == 0.0
    assert c.tolist() == [2.0, 1.0]


@pytest.mark.fast
@given(columns=COLUMNS, lam=LAMS, free=st.booleans())
def test_best_scale_equals_brute_force(columns, lam, free):
    c, y = rows_of(columns)
    n, square = len(c), 0.7
    s = best_scale(c, y, free, n * lam * square)

    def P(s):
        return 0.5 * lam * s**2 * square + reference.hinges(c, y, free, s) / n

    best = P(1.0 / reference.gamma_for_lam(c, y, free, lam, square))
    assert P(s) == pytest.approx(best, rel=1e-12)


@pytest.mark.fast
@given(columns=COLUMNS, lam=LAMS)
def test_equally_many_rows_of_each_class_are_under_water(columns, lam):
    c, y = rows_of(columns)
    gamma, _, k, low_plus, low_minus = balanced_best_level(c, y, len(c) * lam, np.empty_like(c))
    assert low_plus == np.sort(c[y > 0.0])[k - 1]
    assert low_minus == np.sort(c[y < 0.0])[k - 1]
    heights, _ = reference.columns(c, y, True)
    assert np.all(heights[:k] <= gamma + 1e-12)
    assert np.all(heights[k:] >= gamma - 1e-12)
