"""What rounding may add to a certificate is in it: of scores, of long sums, of a balance."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos.certificate import terms
from pegasos.certificate.gap import evaluate, imbalance
from pegasos.certificate.offer import Offer, means_for
from pegasos.certificate.terms import (
    ABS,
    BALANCE,
    LOST,
    ROWS_OF_SUMS,
    Judged,
    Radius,
    rooms,
    sums_of_terms,
    terms_of,
)
from pegasos.data.rows import as_rows
from pegasos.problem.bias import untouched
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    gain,
    gap_term,
    lower,
    upper,
    value,
)
from pegasos.problem.objective import make_problem


@pytest.mark.fast
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.2)])
def test_no_score_within_its_error_has_a_larger_loss_or_gap_term(loss):
    rng = np.random.default_rng(0)
    for _ in range(200):
        y, z = float(rng.choice([-1.0, 1.0])), float(rng.normal(0.0, 1.5))
        low, high = max(-2.0, lower(loss, y)), min(2.0, upper(loss, y))
        a, r = float(rng.uniform(low, high)), float(rng.exponential(0.3))
        gap, own, v, of_value, of_gap = terms_of(loss, z, a, r, y)
        assert (of_value, of_gap) == pytest.approx(rooms(loss, z, a, r, y), rel=1e-9, abs=1e-12)
        assert gap == pytest.approx(gap_term(loss, z, a, y), rel=1e-12, abs=1e-14)
        assert (own, v) == pytest.approx((gain(loss, a, y), value(loss, z, y)), rel=1e-14)
        for t in (z - r, z - 0.5 * r, z + 0.5 * r, z + r):
            assert value(loss, t, y) <= value(loss, z, y) + of_value + 1e-12
            assert gap_term(loss, t, a, y) <= gap_term(loss, z, a, y) + of_gap + 1e-12


@pytest.mark.fast
@pytest.mark.parametrize("r", [1e-15, 1e-9, 1e-4])
def test_rooms_of_the_logistic_loss_are_hardly_larger_than_what_they_bound(r):
    rng, EPS = np.random.default_rng(2), terms.EPS
    for _ in range(200):
        y, z, b = float(rng.choice([-1.0, 1.0])), float(rng.normal(0.0, 20.0)), float(rng.random())
        b = float(rng.choice([b, 1.0 / (1.0 + np.exp(y * z))]))  # at the slope, too
        m, t = np.longdouble(y * z), np.longdouble(r)
        v, up, down = (np.log1p(np.exp(-x)) for x in (m, m + t, m - t))
        exact = down - v, max(0.0, up - v + b * t, down - v - b * t)
        for found, true in zip(rooms(Logistic(), z, y * b, r, y), exact, strict=True):
            digits = 8.0 * np.finfo(np.longdouble).eps * (1.0 + abs(m))  # that differences have
            assert found >= true - digits
            assert found <= true + 3.0 * r * r + 40.0 * EPS * r + digits


@pytest.mark.parametrize("target", [0.1, 0.3, 1.3])
def test_an_objective_that_is_a_long_sum_is_no_lower_than_the_exact_one(target):
    n = 20_000
    problem = make_problem(
        EpsilonInsensitive(0.0), as_rows(np.zeros((n, 1))), np.full((n, 1), target), None, 1.0
    )
    found = evaluate(problem, Offer(np.zeros((n, 1))), means_for(problem))
    assert Fraction(float(found.primal[0])) >= Fraction(target)
    assert Fraction(float(found.dual[0])) <= 0


@pytest.mark.fast
def test_what_a_dual_point_lacks_to_balance_is_charged_under_a_free_bias():
    # A bias b adds b sum_i s_i a_i to the gap of a point that does not balance.
    X, Y = as_rows(np.eye(2)), np.array([[1.0], [-1.0]])
    sums, b = np.zeros((ROWS_OF_SUMS, 1)), np.array([-7.0])
    sums[BALANCE], sums[ABS] = 1e-6, 1.0
    free, none = (make_problem(Hinge(), X, Y, None, 1.0, bias) for bias in ("free", "none"))
    assert imbalance(free, sums, b)[0][0] >= 7e-6
    assert imbalance(none, sums, b)[0][0] == 0.0


@pytest.mark.fast
def test_sums_over_parts_of_the_rows_are_those_over_all_and_balance_to_twice_the_digits(
    monkeypatch,
):
    rng = np.random.default_rng(1)
    n, Y = 60, np.where(rng.random((60, 1)) < 0.5, 1.0, -1.0)
    A = Y * rng.random((n, 1)) * 10.0 ** rng.integers(-14, 1, (n, 1))
    problem = make_problem(Hinge(), as_rows(rng.standard_normal((n, 2))), Y, None, 1.0)
    radius = Radius(np.zeros((1, 1)), 0, 0.0)
    judged = Judged(A, untouched(1, 1.0), rng.standard_normal((n, 1)), radius, np.zeros(1))
    whole = sums_of_terms(problem.costs, judged)
    monkeypatch.setattr(terms, "NUMBERS", 7)
    parts = sums_of_terms(problem.costs, judged)
    exact = sum(Fraction(float(a)) for a in A[:, 0])
    for sums in (whole, parts):
        found = Fraction(float(sums[BALANCE, 0])) + Fraction(float(sums[LOST, 0]))
        assert abs(found - exact) <= 1e-28 * float(np.abs(A).sum())
    np.testing.assert_allclose(parts[: LOST - 1], whole[: LOST - 1], rtol=1e-13)
