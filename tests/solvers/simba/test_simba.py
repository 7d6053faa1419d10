"""SIMBA: its rule step by step, unbiased columns, the slack, what is handed out."""

import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.simba.simba import (
    ROUNDS,
    SIMBA,
    Rates,
    Walk,
    best_dual,
    simba_steps,
    slack_level,
    uniform,
)
from tests.conftest import draw
from tests.reference import simba as reference


def xi_of(p, slack):
    level, part = slack_level(p, slack)
    return np.where(p > level, 2.0, np.where(p == level, 2.0 * part, 0.0))


@pytest.mark.fast
@pytest.mark.parametrize("seed", range(20))
def test_slack_goes_to_the_largest_p(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    p = rng.integers(1, 4, n) / 8.0 if seed % 2 else rng.random(n)
    slack = float(rng.uniform(0.0, 2.2 * n)) if seed % 3 else float(2 * rng.integers(n))
    np.testing.assert_allclose(xi_of(p, slack), reference.slack(p, slack), atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_steps_are_those_of_the_rule(constant):
    drawn = draw(Hinge(), 3, n=25, d=4)
    y, X = drawn.y[:, 0], np.column_stack([drawn.X, np.full(25, constant)])
    longest, T = np.sqrt((X**2).sum(axis=1).max()), 400
    rates = Rates(1 / np.sqrt(2.0 * T), np.sqrt(np.log(25) / T), 25 * 0.2, constant, 1 / longest)
    walk = Walk(np.full(25, 1 / 25), np.zeros(5), np.zeros(25), np.zeros(5))
    random = np.array([7], dtype=np.uint64)
    other = random.copy()
    draws = [uniform(other) for _ in range(120)]
    simba_steps(drawn.problem.rows, y, 60, rates, walk, random)
    expected = reference.simba(y[:, None] * X / longest, 0.2, T, 60, draws)
    for mine, theirs in zip(walk, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    assert random == other


@pytest.mark.fast
def test_columns_estimate_margins_without_bias():
    # sum_j w_j^2/||w||^2 * x_j ||w||^2 / w_j = <w, x>
    rng = np.random.default_rng(0)
    w, x = rng.standard_normal((2, 6))
    chance = w**2 / (w @ w)
    assert chance @ (x * (w @ w) / w) == pytest.approx(w @ x)


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_the_dual_point_is_feasible_and_at_its_best_length(bias):
    drawn = draw(Hinge(), 4, n=40, bias=bias)
    p = np.random.default_rng(1).random(40) ** 3
    constant = drawn.problem.bias_scale
    a = best_dual(drawn.problem, p, constant, 0)
    beta = drawn.y[:, 0] * a
    assert beta.min() >= 0.0
    assert beta.max() <= 1.0
    if bias == "free":
        assert a.sum() == pytest.approx(0.0, abs=1e-12)

    def dual(factor):
        w = drawn.X.T @ (factor * a) / (40 * drawn.lam)
        bias_weight = constant * factor * a.mean() / drawn.lam
        return factor * beta.mean() - 0.5 * drawn.lam * (w @ w + bias_weight**2)

    assert dual(1.0) >= dual(0.99) - 1e-12
    assert beta.max() == pytest.approx(1.0) or dual(1.0) >= dual(1.01) - 1e-12


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_more_steps_come_nearer_and_the_run_ends_by_itself(bias):
    drawn = draw(Hinge(), 3, n=200, d=6, bias=bias, lam=0.05)
    best = solve(drawn.problem, SDCA(), Stopping(tol=1e-6, max_iter=2000)).certificate.primal
    few, many = (
        solve(drawn.problem, SIMBA(steps=steps), Stopping(tol=1e-6, max_iter=100))
        for steps in (200, 20_000)
    )
    assert many.certificate.epochs == ROUNDS
    assert many.certificate.gap < few.certificate.gap
    assert many.certificate.primal < 1.05 * best


@pytest.mark.fast
def test_options_rows_and_weights_are_checked():
    for nu in (-0.1, 2.5, "half", True):
        with pytest.raises(InvalidParameter, match="nu must be None or a number from 0 to 2"):
            resolve(SIMBA(nu=nu), Hinge(), "free")
    with pytest.raises(InvalidParameter, match="steps must be a whole number from 1"):
        resolve(SIMBA(steps=0), Hinge(), "free")
    with pytest.raises(InvalidParameter, match='solver="simba" has no loss='):
        resolve("simba", Logistic(), "free")
    with pytest.raises(InvalidParameter, match='simba has no sample weights .* use solver="sdca"'):
        resolve("simba", Hinge(), "free", has_weights=True)
    sparse = draw(Hinge(), 3, kind="csr").problem
    with pytest.raises(
        InvalidParameter, match="samples features and needs dense rows; got a sparse"
    ):
        SIMBA().start(sparse, 0, None)


def test_a_given_nu_is_kept_and_float32_rows_are_taken():
    drawn = draw(Hinge(), 5, n=60)
    problem = drawn.problem._replace(rows=as_rows(drawn.X.astype(np.float32)))
    found = solve(problem, SIMBA(steps=500, nu=0.3), Stopping(tol=1e-6, max_iter=100))
    assert found.state.nu[0] == 0.3
    model = PegasosClassifier(solver=SIMBA(steps=500), random_state=0)
    model.fit(drawn.X, drawn.y[:, 0])  # ends by itself: nothing to warn of
    assert model.score(drawn.X, drawn.y[:, 0]) > 0.6


def test_a_run_ends_after_just_the_steps_asked_for():
    drawn = draw(Hinge(), 3, n=200, d=6, bias="none", lam=0.05)
    run = solve(drawn.problem, SIMBA(steps=200), Stopping(tol=1e-6, max_steps=77))
    assert run.certificate.reason == "max_steps was reached"
    solver = SIMBA(steps=200)
    state = solver.start(drawn.problem, 0, None)
    assert solver.advance_by(drawn.problem, state, 7).rows_visited == 7
