"""When multipliers are taken on, before an inner minimum is exact; and how the width falls."""

import math

import numpy as np
import pytest

from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton import model as of_models
from pegasos.solvers.newton import path
from pegasos.solvers.newton.envelope import GAP
from pegasos.solvers.newton.equations import penalty_along, terms_of
from pegasos.solvers.newton.model import (
    answers_too_little,
    is_settled,
    narrow,
    slope_of,
    step,
)
from pegasos.solvers.newton.newton import Newton, fall, has_begun, problem_of
from pegasos.solvers.offsets import seen

SCALE = 2.0  # of the regularised bias


def begun(n=400, d=5, lam=1e-2, bias="free", steps=0):
    """Return a problem as a run sees it, the run's columns and its model."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, d)) * 3.0 ** np.arange(d) + 1.0
    y = np.where(X[:, [0]] + rng.standard_normal((n, 1)) > 1.0, 1.0, -1.0)
    scale = {"bias_scale": SCALE} if bias == "regularized" else {}
    problem = make_problem(Hinge(), as_rows(X), y, None, lam, bias, **scale)
    state = Newton().start(problem, 0, None)
    model = state.models[0]
    posed = problem_of(seen(problem, state.centre), model)
    for _ in range(steps):
        step(posed, state.columns, model)
    return X, posed, state.columns, model


def penalty(problem, columns, w, b):
    """Return the penalty of w, and of the bias for rows as they are."""
    own = (b - columns.m @ w[:, 0])[0] / SCALE if problem.bias_scale > 0.0 else 0.0
    return 0.5 * problem.lam * (np.sum(w**2) + own**2)


def smoothed(X, problem, columns, model, w, b):
    """Return the smoothed objective, row by row: max over c of c (1 - m) - q/2 (c - beta)^2."""
    y, beta = model.y[:, 0], model.y[:, 0] * model.B[:, 0]
    missing = 1.0 - y * ((X - columns.m) @ w[:, 0] + b[0])
    c = np.clip(beta + missing / model.q, 0.0, 1.0)
    values = c * missing - 0.5 * model.q * (c - beta) ** 2
    return penalty(problem, columns, w, b) + values.mean()


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_slopes_along_a_way_are_those_of_finite_differences(bias):
    X, problem, columns, model = begun(bias=bias, steps=2)
    rng = np.random.default_rng(0)
    p = rng.standard_normal(model.w.shape) / columns.scale[:, None]
    c = np.zeros(1) if bias == "none" else np.array([0.3])
    tiny, w, b = 1e-4, model.w, model.b
    ends = [smoothed(X, problem, columns, model, w + u * p, b + u * c) for u in (tiny, -tiny)]
    slope = slope_of(problem, columns, model, p, c)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * tiny), rel=1e-5)
    at = [penalty(problem, columns, w + u * p, b + u * c) for u in (-1.0, 0.0, 1.0)]
    terms = terms_of(problem, model.unit)
    first, second = penalty_along(terms, columns.m, model.place, p, c)
    assert first == pytest.approx((at[2] - at[0]) / 2, rel=1e-9)
    assert second == pytest.approx(at[2] - 2 * at[1] + at[0], rel=1e-6)


@pytest.mark.fast
def test_a_step_takes_off_at_most_what_it_is_thought_to():
    X, problem, columns, model = begun()
    for _ in range(4):
        before = smoothed(X, problem, columns, model, model.w, model.b)
        step(problem, columns, model)
        taken = before - smoothed(X, problem, columns, model, model.w, model.b)
        assert 0.0 < taken <= model.fell < math.inf  # the slope rises along the way


@pytest.mark.fast
def test_what_a_short_step_took_off_says_nothing(monkeypatch):
    _, problem, columns, model = begun(steps=1)
    monkeypatch.setattr(of_models, "is_small", lambda problem: False)
    monkeypatch.setattr(of_models, "search", lambda line: 0.5 * of_models.SHORT)
    step(problem, columns, model)
    assert model.fell == math.inf
    assert not is_settled(problem, model)


@pytest.mark.fast
def test_multipliers_are_taken_on_once_steps_take_off_little():
    _, problem, columns, model = begun(steps=1)
    model.v += 1e3  # as if w(a) were far from w, as it is for a tiny lam
    left, q = model.sums[GAP, 0] / problem.S, model.q
    model.fell = 1.01 * of_models.SETTLED * left
    narrow(problem, columns, model)
    assert (model.narrowings, model.q) == (0, q)
    model.fell = 0.99 * of_models.SETTLED * left
    narrow(problem, columns, model)
    assert (model.narrowings, model.q) == (1, of_models.NARROWER * q)
    assert model.fell == math.inf
    np.testing.assert_array_equal(np.unique(model.B != 0.0), [False, True])


@pytest.mark.fast
def test_near_the_end_an_inner_minimum_is_to_be_exact(monkeypatch):
    _, problem, columns, model = begun(steps=1)
    model.v += 1e3
    model.fell = 0.0
    monkeypatch.setattr(of_models, "BEGINNING", 1e9)
    narrow(problem, columns, model)
    assert model.narrowings == 0


@pytest.mark.fast
@pytest.mark.parametrize(
    ("table_is_small", "has_failed", "factor"),
    [(True, False, "LESS_SLOWLY"), (True, True, "SLOWLY"), (False, False, "SLOWLY")],
)
def test_the_width_falls_less_where_few_rows_would_answer(
    monkeypatch, table_is_small, has_failed, factor
):
    _, problem, columns, model = begun(steps=6)
    monkeypatch.setattr(of_models, "is_small", lambda problem: table_is_small)
    model.has_failed = has_failed
    model.fell, q = 0.0, model.q
    monkeypatch.setattr(of_models, "ANSWERING", 1e9)
    assert answers_too_little(problem, model)
    narrow(problem, columns, model)
    assert model.q == getattr(of_models, factor) * q
    monkeypatch.setattr(of_models, "ANSWERING", 0.0)
    assert not answers_too_little(problem, model)


@pytest.mark.fast
def test_answering_rows_are_those_between_their_bounds(monkeypatch):
    _, problem, _, model = begun(steps=3)
    a = np.abs(model.A[:, 0])
    between = np.count_nonzero((a > 0.0) & (a < 1.0)) / model.w.size
    monkeypatch.setattr(of_models, "ANSWERING", between)
    assert not answers_too_little(problem, model)
    monkeypatch.setattr(of_models, "ANSWERING", between + 0.1)
    assert answers_too_little(problem, model)


def wide_run(monkeypatch, lam=1e-7):
    monkeypatch.setattr(path, "WIDE", 1)
    monkeypatch.setattr(path, "MANY", 1)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 8)) * np.where(rng.random((300, 8)) < 0.5, 200.0, 0.0)
    Y = np.where(X[:, :2] + 100.0 * rng.standard_normal((300, 2)) > 0.0, 1.0, -1.0)
    return make_problem(Hinge(), as_rows(X), Y, None, lam, "free")


def test_a_path_ends_once_all_models_have_multipliers(monkeypatch):
    problem = wide_run(monkeypatch)
    state = Newton().start(problem, 0, None)
    assert state.lam > problem.lam
    for model in state.models:
        model.narrowings, model.fell = 1, 0.0
    assert has_begun(problem, state)
    state.models[1].narrowings = 0
    assert not has_begun(problem, state)
    fall(problem, state, 1.0)
    assert state.lam == problem.lam
    assert np.isinf(state.gaps).all()
    assert all(model.fell == math.inf for model in state.models)  # it was of another lam
