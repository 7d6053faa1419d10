"""Water levels: against brute force, for all kinds of heights, and in linear time."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.solvers.batch_perceptron import water
from tests.reference import water as reference

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps

TIED = st.integers(-3, 3).map(float)  # few values: ties are frequent
HEIGHTS = TIED | st.floats(-1e3, 1e3) | st.sampled_from([-1e100, -1e-100, 1e15, 1e100])
VOLUMES = st.integers(0, 30).map(float) | st.floats(0.0, 1e4) | st.sampled_from([1e-9, 1e60])
COLUMNS = st.lists(HEIGHTS, min_size=1, max_size=40)
TWO_CLASSES = st.lists(st.tuples(TIED | st.floats(-1e3, 1e3), st.booleans()), max_size=24)
LABELS = np.array([1.0, -1.0])


def level(c, volume):
    return float(water.water_level(c, volume, np.empty_like(c)))


def balanced(c, y, volume):
    return water.balanced_water_level(c, y, volume, np.empty_like(c))


def classes(rows, plus, minus):
    """Heights and labels of `rows` and one row of each class."""
    c = np.array([plus, minus] + [height for height, _ in rows])
    y = np.concatenate([LABELS, [1.0 if is_plus else -1.0 for _, is_plus in rows]])
    return c, y


@pytest.mark.fast
def test_water_over_three_columns():
    # Columns 0, 1 and 3: level 1.5 holds 1.5 + 0.5 + 0; 3 holds 3 + 2 + 0; 5 holds 5 + 4 + 2.
    c = np.array([3.0, 0.0, 1.0])
    assert [level(c, volume) for volume in (0.0, 0.5, 2.0, 5.0, 11.0)] == [0.0, 0.5, 1.5, 3.0, 5.0]
    assert c.tolist() == [3.0, 0.0, 1.0]


@pytest.mark.fast
def test_water_in_two_basins():
    # C+ = (0, 2), C- = (1, 5): s = (1, 7), so 4 of water reach 2 gamma = 5 over the first rank.
    # gamma+ + gamma- = 5 with gamma+ in [0, 2], gamma- in [1, 5]: gamma+ in [0, 2], middle 1.
    c, y = np.array([0.0, 5.0, 2.0, 1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert balanced(c, y, 4.0) == (2.5, 1.5, 1, 0.0, 1.0)
    assert balanced(c, y, 0.0) == (0.5, 0.5, 1, 0.0, 1.0)
    assert balanced(c, y, 10.0)[:3] == (4.5, 1.5, 2)  # all under water: 2 gamma = (10 + 8) / 2


@pytest.mark.fast
@given(heights=COLUMNS, volume=VOLUMES)
def test_level_equals_brute_force(heights, volume):
    expected = reference.water_level(heights, volume)
    found = level(np.array(heights), volume)
    under = sum(height < expected for height in heights)
    error = abs(Fraction(found) - expected)
    assert error <= 1e-14 * abs(expected) + Fraction(1e-14 * volume) / max(1, under)


@pytest.mark.fast
@given(heights=COLUMNS)
def test_no_water_stands_at_the_lowest_column(heights):
    assert level(np.array(heights), 0.0) == min(heights)


@pytest.mark.fast
@given(rows=TWO_CLASSES, plus=TIED, minus=TIED, volume=st.integers(0, 60).map(float))
def test_balanced_level_equals_the_linear_program(rows, plus, minus, volume):
    c, y = classes(rows, plus, minus)
    expected = reference.balanced_water_level(c, y, volume)
    assert balanced(c, y, volume).gamma == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.fast
@given(rows=TWO_CLASSES, plus=HEIGHTS, minus=HEIGHTS, volume=VOLUMES)
def test_the_bias_lifts_both_classes_to_one_level(rows, plus, minus, volume):
    c, y = classes(rows, plus, minus)
    found = balanced(c, y, volume)
    tolerance = 1e-13 * (np.abs(c).max() + volume)
    assert abs(reference.level_at_bias(c, y, volume, found.b) - found.gamma) <= tolerance
    for other in (found.b - 0.1, found.b + 0.1, 0.0):
        assert reference.level_at_bias(c, y, volume, other) <= found.gamma + tolerance


@pytest.mark.fast
@given(rows=TWO_CLASSES, plus=TIED, minus=TIED, volume=st.integers(0, 60).map(float))
def test_the_bias_is_the_middle_of_the_best(rows, plus, minus, volume):
    c, y = classes(rows, plus, minus)
    found = balanced(c, y, volume)
    best = [
        b
        for b in found.b + np.linspace(-8.0, 8.0, 129)
        if reference.level_at_bias(c, y, volume, b) >= found.gamma - 1e-9
    ]
    assert abs((best[0] - found.b) + (best[-1] - found.b)) <= 1e-9


@pytest.mark.fast
@given(rows=TWO_CLASSES, plus=TIED, minus=TIED, volume=VOLUMES)
def test_swapping_the_classes_turns_the_bias_around(rows, plus, minus, volume):
    c, y = classes(rows, plus, minus)
    gamma, b, k, low_plus, low_minus = balanced(c, y, volume)
    assert balanced(c, -y, volume) == pytest.approx((gamma, -b, k, low_minus, low_plus), rel=1e-13)


@pytest.mark.fast
@given(heights=COLUMNS, volume=VOLUMES)
def test_rows_under_water_are_the_adversarys_best_choice(heights, volume):
    c = np.array(heights)
    gamma = level(c, volume)
    rows = np.flatnonzero(c <= gamma)
    p = [Fraction(int(i in rows), len(rows)) for i in range(len(c))]
    slack = abs(reference.value_of_distribution(p, c, volume) - Fraction(gamma))
    assert slack <= 1e-13 * max(1.0, abs(gamma), volume)


@pytest.mark.fast
@given(rows=TWO_CLASSES, plus=TIED, minus=TIED, volume=st.integers(0, 60).map(float))
def test_lowest_rows_of_each_class_are_the_adversarys_best_choice(rows, plus, minus, volume):
    c, y = classes(rows, plus, minus)
    gamma, _, k, low_plus, low_minus = balanced(c, y, volume)
    k = int(k)  # a Fraction wants one, and uncompiled code counts with NumPy's
    p = [Fraction(0)] * len(c)
    for sign, low in ((1.0, low_plus), (-1.0, low_minus)):
        assert low == np.sort(c[y == sign])[k - 1]
        less = np.flatnonzero((y == sign) & (c < low))
        tied = np.flatnonzero((y == sign) & (c == low))
        assert len(less) < k <= len(less) + len(tied)
        for i in less:
            p[i] = Fraction(1, 2 * k)
        for i in tied:
            p[i] = Fraction(k - len(less), 2 * k * len(tied))
    assert sum(p) == 1
    assert sum(u for u, label in zip(p, y, strict=True) if label > 0.0) == Fraction(1, 2)
    slack = reference.value_of_distribution(p, c, volume) - Fraction(gamma)
    assert abs(slack) <= 1e-12


@pytest.mark.fast
@pytest.mark.parametrize("n", [1, 2, 9, 50])
def test_all_equal_columns_are_all_under_water(n):
    assert level(np.zeros(n), 0.5 * n) == 0.5  # as at w = 0
    y = np.where(np.arange(n + 1) < 1, 1.0, -1.0)  # one row against n
    assert balanced(np.zeros(n + 1), y, 3.0) == (1.5, 0.0 if n == 1 else -1.5, 1, 0.0, 0.0)


@pytest.mark.fast
def test_a_far_column_costs_no_accuracy():
    c = np.array([1e300, 1.0, 1e300, 1.5, 1e300, 1e300])
    assert level(c, 1.0) == 1.75
    assert level(1e8 + np.array([0.0, 1e-3]), 1e-3) == pytest.approx(1e8 + 1e-3, abs=2e-8)


@pytest.mark.fast
def test_heights_that_are_not_numbers_do_not_hang():
    for c in (np.full(7, np.nan), np.array([0.0, np.nan, 1.0, np.nan, 2.0, 0.0, np.nan])):
        level(c, 1.0)
        balanced(c, np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0]), 1.0)


SHAPES = {
    "random": lambda x: x,
    "sorted": np.sort,
    "reversed": lambda x: np.sort(x)[::-1].copy(),
    "equal": np.zeros_like,
    "two values": lambda x: np.where(x > 0.0, 1.0, 0.0),
    "rising, then falling": lambda x: np.sort(x)[np.r_[0 : len(x) : 2, len(x) - 1 : 0 : -2]],
    "saw": lambda x: np.arange(len(x)) % 100 + 1e-9 * np.arange(len(x)),
    "spread over decades": lambda x: np.exp(20.0 * x),
}


def counted(function, visits):
    """Return the function; it notes how many values each call reads."""

    def counting(values, first, last, *how):
        visits.append(last - first)
        return function(values, first, last, *how)

    return counting


@pytest.mark.fast
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_a_few_passes_whatever_the_order(shape, share, monkeypatch):
    n, visits = 6_000, []
    rng = np.random.default_rng(0)
    c, y = SHAPES[shape](rng.standard_normal(n)), np.where(rng.random(n) < 0.4, 1.0, -1.0)
    monkeypatch.setattr(water, "partition", counted(water.partition, visits))
    monkeypatch.setattr(water, "select", getattr(water.select, "py_func", water.select))
    for find, y_first in ((water.water_level, ()), (water.balanced_water_level, (y,))):
        visits.clear()
        getattr(find, "py_func", find)(c, *y_first, share * n, np.empty(n))
        assert sum(visits) <= (5 if not y_first else 10) * n


@pytest.mark.parametrize("order", ["random", "sorted"])
@pytest.mark.parametrize("is_balanced", [False, True], ids=["level", "balanced level"])
def test_ten_times_the_rows_take_at_most_fifteen_times_the_visits(is_balanced, order, monkeypatch):
    rng, visits = np.random.default_rng(0), []
    for name in ("partition", "room"):
        monkeypatch.setattr(water, name, counted(getattr(water, name), visits))
    monkeypatch.setattr(water, "select", getattr(water.select, "py_func", water.select))

    def visits_of(n):
        c, y = SHAPES[order](rng.standard_normal(n)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
        find = water.balanced_water_level if is_balanced else water.water_level
        visits.clear()
        getattr(find, "py_func", find)(c, *((y,) if is_balanced else ()), n, np.empty(n))
        return sum(visits)

    assert sum(visits_of(30_000) for _ in range(9)) <= 15 * sum(visits_of(3_000) for _ in range(9))
