"""The slack-constrained problem: bounds that hold, an identity to rounding, the best duals."""

import numpy as np
import pytest

from pegasos.certificate.gap import evaluate
from pegasos.certificate.offer import Offer, means_for
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Precomputed
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solvers.batch_perceptron.slack import (
    balanced,
    basin,
    best_duals,
    capped,
    curves,
    distribution,
    level,
    masses,
    volume_below,
)
from tests.reference import batch_perceptron as reference
from tests.reference.slack import slack_bounds
from tests.solvers.kernel_problems import BUDGET, kernel_problem, whole_matrix

BIASES = ["none", "free"]
pytestmark = pytest.mark.fast


def random_pair(drawn, rng):
    """Coefficients of a w of norm 1 and a distribution, both random."""
    y, n = drawn.y[:, 0], len(drawn.y)
    B = rng.standard_normal(n) * (rng.random(n) < 0.5) + 0.3 * y
    B /= np.sqrt(B @ (whole_matrix(drawn) @ B))
    p = rng.random(n) ** rng.integers(1, 5) * (rng.random(n) < 0.8)
    p[:2] = 0.5  # rows of both classes
    return B, distribution(p, y, drawn.bias == "free")


@pytest.mark.parametrize("bias", BIASES)
def test_levels_equal_the_definition(bias):
    rng = np.random.default_rng(0)
    for _ in range(50):
        c, y = rng.standard_normal(9), np.where(rng.random(9) < 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        columns, nu = basin(c, y, bias == "free"), rng.uniform(0.0, 2.0)
        gamma = level(columns, 9 * nu)
        assert gamma == pytest.approx(reference.gamma_for_nu(c, y, bias == "free", nu), rel=1e-13)
        assert volume_below(columns, gamma) == pytest.approx(9 * nu, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("bias", BIASES)
def test_no_distribution_bounds_from_below(bias):
    rng = np.random.default_rng(1)
    for seed in range(40):
        drawn = kernel_problem(Hinge(), seed, n=12, bias=bias)
        for nu in (0.0, 0.01, 0.3):
            value, bound, _ = slack_bounds(drawn.problem, nu, *random_pair(drawn, rng))
            assert value <= bound + 1e-12


@pytest.mark.parametrize("bias", BIASES)
def test_the_gap_of_the_regularised_problem_is_that_of_the_bounds(bias):
    rng = np.random.default_rng(2)
    for seed in range(40):
        drawn = kernel_problem(Hinge(), seed, n=12, bias=bias)
        nu = rng.uniform(0.05, 0.5)
        B, p = random_pair(drawn, rng)
        value, bound, lam = slack_bounds(drawn.problem, nu, B, p)
        if value <= 0.0:
            continue
        q, n = p.max(), len(p)
        iterate = (B / value)[:, None], np.zeros(1)
        offer = Offer((drawn.y[:, 0] * p / q)[:, None], iterate=iterate)
        found = evaluate(drawn.problem._replace(lam=lam), offer, means_for(drawn.problem))
        expected = (bound - value) / (n * q * value)
        assert found.primal[0] - found.dual[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert found.gap[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_a_shorter_w_has_a_smaller_gap():
    drawn, rng = kernel_problem(Hinge(), 3, n=12), np.random.default_rng(3)
    B, p = random_pair(drawn, rng)
    nu, n, q = 0.5, len(p), p.max()
    value, bound, lam = slack_bounds(drawn.problem, nu, 0.6 * B, p)
    iterate = (0.6 * B / value)[:, None], np.zeros(1)
    offer = Offer((drawn.y[:, 0] * p / q)[:, None], iterate=iterate)
    found = evaluate(drawn.problem._replace(lam=lam), offer, means_for(drawn.problem))
    norm = bound - n * nu * q
    assert found.gap[0] == pytest.approx((0.6 * norm + n * nu * q - value) / (n * q * value))
    longer = slack_bounds(drawn.problem, nu, 3.0 * B, p)  # shortened to 1
    np.testing.assert_allclose(longer, slack_bounds(drawn.problem, nu, B, p), rtol=1e-12)


def test_a_distribution_without_norm_still_has_a_lam():
    # Two equal rows of opposite labels: p = (1/2, 1/2) cancels, and lam would be 0.
    gram = Gram(Precomputed(), as_rows(np.ones((2, 2))), BUDGET)
    problem = make_problem(Hinge(), gram, np.array([[1.0], [-1.0]]), None, 1.0)
    found = slack_bounds(problem, 0.5, np.array([0.5, 0.0]), np.full(2, 0.5))
    assert found[:2] == (0.5, 0.5)
    assert 0.0 < found.lam < 1e-9


@pytest.mark.parametrize("bias", BIASES)
def test_capped_duals_have_the_mass_asked_for(bias):
    rng = np.random.default_rng(4)
    p = rng.random(20) ** 3 * (rng.random(20) < 0.8)
    y = np.where(np.arange(20) % 3 == 0, 1.0, -1.0)
    c = rng.standard_normal(20)
    some = curves(p, c, y, bias == "free")
    bends, response = masses(some)
    for mass, joint in zip(bends, response, strict=True):
        b = capped(some, mass, 20)
        assert b.sum() == pytest.approx(len(some) * mass)
        assert b @ c == pytest.approx(joint, abs=1e-12)
        assert b.max() <= 1.0
        assert np.all(b[p == 0.0] == 0.0)
        if bias == "free":
            assert b @ y == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [1e-4, 0.01, 0.3, 10.0])
def test_best_duals_are_the_best_of_their_kind(bias, lam):
    rng = np.random.default_rng(5)
    n, square = 20, 0.8
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    for _ in range(10):
        p, c = rng.random(n) ** 3, rng.standard_normal(n) + 0.5
        some = curves(p, c, y, bias == "free")

        def value(b, c=c):
            return b.sum() / n - max(0.0, b @ c) ** 2 / (2 * lam * n**2 * square)

        best = value(best_duals(some, n, lam, square))
        for mass in np.linspace(0.0, masses(some)[0][-1], 200):
            assert value(capped(some, mass, n)) <= best + 1e-12


def test_the_heavier_class_is_shrunk():
    y = np.array([1.0, -1.0, 1.0])
    assert balanced(np.array([1.0, 0.5, 1.0]), y).tolist() == [0.25, 0.5, 0.25]
    assert balanced(np.array([0.1, 0.8, 0.1]), y).tolist() == [0.1, 0.2, 0.1]
    assert not balanced(np.array([1.0, 0.0, 1.0]), y).any()


def test_nothing_to_share_out():
    y = np.array([1.0, -1.0, 1.0])
    assert not distribution(np.array([1.0, 0.0, 2.0]), y, True).any()
    assert not best_duals(curves(np.zeros(3), y, y, False), 3, 0.1, 1.0).any()
    assert not best_duals(curves(np.array([1.0, 0.0, 2.0]), y, y, True), 3, 0.1, 1.0).any()
