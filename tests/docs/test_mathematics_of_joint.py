"""The formulas of docs/mathematics.md, section 17, on random numbers."""

import numpy as np
import pytest
from scipy.special import logsumexp, xlogy

from pegasos.problem.bias import write_feasible_row
from pegasos.problem.joint_bias import joint_balance
from pegasos.problem.joint_losses import joint_gain, joint_gap, joint_value, write_joint_step
from pegasos.problem.joint_rounding import joint_rooms
from tests.joint_problems import LOSSES, draw_joint

pytestmark = pytest.mark.fast

rows = np.arange(200)


def random_row(name, seed, K=4):
    rng = np.random.default_rng(seed)
    loss = draw_joint(name, seed, K=K).problem.costs.loss
    p, y = rng.dirichlet(0.5 * np.ones(K)), int(rng.integers(K))
    a = -p
    a[y] += 1.0
    return loss, rng.normal(0.0, 2.0, K), a, p, y


def kl(p, q):
    return xlogy(p, p / q) + xlogy(1.0 - p, (1.0 - p) / (1.0 - q))


@pytest.mark.parametrize("name", LOSSES)
def test_17_gap_is_loss_minus_gain_plus_the_product(name):
    for seed in rows:
        loss, z, a, _, y = random_row(name, seed)
        direct = joint_value(loss, z, y) - joint_gain(loss, a, y) + a @ z
        assert joint_gap(loss, z, a, y) == pytest.approx(direct, abs=1e-12)
        assert direct >= -1e-12


@pytest.mark.parametrize("name", LOSSES)
def test_17_two_classes_bound_the_gap_term_from_below(name):
    for seed in rows:
        loss, z, a, p, y = random_row(name, seed)
        q, k = np.random.default_rng(seed).permutation(4)[:2]
        term = joint_gap(loss, z, a, y)
        if name == "softmax":
            both, lead = p[q] + p[k], z[q] - z[k]
            assert term >= both * kl(p[q] / both, 1.0 / (1.0 + np.exp(-lead))) - 1e-12
        else:
            lead = (loss.cost[y, q] + z[q]) - (loss.cost[y, k] + z[k])
            assert term >= p[k] * max(0.0, lead) - 1e-12


@pytest.mark.parametrize("name", LOSSES)
def test_17_rooms_hold_whatever_scores_are_within_their_radius(name):
    rng = np.random.default_rng(0)
    for seed in rows:
        loss, z, a, _, y = random_row(name, seed)
        r = float(rng.exponential(0.3))
        of_value, of_gap = joint_rooms(loss, z, a, y, r)
        for _ in range(5):
            t = z + r * rng.choice([-1.0, 1.0], 4)
            assert joint_value(loss, t, y) <= joint_value(loss, z, y) + of_value + 1e-12
            assert joint_gap(loss, t, a, y) <= joint_gap(loss, z, a, y) + of_gap + 1e-12


def test_17_a_step_of_softmax_solves_for_all_numbers_of_a_row():
    for seed in rows:
        loss, z, a, p, y = random_row("softmax", seed)
        c, q = np.empty(4), 10.0 ** np.random.default_rng(seed).uniform(-2, 2)
        write_joint_step(loss, z, a, q, y, c)
        new = -c
        new[y] += 1.0
        rest = np.log(np.maximum(new, 1e-300)) + q * new - z - q * p
        assert np.ptp(rest[new > 1e-8]) <= 1e-5 * (1.0 + q + np.abs(z).max())
        assert new.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", LOSSES)
def test_17_balanced_numbers_are_in_the_simplex_and_sum_to_nothing(name):
    drawn = draw_joint(name, 3, "free", n=30, K=4, weighted=True)
    costs, rng = drawn.problem.costs, np.random.default_rng(0)
    A = -rng.dirichlet(np.ones(4), 30)
    A[np.arange(30), drawn.y] += 1.0
    balance, found = joint_balance(drawn.problem, A, 1.0), np.empty_like(A)
    for i in range(30):
        write_feasible_row(costs.loss, costs, A, i, balance, found[i])
    P = np.eye(4)[drawn.y] - found
    assert P.min() >= -1e-15
    assert P.sum(axis=1) == pytest.approx(np.ones(30))
    assert drawn.weights @ found == pytest.approx(np.zeros(4), abs=1e-12)
    still = joint_balance(drawn.problem, found, 1.0)
    assert still.down == pytest.approx(np.ones(4))


def test_17_softmax_is_the_log_loss():
    _, z, _, _, y = random_row("softmax", 0)
    loss = draw_joint("softmax", 0).problem.costs.loss
    assert joint_value(loss, z, y) == pytest.approx(logsumexp(z) - z[y])
