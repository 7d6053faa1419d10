"""Compiled loops over rows: equal to the plain transcription, dense or sparse, any rule."""

import numba
import numpy as np
import pytest
from scipy import sparse

from pegasos.online import (
    AdaGrad,
    Box,
    Entropy,
    Euclidean,
    Everywhere,
    L1Ball,
    L2Ball,
    Lazy,
    Learner,
    Mirror,
    Simplex,
    constant,
    inverse_root,
    row_costs,
    rule_named,
    strongly_convex,
)
from pegasos.online.learner import _stretches, is_noted
from pegasos.online.passes import dense_pass, scaled_pass, sparse_pass
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic
from tests.reference import online as reference

SETS = [Everywhere(), L2Ball(0.7), L1Ball(0.9), Simplex(1.5), Box(-0.2, 0.3)]
RULES = [
    *(Mirror(Euclidean(), within, inverse_root(0.5)) for within in SETS),
    *(Lazy(Euclidean(), within, inverse_root(0.5)) for within in SETS),
    *(AdaGrad(within, 0.4) for within in SETS),
    Mirror(Euclidean(), L2Ball(2.0), strongly_convex(0.3)),
    Mirror(Euclidean(), Everywhere(), strongly_convex(0.3)),
    Mirror(Entropy(), L1Ball(2.0), constant(0.1)),
    Mirror(Entropy(), Simplex(2.0), inverse_root(0.3)),
    Lazy(Entropy(), L1Ball(2.0), inverse_root(0.3)),
]

# Compiled, every rule and container is a variant of its own: one rule per loop and kind of set.
IN_COMPILED_CODE = [0, 3, 6, 7, 10, 12, 15, 19]
RULES = RULES if numba.config.DISABLE_JIT else [RULES[k] for k in IN_COMPILED_CODE]


def drawn(seed=0, n=40, d=7, density=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    y = np.where(X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y, rng.integers(0, n, 3 * n)


@pytest.mark.fast
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("lam", [0.0, 0.3])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_rows_are_played_as_written_down(rule, lam, layout):
    X, y, order = drawn()
    with_constant = np.hstack([X, np.ones((len(X), 1))])
    played, paid = reference.on_rows(rule, with_constant, y, Hinge(), lam, order)
    costs = row_costs(layout(X), y, lam=lam, fit_intercept=True)
    learner = Learner(rule, costs.n_weights).see_rows(costs, order[:31])
    learner.see_rows(costs, order[31:])  # how a stream is cut does not matter
    np.testing.assert_allclose(learner.w, played[-1], atol=1e-10)
    np.testing.assert_allclose(learner.average, played[:-1].mean(axis=0), atol=1e-10)
    assert learner.regret().cost == pytest.approx(paid.sum(), rel=1e-10)  # h from 1e-8 to 10
    assert learner.steps == len(order)


@pytest.mark.parametrize(
    ("loss", "name"), [(Logistic(), "pegasos"), (EpsilonInsensitive(0.1), "smd")], ids=str
)
def test_other_losses_without_a_constant_feature(loss, name):
    X, y, order = drawn(1)
    rule = rule_named(name, lam=0.2, scale=0.5)
    played, paid = reference.on_rows(rule, X, y, loss, 0.2, order)
    costs = row_costs(sparse.csr_array(X), y, loss=loss, lam=0.2)
    learner = Learner(rule, costs.n_weights).see_rows(costs, order)
    np.testing.assert_allclose(learner.w, played[-1], atol=1e-10)
    assert learner.regret().cost == pytest.approx(paid.sum(), rel=1e-12)


@pytest.mark.fast
def test_a_first_pegasos_step_by_hand():
    # w_1 = 0, margin 0 < 1: w_2 = (1 - 1) w_1 + 1/lam y x = 2 x, then onto the ball of 1/sqrt(lam).
    costs = row_costs([[0.6, 0.8]], [1.0], lam=0.5)
    learner = Learner(rule_named("pegasos", lam=0.5), 2).see_rows(costs)
    np.testing.assert_allclose(learner.w, np.sqrt(2.0) * np.array([0.6, 0.8]))
    assert learner.regret().cost == 1.0


@pytest.mark.fast
def test_loops_that_cost_the_nonzeros_are_chosen_where_they_can_be():
    X, y, _ = drawn()

    def loop(rule, lam=0.0, layout=sparse.csr_array):
        costs = row_costs(layout(X), y, lam=lam)
        return Learner(rule, costs.n_weights)._pass_over(costs)

    assert loop(rule_named("sgd")) is scaled_pass
    assert loop(rule_named("pegasos", lam=0.1), 0.1) is scaled_pass
    assert loop(rule_named("smd"), 0.1) is scaled_pass
    assert loop(rule_named("adagrad")) is sparse_pass
    assert loop(rule_named("adagrad"), 0.1) is dense_pass
    assert loop(rule_named("adagrad"), layout=np.asarray) is dense_pass
    assert loop(rule_named("adagrad", L1Ball(1.0))) is dense_pass
    assert loop(rule_named("seg")) is dense_pass


def test_float32_rows_play_like_float64_ones():
    X, y, order = drawn(2)
    X = X.astype(np.float32)
    results = []
    for kind in (np.float32, np.float64):
        costs = row_costs(X.astype(kind), y, lam=0.1)
        results.append(Learner(rule_named("pegasos", lam=0.1), 7).see_rows(costs, order).w)
    np.testing.assert_allclose(results[0], results[1], atol=1e-6)


@pytest.mark.fast
def test_a_long_stream_is_cut_after_noted_steps_and_into_short_calls():
    parts = _stretches(3, 40, 16)
    assert parts[0][0] == 0
    assert parts[-1][1] == 40
    assert all(a[1] == b[0] for a, b in zip(parts, parts[1:], strict=False))
    assert max(stop - start for start, stop in parts) <= 16
    noted = {steps for steps in range(4, 43) if is_noted(steps)}
    assert noted <= {3 + stop for _, stop in parts}


def test_the_same_order_gives_the_same_bits():
    X, y, order = drawn(3)
    costs = row_costs(X, y, lam=0.1)
    first, second = (
        Learner(rule_named("seg"), costs.n_weights).see_rows(costs, order) for _ in range(2)
    )
    np.testing.assert_array_equal(first.w, second.w)
    assert first.regret() == second.regret()
