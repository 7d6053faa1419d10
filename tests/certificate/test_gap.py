"""The certificate: primal, dual and gap equal the oracle's, and the gap is never negative."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos.certificate.gap import evaluate, negative_slopes
from pegasos.certificate.offer import Offer, dual_weights, means_for
from pegasos.problem.bias import feasible
from pegasos.problem.geometry import geometry
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    gain,
    lower,
    slope,
    upper,
)
from tests.conftest import draw
from tests.reference import bias as reference_bias
from tests.reference import losses
from tests.reference import objective as reference

LOSSES = {
    "hinge": (Hinge(), losses.hinge),
    "squared_hinge": (SquaredHinge(), losses.squared_hinge),
    "logistic": (Logistic(), losses.logistic),
    "epsilon_insensitive": (EpsilonInsensitive(0.1), losses.epsilon_insensitive),
}
BIASES = ["none", "regularized", "free"]


def drawn_case(name, bias, **how):
    return draw(LOSSES[name][0], bias=bias, regression=name == "epsilon_insensitive", **how)


def duals(drawn, loss, seed=0):
    rng = np.random.default_rng(seed)
    A = np.empty(drawn.y.shape)
    for place, y in np.ndenumerate(drawn.y):
        low, high = max(-2.0, lower(loss, y)), min(2.0, upper(loss, y))
        A[place] = low + rng.uniform(-0.1, 1.1) * (high - low)
    return A


@pytest.mark.fast
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", LOSSES)
def test_primal_and_dual_equal_the_oracles(name, bias, weighted):
    loss, value = LOSSES[name]
    drawn = drawn_case(name, bias, weighted=weighted, n=20)
    A = duals(drawn, loss)
    rng = np.random.default_rng(1)
    iterate = rng.standard_normal((6, 1)), np.array([0.4 if bias == "regularized" else 0.0])
    found = evaluate(drawn.problem, Offer(A, iterate=iterate), means_for(drawn.problem))
    scale = drawn.problem.bias_scale
    y, s = drawn.y[:, 0], drawn.weights
    b = float(found.b[0])
    expected = reference.primal(value, drawn.X, y, s, drawn.lam, iterate[0][:, 0], b, scale)
    assert found.primal[0] == pytest.approx(expected, rel=1e-12)
    if bias == "free":
        least, _ = reference_bias.best_bias(value, drawn.X @ iterate[0][:, 0], y, s)
        square = float(iterate[0][:, 0] @ iterate[0][:, 0])
        assert expected == pytest.approx(least + 0.5 * drawn.lam * square, rel=1e-10)
    balance = dual_weights(drawn.problem, Offer(A), means_for(drawn.problem)).balance
    a = [feasible(drawn.problem.costs, A, i, 0, balance) for i in range(20)]
    expected = reference.dual(
        lambda c, t: gain(loss, c, t), drawn.X, y, s, drawn.lam, np.array(a), scale
    )
    assert found.dual[0] == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", LOSSES)
def test_gap_is_primal_minus_dual_and_never_negative(name, bias, K):
    loss, _ = LOSSES[name]
    for seed in range(4):
        drawn = drawn_case(name, bias, seed=seed, K=K, weighted=seed % 2 == 1)
        A = duals(drawn, loss, seed)
        rng = np.random.default_rng(seed)
        for iterate in (None, (rng.standard_normal((6, K)), np.zeros(K))):
            found = evaluate(drawn.problem, Offer(A, iterate=iterate), means_for(drawn.problem))
            assert np.all(found.gap >= 0.0)
            np.testing.assert_allclose(found.gap, found.primal - found.dual, rtol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_weights_of_the_dual_point_have_no_distance_to_it(name):
    drawn = drawn_case(name, "regularized")
    A = duals(drawn, LOSSES[name][0])
    found = evaluate(drawn.problem, Offer(A, 1.0), means_for(drawn.problem))
    assert 0.0 <= found.distance[0] < 1e-20  # rounding alone


@pytest.mark.parametrize("name", LOSSES)
def test_weights_are_judged_in_the_precision_they_are_stored_in(name):
    drawn = drawn_case(name, "none", dtype=np.float32)
    A = duals(drawn, LOSSES[name][0])
    found = evaluate(drawn.problem, Offer(A, 1.0), means_for(drawn.problem))
    assert np.array_equal(found.W, found.W.astype(np.float32))
    assert 0.0 < found.distance[0] < 1e-10
    np.testing.assert_allclose(found.gap, found.primal - found.dual, rtol=1e-8)
    value = LOSSES[name][1]
    y, s = drawn.y[:, 0], drawn.weights
    expected = reference.primal(value, drawn.X, y, s, drawn.lam, found.W[:, 0])
    assert found.primal[0] == pytest.approx(expected, rel=1e-13)


def test_scale_multiplies_the_dual_numbers():
    drawn = drawn_case("hinge", "none")
    A = duals(drawn, Hinge())
    whole, scaled = (
        evaluate(drawn.problem, Offer(numbers, scale), means_for(drawn.problem))
        for numbers, scale in ((0.5 * A, 1.0), (A, 0.5))
    )
    np.testing.assert_allclose(scaled.dual, whole.dual, rtol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_minus_the_slopes_are_feasible_and_close_every_term(name):
    loss, _ = LOSSES[name]
    drawn = drawn_case(name, "none")
    W, b = np.random.default_rng(0).standard_normal((6, 1)), np.zeros(1)
    A, _ = negative_slopes(drawn.problem, W, b, means_for(drawn.problem), 0.0)
    scores = drawn.X @ W[:, 0]
    expected = [-slope(loss, z, y) for z, y in zip(scores, drawn.y[:, 0], strict=True)]
    np.testing.assert_allclose(A[:, 0], expected, atol=1e-12)
    found = evaluate(drawn.problem, Offer(A, iterate=(W, b)), means_for(drawn.problem))
    # Only lam/2 ||w - w(a)||^2 is left of the gap.
    np.testing.assert_allclose(found.gap, 0.5 * drawn.lam * found.distance, rtol=1e-9)


def test_each_of_many_models_takes_the_better_of_both_balances():
    for seed in range(6):
        drawn = drawn_case("hinge", "free", K=3, seed=seed, weighted=True)
        A = duals(drawn, Hinge(), seed)
        together = evaluate(drawn.problem, Offer(A, 1.0), means_for(drawn.problem)).dual
        for k in range(3):
            alone = drawn.problem._replace(
                costs=drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
            )
            one = evaluate(alone, Offer(A[:, k : k + 1].copy(), 1.0), means_for(alone)).dual
            assert together[k] == pytest.approx(one[0], rel=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 1000),
    spread=st.sampled_from([1e-3, 1.0, 1e3]),
    name=st.sampled_from(sorted(LOSSES)),
    bias=st.sampled_from(BIASES),
)
def test_gap_is_not_negative_for_any_weights_and_duals(seed, spread, name, bias):
    loss, _ = LOSSES[name]
    drawn = drawn_case(name, bias, seed=seed, weighted=True, lam=1e-3)
    rng = np.random.default_rng(seed)
    A = duals(drawn, loss, seed)
    iterate = spread * rng.standard_normal((6, 1)), spread * rng.standard_normal(1)
    found = evaluate(drawn.problem, Offer(A, iterate=iterate), means_for(drawn.problem))
    assert found.gap[0] >= 0.0
    assert found.dual[0] <= found.primal[0] * (1.0 + 1e-12)


@pytest.mark.fast
def test_square_norms_are_summed_in_parts():
    rng = np.random.default_rng(0)
    W, V = rng.standard_normal((2, 9000, 2))
    rows = drawn_case("hinge", "none").problem.rows
    square, other, distance = geometry(rows).distances(W, V, np.empty(0))
    np.testing.assert_allclose(square, (W**2).sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(other, (V**2).sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(distance, ((W - V) ** 2).sum(axis=0), rtol=1e-13)
    assert geometry(rows).distances(W, W, np.empty(0))[2].tolist() == [0.0, 0.0]


@pytest.mark.fast
def test_float64_weights_are_stored_as_they_are():
    drawn = drawn_case("hinge", "none")
    W = np.ones((6, 1)) / 3.0
    assert geometry(drawn.problem.rows).as_stored(W) is W
