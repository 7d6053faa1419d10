"""SMO: steps worked by hand, the transcription, kinks, ridges, missing rows, shrinking."""

import numpy as np
import pytest

from pegasos.problem.losses import EpsilonInsensitive, Hinge, SquaredHinge
from pegasos.solvers.decomposition.box import box_of
from pegasos.solvers.decomposition.smo import (
    Box,
    Matrix,
    ascend_pairs,
    ascend_singles,
    new_ascent,
    set_prices,
    shrink,
    whole,
)
from tests.reference import smo as reference
from tests.solvers.kernel_problems import kernel_problem, whole_matrix

pytestmark = pytest.mark.fast

QUADRATIC = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)]
ASCEND = {True: ascend_pairs, False: ascend_singles}


def box(low, high, epsilon=0.0, ridge=None):
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    return Box(low, high, epsilon, np.zeros(len(low)) if ridge is None else np.array(ridge))


def run(K, y, feasible, steps, *, is_free, beta=None, tol=0.0, active=None):
    """Take steps from `beta`; return the state and what the ascent returned."""
    K, y = np.array(K, dtype=float), np.array(y, dtype=float)
    beta = np.zeros(len(y)) if beta is None else np.array(beta, dtype=float)
    ascent = new_ascent(beta, y - K @ beta - feasible.ridge * beta, feasible)
    active = np.arange(len(y)) if active is None else np.array(active)
    told = ASCEND[is_free](whole(K, np.diag(K).copy()), ascent, feasible, active, tol, steps)
    return ascent, told


# ---- steps worked by hand


def test_a_step_of_a_pair_worked_by_hand():
    # K = [[2, 1], [1, 2]], y = (1, -1), C = 1. From 0: raising 1 pays 1, lowering 2 costs -1.
    # Curvature 2 + 2 - 2 = 2, so the exact step is (1 + 1) / 2 = 1, just at the bounds. After it
    # r = y - K beta = (1, -1) - (1, -1) = 0.
    ascent, (steps, violation, least, missing) = run(
        [[2.0, 1.0], [1.0, 2.0]], [1, -1], box([0, -1], [1, 0]), 5, is_free=True
    )
    assert ascent.beta.tolist() == [1.0, -1.0]
    assert ascent.r.tolist() == [0.0, 0.0]
    assert (steps, violation, missing) == (1, 0.0, -1)
    assert least == 0.5  # 2 / (2 + 2)


def test_the_second_row_of_a_pair_is_chosen_by_its_gain():
    # Row 0 is to rise, rows 1 and 2 pay the same 2; K_01 = 0.9, K_02 = 0: the curvatures are 0.2
    # and 2, so row 1 gains 4 / 0.2 against 4 / 2.
    K = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    ascent, _ = run(K, [1, -1, -1], box([0, -1, -1], [1, 0, 0]), 1, is_free=True)
    assert ascent.beta.tolist() == [1.0, -1.0, 0.0]


def test_a_pair_stops_at_the_nearer_bound():
    # The exact step is 1, but beta_1 has room for 0.25 only: r = (1, -1) - (0.25, -0.25).
    ascent, _ = run([[2.0, 1.0], [1.0, 2.0]], [1, -1], box([0, -0.25], [1, 0]), 1, is_free=True)
    assert ascent.beta.tolist() == [0.25, -0.25]
    assert ascent.r.tolist() == [0.75, -0.75]


def test_a_single_step_worked_by_hand():
    # Gains v^2 / K_ii: 1 / 4 for row 0, 1 / 2 for row 1, which moves by v / K_11 = -1 / 2.
    ascent, _ = run([[4.0, 1.0], [1.0, 2.0]], [1, -1], box([0, -3], [3, 0]), 1, is_free=False)
    assert ascent.beta.tolist() == [0.0, -0.5]
    assert ascent.r.tolist() == [1.5, 0.0]  # r = y - K beta


def test_the_ridge_of_the_squared_hinge_worked_by_hand():
    # Curvature 2 + 2 - 2 + 0.5 + 0.5 = 3: a step of 2 / 3; r = y - K beta - ridge beta = 0.
    feasible = box([0, -9], [9, 0], ridge=[0.5, 0.5])
    ascent, told = run([[2.0, 1.0], [1.0, 2.0]], [1, -1], feasible, 5, is_free=True, tol=1e-15)
    np.testing.assert_allclose(ascent.beta, [2 / 3, -2 / 3], rtol=1e-15)
    np.testing.assert_allclose(ascent.r, 0.0, atol=1e-15)
    assert told[0] == 1


# ---- kinks


def test_prices_at_the_kink_and_at_the_bounds():
    ascent, feasible = (
        new_ascent(
            np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.zeros(5), box([-1] * 5, [1] * 5, 0.25)
        ),
        box([-1] * 5, [1] * 5, 0.25),
    )
    set_prices(ascent, feasible)
    assert ascent.up.tolist() == [0.25, 0.25, -0.25, -0.25, -np.inf]
    assert ascent.down.tolist() == [np.inf, 0.25, 0.25, -0.25, -0.25]


