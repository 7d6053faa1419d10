"""Curves: values at places, shares of an axis, slopes; thresholds of Table 1."""

import numpy as np
import pytest

from papers.harness.course import as_course
from papers.harness.curves import at, share_below, slope, spread

pytestmark = pytest.mark.fast


def test_a_curve_has_its_last_value_and_none_before_its_first():
    values = at([1.0, 10.0], [5.0, 2.0], np.array([0.5, 1.0, 9.0, 20.0]))
    assert np.isnan(values[0])
    assert values[1:].tolist() == [5.0, 5.0, 2.0]


def test_the_share_below_counts_an_unknown_curve_as_above():
    early = (np.array([1.0, 100.0]), np.array([1.0, 1.0]))
    late = (np.array([10.0, 100.0]), np.array([0.5, 0.5]))
    assert share_below(early, late) == pytest.approx(0.5, abs=0.01)
    assert share_below(late, early) == pytest.approx(0.5, abs=0.01)


def test_slopes_are_powers():
    x = np.array([1.0, 2.0, 4.0])
    assert slope(x, 3.0 / x) == pytest.approx(-1.0)
    assert slope(x, [1.0, 2.0, np.inf]) == np.inf  # what never arrives
    assert spread([2.0, 8.0, 4.0]) == 4.0


def test_a_run_that_had_no_time_for_a_record_arrives_nowhere():
    empty = {name: np.zeros(0) for name in ("step", "rows_visited", "seconds", "objective")}
    one = as_course(empty)
    assert one.first_below(1e9) is None
    curve = np.array([0.1, 1.0]), np.array([0.5, 0.1])
    assert share_below(curve, (one.seconds, one.objective)) == 1.0
