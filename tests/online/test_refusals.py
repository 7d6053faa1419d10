"""What cannot work is refused, with a word about what could."""

import numpy as np
import pytest

from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online import (
    AdaGrad,
    CustomCost,
    Euclidean,
    L1Ball,
    L2Ball,
    Learner,
    Mirror,
    best_fixed_point,
    check_cost,
    constant,
    inverse_root,
    row_costs,
    rule_named,
    strongly_convex,
)

pytestmark = pytest.mark.fast


def test_unknown_presets_are_refused_and_the_known_ones_named():
    with pytest.raises(InvalidParameter, match='"gd", "pgd", "sgd".*got \'adam\''):
        rule_named("adam")
    with pytest.raises(InvalidParameter, match="algorithm must be one of"):
        rule_named(3)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, "1"])
def test_a_radius_that_is_not_positive_is_refused(radius):
    with pytest.raises(InvalidParameter, match="radius must be a positive"):
        rule_named("pgd", radius=radius)


def test_pegasos_needs_lam():
    with pytest.raises(InvalidParameter, match='"pegasos" needs lam > 0'):
        rule_named("pegasos")


def test_a_set_and_a_radius_are_one_too_many():
    with pytest.raises(InvalidParameter, match="not both"):
        rule_named("sgd", L2Ball(1.0), radius=2.0)


@pytest.mark.parametrize("make", [constant, inverse_root, strongly_convex])
def test_steps_are_positive(make):
    with pytest.raises(InvalidParameter, match="must be a positive"):
        make(0.0)


def test_parts_of_another_kind_are_refused():
    with pytest.raises(InvalidParameter, match="the rule must be"):
        Learner("sgd", 3)
    with pytest.raises(InvalidParameter, match="the step must be made by"):
        Learner(Mirror(Euclidean(), L1Ball(1.0), 0.1), 3)
    with pytest.raises(InvalidParameter, match="eta must be"):
        Learner(AdaGrad(L1Ball(1.0), -1.0), 3)
    with pytest.raises(InvalidParameter, match="n_weights"):
        Learner(rule_named("sgd"), 0)


WRONG = [
    (lambda w: w @ w, lambda w: w, "gradient does not match value"),
    (lambda w: w @ w, lambda w: 2.02 * w, "gradient does not match value"),
    (lambda w: abs(w).sum(), lambda w: -np.sign(w), "gradient does not match value"),
    (lambda w: -(w @ w), lambda w: -2.0 * w, "not convex"),
    (lambda w: w @ w, lambda w: np.zeros(2), "gradient"),
    (lambda w: w @ w, lambda w: (2.0 * w)[:-1], r"gradient\(w\) must hold"),
    (lambda w: np.nan, lambda w: w, r"value\(w\) must be a finite number"),
    (lambda w: w, lambda w: w, r"value\(w\) must be a finite number"),
]


@pytest.mark.parametrize(("value", "gradient", "says"), WRONG)
def test_a_wrong_gradient_fails_the_tangent_test(value, gradient, says):
    with pytest.raises(InvalidParameter, match=says):
        check_cost(CustomCost(value, gradient), 3)


@pytest.mark.parametrize(("value", "gradient", "says"), WRONG)
def test_a_learner_notices_a_wrong_gradient_by_itself(value, gradient, says):
    learner = Learner(rule_named("sgd", radius=1.0), 3)
    learner.state.w[:] = [0.3, -0.2, 0.1]  # w = 0 may be a kink of the cost
    with pytest.raises(InvalidParameter, match=says):
        learner.see(CustomCost(value, gradient))
    assert learner.steps == 0


def test_a_learner_tests_the_first_costs_and_fewer_and_fewer_later():
    asked = []

    def value(w):
        asked.append(learner.steps)
        return w @ w

    learner = Learner(rule_named("sgd", radius=1.0), 3)
    for _ in range(40):
        learner.see(CustomCost(value, lambda w: 2.0 * w))
    assert [t for t in range(40) if asked.count(t) > 1] == [0, 1, 2, 3, 4, 8, 16, 32]
    asked.clear()
    X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    costs = row_costs(X, y)
    assert Learner(rule_named("pgd", radius=1.0), 3).see(costs.full()) == 1.0
    learner.state.sums[:] = 0.0  # as if nothing had been seen
    edge = CustomCost(lambda w: np.inf if w @ w > 1.0 else w @ w, lambda w: 2.0 * w)
    learner.see(edge)  # a cost that is no number outside the set


def test_a_cost_with_less_penalty_than_it_says_fails_the_tangent_test():
    def value(w):
        return abs(w).sum() + 0.5 * (w @ w)

    def gradient(w):
        return np.sign(w) + w

    check_cost(CustomCost(value, gradient, lam=1.0), 3)
    with pytest.raises(InvalidParameter, match="contains less of lam/2 .* than its lam=1.1"):
        check_cost(CustomCost(value, gradient, lam=1.1), 3)
    for lam in (-1.0, np.nan, np.inf, "1"):
        with pytest.raises(InvalidParameter, match="lam of a cost must be"):
            Learner(rule_named("sgd"), 3).see(CustomCost(value, gradient, lam=lam))


def test_right_gradients_pass_the_tangent_test():
    check_cost(CustomCost(lambda w: w @ w, lambda w: 2.0 * w), 3)
    check_cost(CustomCost(lambda w: abs(w).max(), lambda w: np.sign(w) * (abs(w) == abs(w).max())
                          / (abs(w) == abs(w).max()).sum()), 3, L1Ball(2.0))  # fmt: skip
    X, y = np.random.default_rng(0).standard_normal((20, 4)), np.tile([-1.0, 1.0], 10)
    for loss in ("hinge", "squared_hinge", "logistic", "epsilon_insensitive"):
        check_cost(row_costs(X, y, loss=loss, lam=0.1, fit_intercept=True).full(), 5)


def test_bad_rows_orders_and_counts_are_refused():
    costs = row_costs([[1.0], [2.0]], [1, -1])
    learner = Learner(rule_named("sgd"), 1)
    with pytest.raises(InvalidData, match="have 1 weights, the learner has 2"):
        Learner(rule_named("sgd"), 2).see_rows(costs)
    for order in ([2], [-1], [0.0], [[0]]):
        with pytest.raises(InvalidData, match="order must"):
            learner.see_rows(costs, order)
    with pytest.raises(InvalidData, match="y must be -1 or \\+1"):
        row_costs([[1.0]], [2.0])
    with pytest.raises(InvalidParameter, match="loss must be one of"):
        row_costs([[1.0]], [1.0], loss="huber")
    with pytest.raises(InvalidParameter, match="lam must be"):
        row_costs([[1.0]], [1.0], lam=-1.0)
    for shares, start in (([1.0], [0.0]), ([0.5, 0.6], [0.0]), ([2.0, -1.0], [0.0])):
        with pytest.raises(InvalidData, match="shares must hold"):
            best_fixed_point(costs, L2Ball(1.0), np.array(shares), np.array(start))
    with pytest.raises(InvalidData, match="start must have shape"):
        best_fixed_point(costs, L2Ball(1.0), np.array([0.5, 0.5]), np.zeros(2))
    learner.see_rows(costs)
    with pytest.raises(InvalidData, match="counts must tell"):
        learner.regret(costs, [1, 2])
    with pytest.raises(InvalidData, match="0 costs were passed, 2 were seen"):
        learner.regret([])