def test_errors_within_epsilon_move_nothing():
    for is_free in (True, False):
        ascent, told = run(
            np.eye(3), [0.2, -0.2, 0.1], box([-1] * 3, [1] * 3, 0.25), 9, is_free=is_free
        )
        assert told[0] == 0
        assert not ascent.beta.any()


def test_a_step_ends_exactly_at_the_kink():
    # From beta = -1/4, y = 1, K = 1, epsilon = 1/2: rising pays 1 + 1/4 + 1/2 up to 0, and beyond
    # 1 - 1/2: the first step ends at 0, the second at 1/2.
    feasible = box([-1.0], [1.0], 0.5)
    ascent, _ = run([[1.0]], [1.0], feasible, 1, is_free=False, beta=[-0.25])
    assert ascent.beta.tolist() == [0.0]
    assert (ascent.up[0], ascent.down[0]) == (-0.5, 0.5)
    ascent, told = run([[1.0]], [1.0], feasible, 9, is_free=False, beta=[-0.25])
    assert ascent.beta.tolist() == [0.5]
    assert told[0] == 2


def test_a_pair_ends_at_the_kink_of_either_row():
    # Both rows would move by (2 + 0.2) / 2; the first is stopped by its kink after 0.3, then the
    # second after 0.4 in all.
    feasible = box([-2, -2], [2, 2], 0.1)
    for steps, expected in ((1, [0.0, 0.1]), (2, [0.1, 0.0])):
        ascent, _ = run(np.eye(2), [1, -1], feasible, steps, is_free=True, beta=[-0.3, 0.4])
        np.testing.assert_allclose(ascent.beta, expected, atol=1e-16)
    assert ascent.beta[1] == 0.0


# ---- against the transcription


def dual_of(drawn):
    feasible = box_of(drawn.problem, 0)
    return reference.Dual(whole_matrix(drawn), drawn.y[:, 0], *feasible), feasible


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_steps_equal_the_transcription(loss, is_free, seed):
    bias = "free" if is_free else "none"
    drawn = kernel_problem(loss, seed, n=15, weighted=seed == 1, bias=bias, lam=0.02)
    dual, feasible = dual_of(drawn)
    path = reference.ascend(dual, np.zeros(15), 30, is_free)
    assert len(path) > 6
    for steps in (1, 2, 3, 5, len(path) - 1):
        ascent, told = run(dual.K, dual.y, feasible, steps, is_free=is_free)
        np.testing.assert_allclose(ascent.beta, path[steps], rtol=1e-9, atol=1e-12)
        assert told[0] == steps
        r = dual.y - (dual.K + np.diag(dual.ridge)) @ ascent.beta
        np.testing.assert_allclose(ascent.r, r, atol=1e-11)


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("is_free", [True, False])
def test_every_step_gains_and_the_end_is_optimal(loss, is_free):
    drawn = kernel_problem(loss, 3, n=12, bias="free" if is_free else "none", lam=0.02)
    dual, feasible = dual_of(drawn)
    values = []
    for steps in range(12):
        ascent, _ = run(dual.K, dual.y, feasible, steps, is_free=is_free)
        values.append(reference.value(dual, ascent.beta))
        assert np.all((dual.low <= ascent.beta) & (ascent.beta <= dual.high))
        assert not is_free or abs(ascent.beta.sum()) <= 1e-14
    assert np.all(np.diff(values) > -1e-13)
    assert values[-1] > values[0]
    ascent, told = run(dual.K, dual.y, feasible, 3_000, is_free=is_free, tol=1e-8)
    assert told[1] <= 1e-8
    assert reference.violation(dual, ascent.beta, is_free) <= 1.1e-8


def test_the_violation_reported_is_the_one_left():
    drawn = kernel_problem(Hinge(), 4, n=12, bias="free", lam=0.02)
    dual, feasible = dual_of(drawn)
    ascent, (_, violation, _, _) = run(dual.K, dual.y, feasible, 3_000, is_free=True, tol=0.1)
    assert violation == pytest.approx(reference.violation(dual, ascent.beta, True), abs=1e-12)
    assert 0.0 < violation <= 0.1


# ---- missing rows


@pytest.mark.parametrize("is_free", [True, False])
def test_a_row_that_is_not_there_is_asked_for(is_free):
    drawn = kernel_problem(Hinge(), 5, n=12, bias="free" if is_free else "none", lam=0.02)
    dual, feasible = dual_of(drawn)
    slot_of = np.full(12, -1, dtype=np.int32)
    K = Matrix(
        np.full((12, 12), np.nan),
        slot_of,
        np.zeros(12, np.int64),
        7,
        np.diag(dual.K).copy(),
    )
    beta = np.zeros(12)
    ascent = new_ascent(beta, dual.y.copy(), feasible)
    asked, total = [], 0
    for _ in range(40):
        steps, violation, _, missing = ASCEND[is_free](
            K, ascent, feasible, np.arange(12), 1e-9, 20 - total
        )
        total += steps
        if missing < 0:
            break
        assert slot_of[missing] < 0
        assert violation == np.inf
        asked.append(int(missing))
        place = len(asked) - 1  # in the order of asking
        slot_of[missing], K.values[place] = place, dual.K[missing]
    assert len(set(asked)) == len(asked) > 2
    whole_run, _ = run(dual.K, dual.y, feasible, total, is_free=is_free, tol=1e-9)
    np.testing.assert_array_equal(ascent.beta, whole_run.beta)
    used = K.last_use[slot_of[asked]]
    assert np.all((used >= 7) & (used < 7 + 20))  # from the clock on, by the count of steps


