"""Losses against textbook forms: slopes, conjugates, gap terms and dual steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.dispatch import compiled
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    descend,
    dual_step,
    gain,
    gap_term,
    is_smooth,
    lower,
    response,
    slope,
    upper,
    value,
)
from tests.reference import losses as reference

MARGIN = {
    "hinge": (Hinge(), reference.hinge),
    "squared_hinge": (SquaredHinge(), reference.squared_hinge),
    "logistic": (Logistic(), reference.logistic),
}
LOSSES = {**MARGIN, "epsilon_insensitive": (EpsilonInsensitive(0.1), reference.epsilon_insensitive)}
SCORES = [-30.0, -3.0, -1.0, -0.95, -0.1, 0.0, 0.05, 0.5, 0.99, 1.0, 1.1, 2.0, 30.0]


def targets(name):
    return (-1.0, 1.0) if name in MARGIN else (-1.0, 0.0, 2.5)


def feasible(loss, y):
    """A few dual numbers from the feasible interval, its finite ends included."""
    low, high = max(-6.0, lower(loss, y)), min(6.0, upper(loss, y))
    return [low + part * (high - low) for part in (0.0, 1e-9, 0.2, 0.5, 0.9, 1.0)]


@pytest.fixture(params=LOSSES)
def case(request):
    return (*LOSSES[request.param], targets(request.param))


@pytest.mark.fast
def test_value_matches_the_textbook(case):
    loss, textbook, ys = case
    for y in ys:
        for z in SCORES:
            assert value(loss, z, y) == pytest.approx(textbook(z, y), rel=1e-14, abs=1e-14)


@pytest.mark.fast
def test_slope_lies_between_the_differences_to_both_sides(case):
    loss, textbook, ys = case
    h = 1e-6
    for y in ys:
        for z in SCORES:
            left = (textbook(z, y) - textbook(z - h, y)) / h
            right = (textbook(z + h, y) - textbook(z, y)) / h
            assert left - 1e-7 <= slope(loss, z, y) <= right + 1e-7


@pytest.mark.fast
def test_gain_matches_the_supremum_that_defines_the_conjugate(case):
    loss, textbook, ys = case
    for y in ys:
        for a in feasible(loss, y):
            assert gain(loss, a, y) == pytest.approx(reference.gain(textbook, a, y), abs=1e-12)


@pytest.mark.fast
def test_gap_term_is_fenchel_youngs_sum(case):
    loss, textbook, ys = case
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                expected = textbook(z, y) + a * z - gain(loss, a, y)
                assert gap_term(loss, z, a, y) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.fast
@given(z=st.floats(-1e3, 1e3), part=st.floats(0.0, 1.0), is_positive=st.booleans())
@pytest.mark.parametrize("name", LOSSES)
def test_gap_term_is_never_negative_and_vanishes_at_minus_the_slope(name, z, part, is_positive):
    loss, y = LOSSES[name][0], 1.0 if is_positive else -1.0
    low, high = max(-1e3, lower(loss, y)), min(1e3, upper(loss, y))
    assert gap_term(loss, z, low + part * (high - low), y) >= 0.0
    a = -slope(loss, z, y)
    assert lower(loss, y) <= a <= upper(loss, y)
    assert gap_term(loss, z, a, y) == pytest.approx(0.0, abs=1e-12 * (1.0 + abs(z)))


@pytest.mark.fast
def test_dual_step_matches_a_search(case):
    loss, _, ys = case
    for y in ys:
        box = max(-80.0, lower(loss, y)), min(80.0, upper(loss, y))
        for a in feasible(loss, y):
            for z in SCORES:
                for q in (0.01, 0.7, 20.0):
                    expected = reference.dual_step(lambda c, y=y: gain(loss, c, y), z, a, q, box)
                    # A search by value finds the place to the root of the rounding error.
                    assert dual_step(loss, z, a, q, y) == pytest.approx(expected, abs=3e-6)


@pytest.mark.fast
def test_dual_step_ends_where_minus_a_is_a_slope(case):
    # Sharper than the search: a' must be minus a sub-gradient at the score z + q (a' - a).
    loss, _, ys = case
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                for q in (1e-3, 0.3, 7.0, 1e4):
                    after = dual_step(loss, z, a, q, y)
                    score = z + q * (after - a)
                    scale = 1.0 + abs(z) + q * (abs(after) + abs(a))
                    assert gap_term(loss, score, after, y) <= 1e-14 * scale * scale


@pytest.mark.fast
def test_response_is_minus_the_slope_of_the_dual_step(case):
    loss, _, ys = case
    h = 1e-7
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                for q in (0.3, 7.0):
                    before, c, after = (dual_step(loss, z + t, a, q, y) for t in (-h, 0.0, h))
                    slopes = (before - c) / h, (c - after) / h  # at a kink they differ
                    found = response(loss, z, a, c, q, y)
                    assert min(slopes) - 1e-5 <= found <= max(slopes) + 1e-5


@pytest.mark.fast
def test_dual_step_of_an_empty_row_takes_minus_the_slope(case):
    loss, _, ys = case
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                after = dual_step(loss, z, a, 0.0, y)
                assert lower(loss, y) <= after <= upper(loss, y)
                assert gap_term(loss, z, after, y) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_kink_of_the_hinge_counts_as_satisfied(y):
    assert slope(Hinge(), y, y) == 0.0
    assert descend(Hinge(), y, y, 1.0, y) == 0.0
    assert slope(Hinge(), y * math.nextafter(1.0, 0.0), y) == -y
    assert dual_step(Hinge(), y, 0.3 * y, 0.0, y) == 0.3 * y  # flat: stays where it is


@pytest.mark.fast
def test_kinks_of_the_tube_count_as_satisfied():
    loss = EpsilonInsensitive(0.25)  # 2 +- 0.25 is exact in binary
    for z in (1.75, 2.25):
        assert slope(loss, z, 2.0) == 0.0
        assert descend(loss, z, z, 1.0, 2.0) == 0.0
        assert dual_step(loss, z, math.copysign(0.3, 2.0 - z), 0.0, 2.0) == math.copysign(
            0.3, 2.0 - z
        )
    assert slope(loss, math.nextafter(2.25, 3.0), 2.0) == 1.0
    assert slope(loss, math.nextafter(1.75, 0.0), 2.0) == -1.0


@pytest.mark.fast
def test_tube_of_width_zero_is_the_absolute_loss():
    loss = EpsilonInsensitive(0.0)
    assert value(loss, 3.0, 1.0) == 2.0
    assert slope(loss, 1.0, 1.0) == 0.0
    assert gain(loss, -0.5, 4.0) == -2.0


@pytest.mark.fast
def test_descent_is_explicit_for_bounded_slopes(case):
    loss, _, ys = case
    if isinstance(loss, SquaredHinge):
        pytest.skip("implicit; tested below")
    for y in ys:
        for z in SCORES:
            assert descend(loss, z, 0.5 * z, 3.0, y) == -slope(loss, z, y)


@pytest.mark.fast
def test_descent_of_the_squared_hinge_takes_the_slope_where_the_step_ends():
    # mathematics: b = 2 (1 - (1 - 1/t) y z)_+ / (1 + 2 ||x||^2/(lam t))
    for y in (-1.0, 1.0):
        for z in SCORES:
            for shrunk, q in ((0.5 * z, 0.1), (0.99 * z, 1e4)):
                b = 2.0 * max(0.0, 1.0 - y * shrunk) / (1.0 + 2.0 * q)
                a = descend(SquaredHinge(), z, shrunk, q, y)
                assert y * a == pytest.approx(b, rel=1e-14)
                assert a == pytest.approx(-slope(SquaredHinge(), shrunk + q * a, y), abs=1e-9)


@pytest.mark.fast
def test_large_scores_do_not_overflow(case):
    loss, _, ys = case
    for y in ys:
        for z in (-1e8, 1e8):
            for a in feasible(loss, y)[::5]:
                for number in (value(loss, z, y), gap_term(loss, z, a, y)):
                    assert np.isfinite(number)
                assert np.isfinite(dual_step(loss, z, a, 1e-3, y))


@pytest.mark.fast
def test_only_hinge_and_tube_are_known_to_bend():
    assert [is_smooth(loss) for loss, _ in LOSSES.values()] == [False, True, True, False]


@compiled
def everything(loss, z, a, q, y):
    return (
        value(loss, z, y),
        slope(loss, z, y),
        gain(loss, a, y),
        gap_term(loss, z, a, y),
        dual_step(loss, z, a, q, y),
        descend(loss, z, 0.9 * z, q, y),
        lower(loss, y),
        upper(loss, y),
    )


def test_compiled_and_plain_python_agree(case):
    loss, _, ys = case
    plain = getattr(everything, "py_func", everything)
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                for q in (0.0, 0.4, 50.0):
                    expected = plain(loss, z, a, q, y)
                    np.testing.assert_allclose(
                        everything(loss, z, a, q, y), expected, rtol=1e-13, atol=1e-14
                    )
