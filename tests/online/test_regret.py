"""Regret is an interval that is never wrong: Clarabel's best fixed point lies inside."""

from fractions import Fraction
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from pegasos.errors import InvalidData, ToleranceNotReached
from pegasos.online import (
    Box,
    CustomCost,
    Entropy,
    Euclidean,
    Everywhere,
    L1Ball,
    L2Ball,
    Lazy,
    Learner,
    Mirror,
    PNorm,
    Simplex,
    best_fixed_point,
    constant,
    inverse_root,
    row_costs,
    rule_named,
)
from pegasos.online.conjugates import support
from pegasos.online.directions import Curvature, by_conjugate_gradients, by_products
from pegasos.online.saddle import Saddle
from pegasos.online.tally import EPS, PULL
from tests.reference.projections import constraints

ROUNDING = 1e-6  # of Clarabel's answer


def optimum(X, y, loss, lam, shares, within):
    w = cp.Variable(X.shape[1])
    m = cp.multiply(y, X @ w)
    losses = {
        "hinge": cp.pos(1 - m),
        "squared_hinge": cp.square(cp.pos(1 - m)),
        "logistic": cp.logistic(-m),
        "epsilon_insensitive": cp.pos(cp.abs(X @ w - y) - 0.1),
    }[loss]
    objective = shares @ losses + lam / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective), constraints(within, w)).solve(solver="CLARABEL")


def stream(seed, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1)
    y = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    lam = 0.0 if seed % 3 == 0 else 10.0 ** rng.uniform(-3, 0)
    return X, y, lam, rng.integers(0, n, 150), rng


NAMES = ["sgd", "smd", "seg", "adagrad"]
LOSSES = ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"]