# ---- shrinking


def test_rows_stuck_at_a_bound_are_left_out():
    # r + up of rows that can rise: 0.5 at most; r + down of rows that can fall: -0.3 at least.
    # Row 2 (at its low bound) pays -0.4, less than any costs: stuck. Row 3 (at its high bound)
    # costs 0.6, more than any pays: stuck. Row 4, at its low bound, pays -0.2 > -0.3: may move.
    beta = np.array([0.5, 0.5, 0.0, 1.0, 0.0, 0.0])
    feasible = box([0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0])  # the last one has no weight
    ascent = new_ascent(beta, np.array([0.5, -0.3, -0.4, 0.6, -0.2, 0.0]), feasible)
    out = np.empty(6, dtype=np.int64)
    assert out[: shrink(ascent, np.arange(6), True, out)].tolist() == [0, 1, 4]
    # Without the constraint a row is stuck at its low bound if rising does not pay by itself.
    assert out[: shrink(ascent, np.arange(6), False, out)].tolist() == [0, 1]
    # Only active rows are looked at.
    assert out[: shrink(ascent, np.array([3, 4]), False, out)].tolist() == []


@pytest.mark.parametrize("is_free", [True, False])
def test_no_active_row_is_nothing_to_do(is_free):
    ascent, told = run(
        np.eye(2), [1, -1], box([0, -1], [1, 0]), 5, is_free=is_free, active=np.arange(0)
    )
    assert told[0] == 0
    assert told[3] == -1
    assert not ascent.beta.any()


def test_rows_that_are_not_active_stay_as_they_are():
    drawn = kernel_problem(Hinge(), 6, n=12, bias="free", lam=0.02)
    dual, feasible = dual_of(drawn)
    active = np.array([0, 1, 4, 9, 10])
    others = np.setdiff1d(np.arange(12), active)
    ascent, _ = run(dual.K, dual.y, feasible, 500, is_free=True, active=active, tol=1e-9)
    assert ascent.beta[active].any()
    assert not ascent.beta[others].any()
    np.testing.assert_array_equal(ascent.r[others], dual.y[others])


# ---- no curvature


@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("scale", [0.0, 1e-16, 1.0, 1e3])
def test_rows_without_curvature_go_to_their_bounds(is_free, scale):
    # All rows are one and the same point: K is constant, every pair is flat.
    K = scale * np.ones((4, 4))
    feasible = box([0, 0, -1, -1], [1, 1, 0, 0])
    ascent, told = run(K, [1, 1, -1, -1], feasible, 5_000, is_free=is_free, tol=1e-12)
    assert np.isfinite(ascent.beta).all()
    assert told[0] < 5_000
    dual = reference.Dual(K, np.array([1.0, 1.0, -1.0, -1.0]), *feasible)
    assert reference.violation(dual, ascent.beta, is_free) <= 1e-12 * max(1.0, scale)
    if is_free:
        assert np.abs(ascent.beta).tolist() == [1.0] * 4


@pytest.mark.parametrize("is_free", [True, False])
def test_steps_do_not_depend_on_the_units_of_the_kernel(is_free):
    drawn = kernel_problem(Hinge(), 7, n=12, bias="free" if is_free else "none", lam=0.02)
    dual, feasible = dual_of(drawn)
    plain, _ = run(dual.K, dual.y, feasible, 25, is_free=is_free)
    for unit in (2.0**-80, 2.0**60):
        scaled = box(dual.low / unit, dual.high / unit)
        other, _ = run(unit * dual.K, dual.y, scaled, 25, is_free=is_free)
        np.testing.assert_array_equal(unit * other.beta, plain.beta)


@pytest.mark.parametrize("is_free", [True, False])
def test_a_kernel_with_negative_curvature_comes_to_an_end(is_free):
    rng = np.random.default_rng(0)
    K = rng.standard_normal((20, 20))
    K, y = K + K.T, np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    feasible = box(np.minimum(0, y), np.maximum(0, y))
    ascent, (steps, violation, least, _) = run(K, y, feasible, 5_000, is_free=is_free, tol=1e-6)
    assert steps < 5_000
    assert violation <= 1e-6
    assert least < 0.0
    assert np.all((feasible.low <= ascent.beta) & (ascent.beta <= feasible.high))
