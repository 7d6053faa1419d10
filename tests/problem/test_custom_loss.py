"""Losses that users write: compiled, checked, and certified by tangents alone."""

import copy
import math
import pickle

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib.externals.loky.backend.reduction import dumps as dumps_for_workers
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from pegasos import PegasosRegressor
from pegasos.certificate.stopping import Stopping
from pegasos.dispatch import compiled
from pegasos.errors import InvalidParameter
from pegasos.problem import losses
from pegasos.problem.convexity import check_convexity
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.reference import losses as reference

SCORES = [-30.0, -3.0, -1.0, -0.4, 0.0, 0.5, 0.99, 1.0, 1.1, 2.0, 30.0]


def squared_hinge_slope(z, y):
    return -2.0 * y * max(0.0, 1.0 - y * z)


def tube_slope(z, y):
    return 1.0 if z - y > 0.1 else (-1.0 if z - y < -0.1 else 0.0)


def tube(z, y):
    return max(0.0, abs(z - y) - 0.1)


BUILT_IN = {
    "hinge": (Hinge(), reference.my_hinge, reference.my_hinge_slope, (-1.0, 1.0)),
    "logistic": (Logistic(), reference.my_logistic, reference.my_logistic_slope, (-1.0, 1.0)),
    "squared_hinge": (SquaredHinge(), reference.squared_hinge, squared_hinge_slope, (-1.0, 1.0)),
    "tube": (EpsilonInsensitive(0.1), tube, tube_slope, (-3.0, 0.0, 2.5)),
}


@pytest.fixture(params=reference.CUSTOM)
def custom(request):
    value, slope, ys = reference.CUSTOM[request.param]
    return CustomLoss(value, slope).tag(ys), value, slope, ys


@pytest.fixture(params=BUILT_IN)
def twin(request):
    built_in, value, slope, ys = BUILT_IN[request.param]
    return CustomLoss(value, slope).tag(ys), built_in, ys


def feasible(loss, y):
    low, high = max(-6.0, losses.lower(loss, y)), min(6.0, losses.upper(loss, y))
    return [low + part * (high - low) for part in (0.0, 1e-9, 0.2, 0.5, 0.9, 1.0)]


# ---- the mathematics


@pytest.mark.fast
def test_value_and_slope_are_the_users_own(custom):
    loss, value, slope, ys = custom
    for y in ys:
        for z in SCORES:
            assert losses.value(loss, z, y) == value(z, y)
            assert losses.slope(loss, z, y) == slope(z, y)


@pytest.mark.fast
def test_gain_is_a_lower_bound_of_the_supremum_and_tight(custom):
    loss, value, _, ys = custom
    for y in ys:
        for a in feasible(loss, y):
            exact = reference.gain(value, a, y, reach=2e4)
            bound = losses.gain(loss, a, y)
            assert bound <= exact + 1e-11  # the oracle's rounding, 2e4 away
            # Where the minimum lies beyond 1e6 only loss >= 0 is used: still within 1e-3.
            is_far = abs(a) < 1e-6
            assert bound == pytest.approx(exact, abs=1e-3 if is_far else 1e-11 * (1 + abs(exact)))


@pytest.mark.fast
@given(a=st.floats(0.0, 1.0), y=st.sampled_from([-1.0, 1.0]))
def test_gain_from_tangents_equals_the_conjugate_of_hinge_and_logistic(a, y):
    hinge = CustomLoss(reference.my_hinge, reference.my_hinge_slope).tag([-1, 1])
    logistic = CustomLoss(reference.my_logistic, reference.my_logistic_slope).tag([-1, 1])
    assert losses.gain(hinge, y * a, y) == pytest.approx(a, abs=1e-15)
    expected = losses.gain(Logistic(), y * a, y)
    assert losses.gain(logistic, y * a, y) == pytest.approx(expected, abs=1e-14)
    # A lower bound up to the rounding of a z, and z goes up to 37 where a differs from 1.
    assert losses.gain(logistic, y * a, y) <= expected + 1e-14


