"""The formulas of docs/mathematics.md, section 13, on random numbers: the batch perceptron."""

import numpy as np
import pytest

from pegasos.solvers.batch_perceptron.best_level import balanced_best_level, best_level
from pegasos.solvers.batch_perceptron.slack import (
    basin,
    bounds_of,
    distribution,
    level,
    volume_below,
)
from pegasos.solvers.batch_perceptron.water import balanced_water_level, water_level

pytestmark = pytest.mark.fast


class Responses:
    """A w of length 1, its responses, and a distribution over the rows."""

    def __init__(self, seed, is_free, n=14):
        rng = self.rng = np.random.default_rng(seed)
        self.y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
        self.phi = rng.standard_normal((n, 4)) + 0.7 * self.y[:, None]
        w = rng.standard_normal(4) + 1.0
        self.w = w / np.sqrt(w @ w)
        self.c, self.n, self.is_free = self.y * (self.phi @ self.w), n, is_free
        self.p = distribution(rng.random(n), self.y, is_free)
        self.norm = float(np.linalg.norm((self.p * self.y) @ self.phi))


def least_hinges(c, y, s, is_free):
    """Return min_b sum_i (1 - s c_i - y_i b)_+; the minimum is at a kink, or there is no b."""
    kinks = y * (1.0 - s * c) if is_free else [0.0]
    return min(np.maximum(0.0, 1.0 - s * c - y * b).sum() for b in kinks)


@pytest.mark.parametrize("is_free", [False, True])
def test_level_is_the_least_that_an_adversary_can_make_of_it(is_free):
    for seed in range(5):
        run, volume = Responses(seed, is_free), 3.0
        gamma = level(basin(run.c, run.y, is_free), volume)
        scratch = np.empty(run.n)
        if is_free:
            found, b, k, _, _ = balanced_water_level(run.c, run.y, volume, scratch)
            c, p = run.c + run.y * b, np.zeros(run.n)
            for sign in (1.0, -1.0):
                rows = np.flatnonzero(run.y == sign)
                p[rows[np.argsort(run.c[rows])[:k]]] = 0.5 / k
        else:
            found, c = water_level(run.c, volume, scratch), run.c
            p = (c <= found) / np.count_nonzero(c <= found)
        assert found == pytest.approx(gamma, rel=1e-12)
        assert np.maximum(0.0, gamma - c).sum() == pytest.approx(volume, rel=1e-12)
        assert p @ run.c + volume * p.max() == pytest.approx(gamma, rel=1e-12)
        assert run.p @ run.c + volume * run.p.max() >= gamma


@pytest.mark.parametrize("is_free", [False, True])
def test_gap_with_slack_is_the_gap_of_a_regularised_problem(is_free):
    for seed in range(5):
        run, nu = Responses(seed, is_free), 0.8
        n, q = run.n, run.p.max()
        gamma = level(basin(run.c, run.y, is_free), n * nu)
        _, bound, lam = bounds_of(gamma, 1.0, run.p, run.norm**2, n * nu)
        assert gamma > 0.0
        assert bound >= gamma
        hinges = least_hinges(run.c, run.y, 1.0 / gamma, is_free)
        assert hinges == pytest.approx(n * nu / gamma, rel=1e-12)
        primal = 0.5 * lam / gamma**2 + hinges / n
        dual = 1.0 / (n * q) - run.norm**2 / (2.0 * lam * (n * q) ** 2)
        assert primal - dual == pytest.approx((bound - gamma) / (n * q * gamma), rel=1e-10)


@pytest.mark.parametrize("is_free", [False, True])
def test_best_level_is_the_best_length_and_its_mass_the_optimality_condition(is_free):
    for seed in range(5):
        run, stiffness = Responses(seed, is_free), 2.0
        scratch = np.empty(run.n)
        if is_free:
            gamma, mass, _, _ = balanced_best_level(run.c, run.y, stiffness, scratch)
        else:
            gamma, mass, _, _ = best_level(run.c, stiffness, scratch)

        def cost(s, run=run, stiffness=stiffness):
            return 0.5 * stiffness * s**2 + least_hinges(run.c, run.y, s, is_free)

        here = cost(1.0 / gamma)
        assert all(here <= cost(s) + 1e-12 for s in np.linspace(0.0, 4.0, 101))
        columns = basin(run.c, run.y, is_free)
        hinges = volume_below(columns.times_height(1.0 / gamma), 1.0)
        assert hinges == pytest.approx(least_hinges(run.c, run.y, 1.0 / gamma, is_free), abs=1e-12)
        h, full = columns.heights, int(mass)  # b is 1 on the lowest columns, then a part
        b = np.minimum(1.0, np.maximum(0.0, mass - np.arange(len(h))))
        assert columns.times * b @ h == pytest.approx(stiffness / gamma, rel=1e-10)
        assert np.all(h[:full] <= gamma * (1.0 + 1e-12))


def test_gradient_of_the_best_objective_is_along_the_adversarys_answer():
    run, lam = Responses(1, False), 0.05

    def best(w):
        c = run.y * (run.phi @ w)
        gamma, mass, _, _ = best_level(c, run.n * lam * w @ w, np.empty(run.n))
        s = 1.0 / gamma
        b = np.clip(mass - np.argsort(np.argsort(c)), 0.0, 1.0)
        cost = 0.5 * lam * s**2 * w @ w + np.maximum(0.0, 1.0 - s * c).sum() / run.n
        return cost, lam * s**2 * w - s / run.n * (b * run.y) @ run.phi

    _, gradient = best(run.w)
    for e in np.eye(4):
        change = (best(run.w + 1e-6 * e)[0] - best(run.w - 1e-6 * e)[0]) / 2e-6
        assert change == pytest.approx(gradient @ e, abs=1e-5)
    assert gradient @ run.w == pytest.approx(0.0, abs=1e-12)


def test_value_is_curved_over_the_sphere():
    run, nu = Responses(2, False), 0.5
    v = (run.p * run.y) @ run.phi
    r = float(np.linalg.norm(v))
    away = run.w - v / r
    bound = r + run.n * nu * run.p.max()
    assert level(basin(run.c, run.y, False), run.n * nu) <= bound - 0.5 * r * away @ away + 1e-12