@pytest.mark.parametrize("seed", range(20))
def test_the_true_best_fixed_point_lies_inside(seed):
    X, y, lam, order, rng = stream(seed)
    name = NAMES[seed % 4] if lam == 0.0 or seed % 5 else "pegasos"
    radius = 10.0 ** rng.uniform(-1, 1)
    within = L1Ball(radius) if name == "seg" or seed % 2 else L2Ball(radius)
    loss = LOSSES[(seed // 4) % 4]  # compiled variants are a budget: dense rows but for one rule
    layout = sparse.csr_array if seed in (1, 5) else np.asarray
    costs = row_costs(layout(X), y, loss=loss, lam=lam)
    scale = 0.01 if loss == "squared_hinge" else 0.3
    rule = rule_named(name, within, scale=1.0 if name == "pegasos" else scale, lam=lam)
    learner = Learner(rule, costs.n_weights).see_rows(costs, order)

    counts = np.bincount(order, minlength=len(y))
    best = len(order) * optimum(X, y, loss, lam, counts / len(order), within)
    slack = ROUNDING * max(1.0, best)
    known, streamed = learner.regret(costs, counts), learner.regret()
    for regret in (known, streamed):
        assert regret.best_lower <= best + slack
        assert best - slack <= regret.best_upper
        assert regret.lower - slack <= regret.cost - best <= regret.upper + slack
        assert regret.cost - best <= regret.bound + slack
    assert known.upper <= streamed.upper
    assert known.lower >= streamed.lower
    assert known.best_upper - known.best_lower <= 2e-3 * known.best_upper + slack


@pytest.mark.parametrize("within", [L2Ball(0.5), L1Ball(0.8), Simplex(1.0), Box(-0.1, 0.2)])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_the_best_fixed_point_of_every_set_is_found(within, loss, lam):
    X, y, _, _, _ = stream(5)
    shares = np.full(len(y), 1 / len(y))
    best = optimum(X, y, loss, lam, shares, within)
    costs = row_costs(X, y, loss=loss, lam=lam)
    found = best_fixed_point(costs, within, shares, np.zeros(X.shape[1]), tol=1e-4)
    assert found.lower - ROUNDING <= best <= found.upper + ROUNDING
    assert found.upper - found.lower <= 1e-4 * found.upper
    assert costs.full().value(found.u) <= found.upper


UNITS = 10.0 ** np.array([-3.0, 0.0, 3.0, -3.0, 0.0, 3.0, 0.0, 0.0])


@pytest.mark.parametrize("within", [L2Ball(2.0), L1Ball(4.0)])
@pytest.mark.parametrize(("loss", "lam"), [("hinge", 0.0), ("hinge", 1e-3), ("logistic", 0.0)])
@pytest.mark.parametrize("wide", [1000, 1], ids=["newton", "first-order"])
def test_columns_in_any_units_are_no_obstacle(within, loss, lam, wide, monkeypatch):
    monkeypatch.setattr("pegasos.online.hindsight.WIDE", wide)
    X, y, _, _, _ = stream(5)
    shares = np.full(len(y), 1 / len(y))
    best = optimum(X * UNITS, y, loss, lam, shares, within)
    costs = row_costs(X * UNITS, y, loss=loss, lam=lam)
    found = best_fixed_point(costs, within, shares, np.zeros(8), max_iter=20_000)
    assert found.lower - ROUNDING <= best <= found.upper + ROUNDING
    assert found.upper - found.lower <= 1e-3 * found.upper
    assert costs.full().value(found.u) <= found.upper


@pytest.mark.parametrize(
    ("within", "lam"), [(L2Ball(1.0), 1e-3), (L1Ball(1.0), 0.0), (L1Ball(30.0), 1e-3)]
)
def test_text_of_many_columns_in_any_units_is_no_obstacle(within, lam):
    rng = np.random.default_rng(2)
    X = sparse.random_array((150, 1_200), density=0.02, rng=rng, format="csr")
    X = sparse.csr_array(X @ sparse.diags_array(10.0 ** rng.uniform(-3, 3, 1_200)))
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    shares = np.full(150, 1 / 150)
    best = optimum(X, y, "hinge", lam, shares, within)
    found = best_fixed_point(row_costs(X, y, lam=lam), within, shares, np.zeros(1_200))
    assert found.lower - ROUNDING <= best <= found.upper + ROUNDING
    assert found.upper - found.lower <= 1e-3 * found.upper


def test_both_ways_to_a_direction_agree():
    X, y, lam, _, rng = stream(4, n=200)
    saddle = Saddle(row_costs(X, y, lam=lam, fit_intercept=True), L2Ball(2.0), np.full(200, 0.005))
    curved = Curvature(rng.random(200), rng.random(9), rng.standard_normal(9))
    g = rng.standard_normal(9)
    exact = by_products(saddle, curved, g)
    close = by_conjugate_gradients(saddle, curved, g)
    assert np.linalg.norm(close - exact) <= 0.1 * np.linalg.norm(exact)


def test_bounds_farther_apart_than_asked_for_are_told():
    X, y, _, _, _ = stream(5)
    costs, shares = row_costs(X * UNITS, y), np.full(len(y), 1 / len(y))
    with pytest.warns(ToleranceNotReached, match="of it apart where tol=0.001.*Raise tol"):
        best_fixed_point(costs, L2Ball(1.0), shares, np.zeros(8), max_iter=1)


@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
def test_without_a_bound_or_a_penalty_only_losses_that_are_not_negative_are_known():
    X, y, _, _, _ = stream(5)
    shares = np.full(len(y), 1 / len(y))
    found = best_fixed_point(row_costs(X, y), Everywhere(), shares, np.zeros(8), max_iter=50)
    assert found.lower == 0.0
    at_once = best_fixed_point(row_costs(X, y), L2Ball(1.0), shares, np.zeros(8), max_iter=1)
    assert 0.0 <= at_once.lower <= at_once.upper <= 1.0 + 1e-12  # the cost of 0


@pytest.mark.fast
@pytest.mark.parametrize("within", [L2Ball(0.5), L1Ball(0.8), Simplex(1.0), Box(-0.3, 0.2)])
@pytest.mark.parametrize("lam", [0.0, 0.01, 1.0])
def test_support_is_the_maximum_over_the_set(within, lam):
    V = np.random.default_rng(0).standard_normal(6)
    u = cp.Variable(6)
    most = cp.Problem(
        cp.Maximize(V @ u - lam / 2 * cp.sum_squares(u)), constraints(within, u)
    ).solve(solver="CLARABEL")
    assert support(within, V, lam) == pytest.approx(most, abs=1e-6)
    assert support(within, V, lam, 0.1) > support(within, V, lam)


@pytest.mark.fast
def test_support_of_everything():
    assert support(Everywhere(), np.zeros(3), 0.0) == 0.0
    for within in (L2Ball(0.5), L1Ball(0.8), Simplex(1.0), Box(-0.3, 0.2)):
        assert support(within, np.zeros(3), 0.0) == 0.0
    assert support(Everywhere(), np.ones(3), 0.0) == np.inf
    assert support(Everywhere(), np.ones(3), 0.5) == pytest.approx(3.0)


OWN = [rule_named(name, L1Ball(1.0), scale=0.3) for name in ("sgd", "smd", "seg", "adagrad")]
OWN += [kind(PNorm(1.3), L1Ball(1.0), step) for kind, step in
        ((Lazy, inverse_root(0.3)), (Mirror, constant(0.05)))]  # fmt: skip
OWN += [Mirror(Entropy(), L1Ball(1.0), constant(0.05))]


@pytest.mark.fast
@pytest.mark.parametrize("rule", OWN, ids=str)
def test_costs_of_ones_own(rule):
    rng = np.random.default_rng(0)
    targets = rng.standard_normal((80, 3))
    costs = [
        CustomCost(lambda w, t=t: abs(w - t).sum(), lambda w, t=t: np.sign(w - t)) for t in targets
    ]
    learner = Learner(rule, 3)
    paid = sum(learner.see(cost) for cost in costs)
    u = cp.Variable(3)
    objective = cp.sum([cp.norm1(u - target) for target in targets])
    best = cp.Problem(cp.Minimize(objective), [cp.norm1(u) <= 1]).solve(solver="CLARABEL")
    regret = learner.regret(costs)
    assert regret.cost == pytest.approx(paid)
    assert regret.lower - 1e-6 <= paid - best <= regret.upper + 1e-6
    assert regret.upper <= regret.bound
    assert learner.regret().lower == -np.inf  # nothing but tangents is known of them


def test_full_gradients_and_their_regret():
    X, y, _, _, _ = stream(5)
    costs = row_costs(X, y, lam=0.1)
    learner = Learner(rule_named("pgd", radius=1.0, scale=0.1), costs.n_weights)
    paid = sum(learner.see(costs.full()) for _ in range(40))
    best = 40 * optimum(X, y, "hinge", 0.1, np.full(len(y), 1 / len(y)), L2Ball(1.0))
    regret = learner.regret(costs)
    assert regret.lower - 1e-5 <= paid - best <= regret.upper + 1e-5 <= regret.bound
    assert "regret between" in str(regret)


def test_regrets_of_models_side_by_side_add_up():
    X, y, _, _, _ = stream(5)
    costs = row_costs(X, y)
    one = Learner(rule_named("seg"), 8).see_rows(costs).regret()
    both = one + one
    assert (both.steps, both.cost, both.upper) == (one.steps, 2 * one.cost, 2 * one.upper)


@pytest.mark.parametrize("name", ["sgd", "smd", "seg", "adagrad", "pegasos"])
def test_average_regret_falls_as_theory_says(name):
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (6400, 10))
    y = np.where(rng.random(6400) < 0.5 + 0.3 * X[:, 0], 1.0, -1.0)
    lam = 0.5 if name == "pegasos" else 0.0
    costs = row_costs(X, y, lam=lam)
    within = None if name in ("seg", "pegasos") else L2Ball(2.0)
    rule = rule_named(name, within, radius=2.0 if name == "seg" else None, lam=lam, scale=1.0)
    T = np.array([400, 1600, 6400])
    learner, average = Learner(rule, 10), []
    for stop, start in zip(T, [0, *T], strict=False):
        learner.see_rows(costs, np.arange(start, stop))
        average.append(learner.regret().upper / stop)
    slope = np.polyfit(np.log(T), np.log(average), 1)[0]
    assert slope < (-0.75 if name == "pegasos" else -0.4)


@pytest.mark.fast
@pytest.mark.parametrize("name", ["sgd", "smd", "seg", "adagrad", "pegasos"])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_rounding_of_the_cost_is_within_its_doubt(name, size):
    rng = np.random.default_rng(0)
    X = size * rng.standard_normal((25, 4))
    X += size * 1e3  # scores cancel
    y = np.where(rng.random(25) < 0.5, 1.0, -1.0)
    lam = 0.25
    costs = row_costs(X, y, lam=lam)
    learner, exact = Learner(rule_named(name, lam=lam, scale=1.0), 4), Fraction(0)
    for i in range(25):
        w = [Fraction(x) for x in learner.w.tolist()]
        z = sum(a * Fraction(b) for a, b in zip(w, X[i].tolist(), strict=True))
        exact += max(Fraction(0), 1 - Fraction(y[i]) * z) + Fraction(lam) / 2 * sum(
            a * a for a in w
        )
        learner.see_rows(costs, [i])
    regret = learner.regret()
    assert abs(Fraction(regret.cost) - exact) <= Fraction(regret.doubt)
    assert regret.doubt <= 1e-9 * regret.cost


@pytest.mark.fast
def test_negative_costs_leave_room_on_the_upper_side():
    cost = CustomCost(lambda w: -1e3 * w[0] - 5.0, lambda w: np.array([-1e3, 0.0]))
    learner = Learner(rule_named("pgd", radius=1.0), 2)
    for _ in range(50):
        learner.see(cost)
    regret = learner.regret([cost] * 50)
    assert regret.best_lower <= -50 * 1005.0 <= regret.best_upper


def penalised(lam, c, w):
    return 0.5 * lam * w @ w + c @ w


def penalised_gradient(lam, c, w):
    return lam * w + c


@pytest.mark.fast
def test_a_penalty_that_cancels_in_the_gradient_counts_in_what_rounding_may_do():
    rng = np.random.default_rng(0)
    learner, exact = Learner(Mirror(Euclidean(), L2Ball(1e9), constant(1e-9)), 3), [Fraction(0)] * 3
    for _ in range(20):
        lam, tiny = float(rng.random()), 1e-18 * rng.standard_normal(3)
        w = learner.w
        g = lam * w + tiny
        own = [Fraction(a) - Fraction(lam) * Fraction(b) for a, b in zip(g, w, strict=True)]
        exact = [a + b for a, b in zip(exact, own, strict=True)]
        own_cost = partial(penalised, lam, tiny), partial(penalised_gradient, lam, tiny)
        learner.see(CustomCost(*own_cost, lam))
        learner.state.w[:] = rng.standard_normal(3)  # as if steps were long
    error = max(abs(float(a - Fraction(b))) for a, b in zip(exact, learner.state.pull, strict=True))
    room = 2.0 * (20.0 + 16.0) * EPS * learner.state.sums[PULL]
    assert 0.0 < error <= room


@pytest.mark.fast
def test_costs_other_than_those_seen_are_refused_where_tangents_contradict():
    X, y, _, _, _ = stream(5)
    learner = Learner(rule_named("smd", radius=2.0), X.shape[1])
    learner.see_rows(row_costs(X, y)).see_rows(row_costs(X, -y))
    with pytest.raises(InvalidData, match="not the costs that were seen"):
        learner.regret(row_costs(X * 1e3, np.where(X[:, 0] > 0.0, 1.0, -1.0)))