@pytest.mark.fast
def test_gap_term_is_fenchel_youngs_sum_and_never_negative(custom):
    loss, value, slope, ys = custom
    for y in ys:
        for z in SCORES:
            for a in feasible(loss, y):
                expected = value(z, y) + a * z - losses.gain(loss, a, y)
                found = losses.gap_term(loss, z, a, y)
                assert found == pytest.approx(expected, abs=1e-12 * (1 + abs(a * z)))
                assert found >= 0.0
            at_slope = losses.gap_term(loss, z, -slope(z, y), y)
            assert at_slope == pytest.approx(0.0, abs=1e-12 * (1.0 + abs(z) * (1 + abs(y))))


@pytest.mark.fast
def test_dual_step_ends_where_minus_a_is_a_slope(custom):
    loss, _, _, ys = custom
    for y in ys:
        for a in feasible(loss, y):
            for z in SCORES:
                for q in (1e-3, 0.3, 7.0, 1e4):
                    after = losses.dual_step(loss, z, a, q, y)
                    score = z + q * (after - a)
                    scale = 1.0 + abs(z) + abs(y) + q * (abs(after) + abs(a))
                    assert losses.gap_term(loss, score, after, y) <= 1e-13 * scale * scale
                assert losses.dual_step(loss, z, a, 0.0, y) == -losses.slope(loss, z, y)


@pytest.mark.fast
def test_every_answer_agrees_with_the_built_in_loss(twin):
    loss, built_in, ys = twin
    for y in ys:
        for a in feasible(built_in, y):
            for z in SCORES:
                assert losses.gap_term(loss, z, a, y) == pytest.approx(
                    losses.gap_term(built_in, z, a, y), abs=1e-12 * (1 + abs(z))
                )
                for q in (1e-3, 0.3, 7.0, 1e4):
                    step = losses.dual_step(built_in, z, a, q, y)
                    assert losses.dual_step(loss, z, a, q, y) == pytest.approx(step, abs=1e-11)
                    assert losses.descend(loss, z, 0.7 * z, q, y) == pytest.approx(
                        losses.descend(built_in, z, 0.7 * z, q, y), abs=1e-11
                    )


@pytest.mark.fast
def test_dual_step_reaches_a_bound_exactly():
    # So that solvers recognise rows that rest at a bound.
    loss = CustomLoss(reference.my_hinge, reference.my_hinge_slope).tag([-1, 1])
    assert losses.dual_step(loss, -3.0, 0.1, 0.7, 1.0) == 1.0 == losses.upper(loss, 1.0)
    assert losses.dual_step(loss, 3.0, 0.1, 0.7, 1.0) == 0.0 == losses.lower(loss, 1.0)
    for z in np.linspace(-3.0, 3.0, 101).tolist():
        for q in (0.3, 2.0, 70.0):
            after = losses.dual_step(loss, z, 0.3, q, 1.0)
            assert after in (0.0, 1.0) or after == pytest.approx(0.3 + (1.0 - z) / q, abs=1e-14)
            assert (after in (0.0, 1.0)) == (
                losses.dual_step(Hinge(), z, 0.3, q, 1.0) in (0.0, 1.0)
            )


@pytest.mark.fast
def test_zero_is_feasible_even_if_the_slope_vanishes_only_at_infinity():
    value, slope, ys = reference.CUSTOM["distance_weighted"]
    loss = CustomLoss(value, slope).tag(ys)
    assert losses.lower(loss, 1.0) == 0.0
    assert losses.gain(loss, 0.0, 1.0) == 0.0
    assert 0.0 <= losses.gain(loss, 1e-13, 1.0) <= math.sqrt(1e-13)  # sqrt(a) is the true one


@pytest.mark.fast
def test_infeasible_dual_numbers_gain_minus_infinity():
    loss = CustomLoss(reference.my_hinge, reference.my_hinge_slope).tag([-1, 1])
    assert losses.gain(loss, 1.5, 1.0) == -math.inf
    assert losses.gain(loss, -0.5, 1.0) == -math.inf


@pytest.mark.fast
def test_descent_is_implicit_for_unbounded_slopes_only():
    steep = CustomLoss(reference.squared, reference.squared_slope).tag([0.0, 1.0])
    # a = -2 (shrunk + q a - y) at y = 0, shrunk = 1, q = 2: a = -2/5
    assert losses.descend(steep, 9.0, 1.0, 2.0, 0.0) == pytest.approx(-0.4)
    flat = CustomLoss(reference.pinball, reference.pinball_slope).tag([0.0, 1.0])
    assert losses.descend(flat, 9.0, -1.0, 2.0, 0.0) == -0.25


