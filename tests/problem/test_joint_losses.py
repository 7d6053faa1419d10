"""Joint losses against their definitions: suprema over the simplex, gaps, projections, kinks."""

import numpy as np
import pytest
from scipy.optimize import brentq

from pegasos.problem.joint_losses import (
    JointHinge,
    Softmax,
    joint_gain,
    joint_gap,
    joint_value,
    project,
    write_by_bisection,
    write_by_newton,
    write_joint_slope,
    write_joint_step,
    zero_one,
)

pytestmark = pytest.mark.fast

K = 4


def random_cost(random):
    cost = random.uniform(0.0, 3.0, (K, K))
    np.fill_diagonal(cost, 0.0)
    return cost


def losses(random):
    return [JointHinge(zero_one(K)), JointHinge(random_cost(random)), Softmax()]


def plain_value(loss, z, y):
    if isinstance(loss, Softmax):
        return np.log(np.sum(np.exp(z - z[y])))
    return np.max(loss.cost[y] + z - z[y])


def plain_gain(loss, p, y):
    if isinstance(loss, Softmax):
        return -np.sum(p[p > 0] * np.log(p[p > 0]))
    return p @ loss.cost[y]


def dual_numbers(p, y):
    a = -p
    a[y] += 1.0
    return a


def plain_projection(v):
    """Find the shift by bisection instead."""
    shift = brentq(lambda t: np.maximum(0.0, v - t).sum() - 1.0, v.min() - 1.0, v.max())
    return np.maximum(0.0, v - shift)


@pytest.fixture
def random():
    return np.random.default_rng(5)


def test_value_is_its_definition(random):
    for loss in losses(random):
        for _ in range(20):
            z, y = random.normal(0, 3, K), int(random.integers(K))
            assert joint_value(loss, z, y) == pytest.approx(plain_value(loss, z, y), rel=1e-12)


def test_softmax_survives_scores_of_any_size():
    z = np.array([1e4, -1e4, 0.0, 3.0])
    assert joint_value(Softmax(), z, 0) == 0.0
    assert joint_value(Softmax(), z, 1) == pytest.approx(2e4)
    small = np.array([40.0, 0.0, 0.0, 0.0])
    assert joint_value(Softmax(), small, 0) == pytest.approx(3 * np.exp(-40.0), rel=1e-12)


def test_slope_is_a_sub_gradient(random):
    for loss in losses(random):
        for _ in range(20):
            z, y, a = random.normal(0, 2, K), int(random.integers(K)), np.empty(K)
            write_joint_slope(loss, z, y, a)
            for _ in range(20):
                other = z + random.normal(0, 2, K)
                above = plain_value(loss, other, y) - plain_value(loss, z, y) + a @ (other - z)
                assert above >= -1e-12


def test_margin_exactly_reached_is_satisfied():
    a = np.empty(K)
    write_joint_slope(JointHinge(zero_one(K)), np.array([1.0, 0.0, 0.0, 0.0]), 0, a)
    assert not a.any()


def test_gain_obeys_fenchel_young(random):
    """gain(a) <= loss(z) + <a, z> for all z, with equality at a = -slope(z)."""
    for loss in losses(random):
        for _ in range(20):
            z, y = random.normal(0, 2, K), int(random.integers(K))
            a = dual_numbers(random.dirichlet(np.ones(K)), y)
            assert joint_gain(loss, a, y) <= plain_value(loss, z, y) + a @ z + 1e-12
            write_joint_slope(loss, z, y, a)
            at_slope = plain_value(loss, z, y) + a @ z
            assert joint_gain(loss, a, y) == pytest.approx(at_slope, abs=1e-12)


def test_gap_is_its_definition_and_never_negative(random):
    for loss in losses(random):
        for _ in range(50):
            z, y = random.normal(0, 2, K), int(random.integers(K))
            p = random.dirichlet(0.3 * np.ones(K))
            a = dual_numbers(p.copy(), y)
            gap = joint_gap(loss, z, a, y)
            by_definition = plain_value(loss, z, y) - plain_gain(loss, p, y) + a @ z
            assert gap >= 0.0
            assert gap == pytest.approx(by_definition, abs=1e-12)


def test_projection_is_the_nearest_point(random):
    for _ in range(50):
        v = random.normal(0, random.choice([0.1, 1.0, 100.0]), K)
        expected = plain_projection(v)
        project(v)
        np.testing.assert_allclose(v, expected, atol=1e-10)
    ties = np.array([2.0, 2.0, 2.0, -1.0])
    project(ties)
    np.testing.assert_allclose(ties, [1 / 3, 1 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("q", [1e-6, 1e-2, 1.0, 30.0, 1e5])
def test_step_maximises_the_dual_along_a_row(q, random):
    def dual(loss, c, z, a, y):
        p = -c.copy()
        p[y] += 1.0
        return (
            plain_gain(loss, np.maximum(0.0, p), y) - z @ (c - a) - 0.5 * q * np.sum((c - a) ** 2)
        )

    for loss in losses(random):
        for _ in range(10):
            z, y, c = random.normal(0, 2, K), int(random.integers(K)), np.empty(K)
            a = dual_numbers(random.dirichlet(np.ones(K)), y)
            write_joint_step(loss, z, a, q, y, c)
            p = dual_numbers(c.copy(), y)
            assert p.min() >= 0.0
            assert p.sum() == pytest.approx(1.0, abs=1e-12)
            best = dual(loss, c, z, a, y)
            for _ in range(30):
                towards = random.dirichlet(0.2 * np.ones(K))
                step = random.choice([1e-4, 1e-2, 1.0])
                other = dual_numbers((1 - step) * np.maximum(0.0, p) + step * towards, y)
                assert dual(loss, other, z, a, y) <= best + 1e-10 * max(1.0, abs(best))


def test_projection_ends_where_rounding_would_count_a_number_in_and_out():
    tied = np.array([0.6049901245012068, -0.39500987549879313, -0.39500987549879313])
    project(tied)
    assert tied == pytest.approx([1.0, 0.0, 0.0])


def test_a_step_of_next_to_no_curvature_stays_in_the_simplex():
    # Rows of length 1e-9: the best class takes all, or shares with those that tie with it.
    out, z = np.empty(4), np.array([0.3, 0.3, 0.3, -1.0])
    write_joint_step(JointHinge(zero_one(4)), z, np.zeros(4), 1e-20, 0, out)
    assert out == pytest.approx([1.0, -0.5, -0.5, 0.0])


def test_newton_steps_of_softmax_find_what_bisection_finds(random):
    converged = 0
    for _ in range(300):
        z, y = random.normal(0.0, 10.0 ** random.uniform(-1, 2), K), int(random.integers(K))
        a = dual_numbers(random.dirichlet(0.3 * np.ones(K)), y) * (random.random() < 0.7)
        q = 10.0 ** random.uniform(-8, 5)
        quick, safe = np.empty(K), np.empty(K)
        write_by_bisection(z, a, q, y, safe)
        if write_by_newton(z, a, q, y, quick):
            converged += 1
            assert quick == pytest.approx(safe, rel=1e-6, abs=1e-12)
            assert quick.sum() == pytest.approx(1.0, abs=1e-12)
    assert converged > 270
