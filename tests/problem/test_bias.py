"""The free bias: the best one, balanced dual points, and the search for a crossing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.problem.bias import (
    balances,
    best_bias,
    bracket,
    clip,
    crossing,
    feasible,
    signed_sums,
    slope_sum,
    untouched,
)
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    lower,
    slope,
    upper,
)
from tests.reference import bias as reference
from tests.reference import losses

LOSSES = {
    "hinge": (Hinge(), losses.hinge),
    "squared_hinge": (SquaredHinge(), losses.squared_hinge),
    "logistic": (Logistic(), losses.logistic),
    "epsilon_insensitive": (EpsilonInsensitive(0.1), losses.epsilon_insensitive),
}


@pytest.fixture(params=LOSSES)
def case(request, draw):
    loss, value = LOSSES[request.param]
    regression = request.param == "epsilon_insensitive"
    return draw(loss, n=25, bias="free", weighted=True, regression=regression), loss, value


# ---- the best bias


@pytest.mark.fast
@pytest.mark.parametrize("ties", [False, True])
def test_best_bias_is_the_best_there_is(case, ties):
    drawn, loss, value = case
    Z = np.random.default_rng(5).standard_normal((25, 1))
    if ties:
        Z = np.round(Z)
    best, _ = reference.best_bias(value, Z[:, 0], drawn.y[:, 0], drawn.weights)
    for start in (0.0, -7.0, 1e3, math.nan):
        b = best_bias(drawn.problem, Z, 0, start)
        found = reference.mean_loss(value, Z[:, 0], drawn.y[:, 0], drawn.weights, b)
        assert found == pytest.approx(best, rel=1e-12, abs=1e-13)


@pytest.mark.fast
def test_best_bias_within_an_accuracy_keeps_it(case):
    drawn, loss, value = case
    Z = np.random.default_rng(6).standard_normal((25, 1))
    best, _ = reference.best_bias(value, Z[:, 0], drawn.y[:, 0], drawn.weights)
    for accuracy in (1e-1, 1e-3, 1e-6):
        b = best_bias(drawn.problem, Z, 0, 0.3, accuracy)
        found = reference.mean_loss(value, Z[:, 0], drawn.y[:, 0], drawn.weights, b)
        assert best - 1e-12 <= found <= best + accuracy


@pytest.mark.fast
def test_best_bias_is_the_middle_of_the_best_ones(draw):
    # Two rows a side: any b in [-1, 1] is best, the hinge being flat there.
    drawn = draw(Hinge(), n=4, bias="free")
    drawn.problem.costs.Y[:, 0] = [1.0, 1.0, -1.0, -1.0]
    Z = np.array([[2.0], [2.0], [-2.0], [-2.0]])
    for start in (-5.0, 0.0, 0.9, 3.0):
        assert best_bias(drawn.problem, Z, 0, start) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.fast
def test_best_bias_depends_on_the_rows_and_not_on_where_the_search_starts(case):
    drawn, loss, _ = case
    Z = np.round(2.0 * np.random.default_rng(7).standard_normal((25, 1))) / 2.0
    ends = reference.flat_stretch(lambda b: slope_sum(drawn.problem.costs, Z, 0, b))
    for start in (-3.0, 0.0, 11.0):
        found = best_bias(drawn.problem, Z, 0, start)
        assert found == pytest.approx(0.5 * sum(ends), abs=1e-8)


@pytest.mark.fast
@pytest.mark.parametrize("accuracy", [0.0, 1e-9])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_best_bias_of_one_class_is_well_within_its_half_line(draw, y, accuracy):
    drawn = draw(Hinge(), n=4, bias="free")
    drawn.problem.costs.Y[:] = y
    Z = np.zeros((4, 1))
    found = best_bias(drawn.problem, Z, 0, 0.0, accuracy)
    assert found == pytest.approx(2.0 * y, abs=max(1e-12, accuracy))


@pytest.mark.fast
def test_slope_sum_ignores_rows_of_no_weight_even_where_they_are_infinite(draw):
    drawn = draw(SquaredHinge(), n=25, bias="free", weighted=True)
    Z = np.zeros((25, 1))
    expected = sum(
        s * slope(SquaredHinge(), 0.5, y) for s, y in zip(drawn.weights, drawn.y[:, 0], strict=True)
    )
    assert slope_sum(drawn.problem.costs, Z, 0, 0.5) == pytest.approx(expected)
    Z[drawn.weights == 0.0] = math.inf
    assert math.isfinite(slope_sum(drawn.problem.costs, Z, 0, 0.5))


# ---- balanced dual points


def raw_duals(drawn, loss, seed):
    """Dual numbers all over the box, and some beyond it."""
    rng = np.random.default_rng(seed)
    low = np.array([max(-3.0, lower(loss, y)) for y in drawn.y[:, 0]])
    high = np.array([min(3.0, upper(loss, y)) for y in drawn.y[:, 0]])
    return (low + rng.uniform(-0.2, 1.2, len(low)) * (high - low))[:, None]


@pytest.mark.fast
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_balanced_points_are_feasible_and_sum_to_zero(case, scale):
    drawn, loss, _ = case
    for seed in range(5):
        A = raw_duals(drawn, loss, seed)
        for balance in balances(drawn.problem, A, scale):
            a = [feasible(drawn.problem.costs, A, i, 0, balance) for i in range(25)]
            for a_i, y in zip(a, drawn.y[:, 0], strict=True):
                assert lower(loss, y) <= a_i <= upper(loss, y)
            scale_of_sum = drawn.weights @ np.abs(a)
            assert abs(drawn.weights @ a) <= 1e-13 * max(1.0, scale_of_sum)


@pytest.mark.fast
def test_one_of_the_balanced_points_is_the_projection(case):
    drawn, loss, _ = case
    A = raw_duals(drawn, loss, 3)
    low = np.array([lower(loss, y) for y in drawn.y[:, 0]])
    high = np.array([upper(loss, y) for y in drawn.y[:, 0]])
    expected = reference.projected(
        A[:, 0], drawn.weights, np.maximum(low, -99.0), np.minimum(high, 99.0)
    )
    balance = balances(drawn.problem, A, 1.0)[-1]
    found = [feasible(drawn.problem.costs, A, i, 0, balance) for i in range(25)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.fast
def test_nearly_balanced_points_are_only_trimmed(draw):
    drawn = draw(Hinge(), n=4, bias="free")
    drawn.problem.costs.Y[:, 0] = [1.0, 1.0, -1.0, -1.0]
    A = np.array([[0.5], [0.5], [-0.5], [-0.5001]])
    (balance,) = balances(drawn.problem, A, 1.0)
    assert balance.theta[0] == 0.0
    assert balance.down[0] == pytest.approx(1.0 / 1.0001)


@pytest.mark.fast
def test_untouched_balance_only_clips(draw):
    drawn = draw(Hinge(), n=4)
    drawn.problem.costs.Y[:, 0] = [1.0, 1.0, -1.0, -1.0]
    A = np.array([[3.0], [0.4], [0.4], [-0.4]])
    found = [feasible(drawn.problem.costs, A, i, 0, untouched(1, 0.5)) for i in range(4)]
    assert found == [1.0, 0.2, 0.0, -0.2]
    assert clip(Hinge(), 3.0, -1.0) == 0.0


@pytest.mark.fast
def test_signed_sums_are_the_two_parts(draw):
    drawn = draw(Hinge(), n=4)
    drawn.problem.costs.Y[:, 0] = [1.0, 1.0, -1.0, -1.0]
    A = np.array([[3.0], [0.4], [-0.5], [-0.4]])
    assert signed_sums(drawn.problem.costs, A, 1.0, 0, 0.0) == pytest.approx((1.4, -0.9))


# ---- the search for a crossing


@pytest.mark.fast
@given(root=st.floats(-1e6, 1e6), start=st.floats(-1e6, 1e6), power=st.sampled_from([1, 3, 0]))
def test_crossing_finds_lines_cubics_and_jumps_to_the_last_bits(root, start, power):
    def rise(b):
        return math.copysign(1.0, b - root) if power == 0 else (b - root) ** power

    found = crossing(rise, start, 0.0)
    assert found == pytest.approx(root, rel=1e-14 if power != 3 else 1e-4, abs=1e-4)
    if power == 0:
        assert found == pytest.approx(root, rel=4e-16, abs=1e-16)


@pytest.mark.fast
def test_crossing_that_does_not_exist_is_infinite():
    assert crossing(lambda b: 1.0, 0.0, 0.0) == -math.inf
    assert crossing(lambda b: -1.0, 0.0, 0.0) == math.inf


@pytest.mark.fast
def test_crossing_stops_at_the_area_that_was_asked_for():
    calls = []

    def rise(b):
        calls.append(b)
        return b - 1.0

    found = crossing(rise, 0.0, 1e-2)
    assert (found - 1.0) ** 2 <= 1e-2
    few = len(calls)
    crossing(rise, 0.0, 0.0)
    assert len(calls) - few >= few


@pytest.mark.fast
def test_crossing_of_a_function_that_is_zero_at_the_start_stays_there():
    assert crossing(lambda b: 0.0, 0.25, 0.0) == 0.25


@pytest.mark.fast
@pytest.mark.parametrize("root", [0.0, 3.0, -2e14, 1e30, -1e99])
def test_a_crossing_is_found_however_far(root):
    low, high = bracket(lambda b: b - root, 0.0, 0.0)
    assert low <= root <= high
    assert high - low <= 1e-12 * abs(root)


@pytest.mark.fast
def test_no_crossing_is_the_same_infinity_twice():
    assert bracket(lambda b: -1.0, 0.0, 0.0) == (np.inf, np.inf)
    assert bracket(lambda b: 1.0, 0.0, 0.0) == (-np.inf, -np.inf)