# ---- certificates


@pytest.mark.parametrize("bias", ["none", "free"])
def test_certified_interval_equals_that_of_the_built_in_loss(bias, draw):
    built_in, value, slope, ys = BUILT_IN["logistic"]
    mine = CustomLoss(value, slope).tag(ys)
    for epochs, rel in ((1, 1e-9), (30, 1e-6)):
        stopping = Stopping(tol=1e-14, max_iter=epochs)
        expected, found = (
            solve(draw(loss, n=60, bias=bias, weighted=True).problem, SDCA(), stopping).certificate
            for loss in (built_in, mine)
        )
        assert found.dual == pytest.approx(expected.dual, rel=rel)
        assert found.primal == pytest.approx(expected.primal, rel=rel)
        assert found.gap >= 0.0


def test_free_bias_of_a_quantile_loss_leaves_the_share_of_rows_below(draw):
    value, slope, _ = reference.CUSTOM["pinball"]
    drawn = draw(CustomLoss(value, slope).tag([0.0, 1.0]), n=200, bias="free", regression=True)
    solution = solve(drawn.problem, SDCA(), Stopping(tol=1e-8, max_iter=3000))
    assert solution.certificate.is_within_tol
    below = drawn.y[:, 0] < drawn.X @ solution.W[:, 0] + solution.b[0] - 1e-9
    above = drawn.y[:, 0] > drawn.X @ solution.W[:, 0] + solution.b[0] + 1e-9
    assert below.sum() <= 0.75 * 200 + 1e-9
    assert above.sum() <= 0.25 * 200 + 1e-9


# ---- refusals


def truncated(z, y):
    return min(1.0, (z - y) ** 2)


def truncated_slope(z, y):
    return 2.0 * (z - y) if abs(z - y) < 1.0 else 0.0


@pytest.mark.fast
def test_loss_that_is_not_convex_is_refused():
    with pytest.raises(InvalidParameter, match=r"ramp: not convex: the tangent at z=.*\(y=0\)"):
        CustomLoss(truncated, truncated_slope, name="ramp").tag([0.0])


@pytest.mark.fast
@pytest.mark.parametrize(
    "wrong",
    [
        lambda z, y: z - y,  # half of it
        lambda z, y: -2.0 * (z - y),
        lambda z, y: 2.0 * (z - y) + 0.01,
        lambda z, y: 2.0 * (z + y),
    ],
)
def test_slope_that_does_not_match_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="slope does not match value.*differences of value"):
        CustomLoss(reference.squared, wrong).tag([1.0, 2.0])


@pytest.mark.fast
def test_wrong_slope_for_one_sign_only_is_refused():
    def slope(z, y):
        return -1.0 if z < 1.0 else 0.0

    with pytest.raises(InvalidParameter, match="y=-1"):
        CustomLoss(reference.my_hinge, slope).tag([-1.0, 1.0])


@pytest.mark.fast
def test_negative_loss_is_refused():
    with pytest.raises(InvalidParameter, match="must not be negative.*Add a constant"):
        CustomLoss(lambda z, y: abs(z) - 1.0, lambda z, y: 1.0 if z > 0 else -1.0).tag([0.0])


@pytest.mark.fast
def test_loss_that_is_not_finite_is_refused():
    with pytest.raises(InvalidParameter, match="must be finite; got inf|raises"):
        CustomLoss(lambda z, y: math.inf if z > 1 else 0.0, lambda z, y: 0.0).tag([0.0])


def test_loss_that_overflows_is_refused():
    def value(z, y):
        return math.log(1.0 + math.exp(-y * z))

    with pytest.raises(InvalidParameter, match="overflows.*exp is taken of negative numbers"):
        CustomLoss(value, reference.my_logistic_slope).tag([-1.0, 1.0])


def test_exponential_loss_may_grow_beyond_all_numbers():
    def value(z, y):
        return math.exp(-y * z)

    def slope(z, y):
        return -y * math.exp(-y * z)

    loss = CustomLoss(value, slope).tag([-1.0, 1.0])
    # b - b log b for b = y a
    assert losses.gain(loss, 3.0, 1.0) == pytest.approx(3.0 - 3.0 * math.log(3.0), abs=1e-12)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize(
    "value", [lambda z, y: open(z), lambda z, y: "a", lambda z: z, lambda z, y: {z: y}[z].x]
)
def test_function_that_numba_cannot_compile_is_refused(value):
    with pytest.raises(InvalidParameter, match="bad: Numba cannot compile value"):
        CustomLoss(value, reference.squared_slope, name="bad").tag([0.0])


@pytest.mark.fast
def test_what_is_not_a_function_is_refused():
    with pytest.raises(InvalidParameter, match="value must be a function of z and y; got 'hinge'"):
        CustomLoss("hinge", reference.squared_slope).tag([0.0])


@pytest.mark.fast
def test_integers_serve_as_numbers():
    loss = CustomLoss(lambda z, y: abs(z - y), lambda z, y: 1 if z > y else -1).tag([0, 3])
    assert losses.slope(loss, 2.0, 0.0) == 1.0
    assert losses.gain(loss, 0.5, 3.0) == pytest.approx(1.5)


@pytest.mark.fast
def test_convexity_is_tested_on_targets_of_any_size():
    check_convexity(reference.squared, reference.squared_slope, [-1e6, 0.0, 1e-6, 1e6])
    check_convexity(reference.pinball, reference.pinball_slope, np.linspace(-1e5, 1e5, 1000))


# ---- options and identity


@compiled
def value_of(costs, z, y):
    return losses.value(costs[0], z, y)


def test_compiled_code_does_not_confuse_two_losses():
    # Numba knows a named tuple by the name of its class, even when two classes share it.
    for value, slope, ys in reference.CUSTOM.values():
        tag = CustomLoss(value, slope).tag(ys)
        assert value_of((tag, 0), 0.3, -1.0) == value(0.3, -1.0)


@pytest.mark.fast
def test_same_code_shares_a_tag_and_other_constants_do_not():
    def quantile(tau):
        def value(z, y):
            return tau * (y - z) if y > z else (1.0 - tau) * (z - y)

        def slope(z, y):
            return -tau if y > z else 1.0 - tau

        return CustomLoss(value, slope)

    tag, again, other = (quantile(tau).tag([0.0]) for tau in (0.9, 0.9, 0.5))
    assert type(tag) is type(again)
    assert type(tag) is not type(other)
    assert losses.value(tag, 0.0, 1.0) == 0.9
    assert losses.value(other, 0.0, 1.0) == 0.5


@pytest.mark.fast
def test_loss_survives_clone_and_pickle():
    loss = CustomLoss(reference.squared, reference.squared_slope, name="square")
    for same in (clone(loss), pickle.loads(pickle.dumps(loss))):
        assert same == loss
        assert type(same.tag([0.0])) is type(loss.tag([0.0]))
    assert str(loss.set_params(name=None)) == "CustomLoss(squared)"
    with pytest.raises(ValueError, match="no option 'epsilon'; its options are value, slope, name"):
        loss.set_params(epsilon=1)


@pytest.mark.fast
def test_a_lambda_goes_to_workers_but_pickle_refuses_it_with_advice():
    loss = CustomLoss(lambda z, y: (z - y) ** 2, lambda z, y: 2.0 * (z - y))
    with pytest.raises(pickle.PicklingError, match=r"value=.*<lambda> of a CustomLoss .* with def"):
        pickle.dumps({"deep": [loss]})
    carried = pickle.loads(dumps_for_workers(loss))
    assert carried.value(3.0, 1.0) == 4.0
    for same in (copy.copy(loss), copy.deepcopy(loss), clone(loss)):
        assert same == loss


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [
        CustomLoss(reference.squared, reference.squared_slope),
        CustomLoss(lambda z, y: (z - y) ** 2, lambda z, y: 2.0 * (z - y)),
    ],
    ids=["functions", "lambdas"],
)
def test_a_search_sends_a_loss_to_its_workers(loss):
    X = np.random.default_rng(0).standard_normal((40, 3))
    search = GridSearchCV(PegasosRegressor(loss=loss), {"C": [0.1, 1.0]}, n_jobs=2, cv=2)
    assert search.fit(X, X @ [1.0, 2.0, 3.0]).best_params_ == {"C": 1.0}
