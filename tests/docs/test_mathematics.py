"""The formulas of docs/mathematics.md on random numbers; numbers in names are its sections."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pegasos.certificate import terms
from pegasos.problem.bias import balances, feasible
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    descend,
    dual_step,
    gain,
    gap_term,
    lower,
    response,
    slope,
    upper,
    value,
)
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal.run import last_weights
from pegasos.solvers.sgd.sgd import margin_errors
from tests.conftest import draw

pytestmark = pytest.mark.fast

PAGE = Path(__file__).parents[2] / "docs" / "mathematics.md"

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.2)]
LAM = 0.1
rooms = getattr(terms.rooms, "py_func", terms.rooms)  # inlined: compiled anew in every process


class Data:
    """A small problem, with the formulas of sections 1 and 2 written out."""

    def __init__(self, loss, seed=0, n=12, d=3):
        rng = self.rng = np.random.default_rng(seed)
        self.loss, self.n, self.s = loss, n, rng.uniform(0.5, 2.0, n)
        self.X, self.S = rng.standard_normal((n, d)), self.s.sum()
        y = self.X[:, 0] + rng.standard_normal(n)
        is_regression = isinstance(loss, EpsilonInsensitive)
        self.y = y if is_regression else np.where(y > 0.0, 1.0, -1.0)

    def each(self, function, *numbers):
        rows = zip(*numbers, self.y, strict=True)
        return np.array([function(self.loss, *map(float, row)) for row in rows])

    def duals(self):
        low, high = self.each(lower), self.each(upper)
        low, high = np.maximum(low, -2.0), np.minimum(high, 2.0)
        return low + self.rng.random(self.n) * (high - low)

    def w(self, a):
        return (self.s * a) @ self.X / (LAM * self.S)

    def primal(self, w, b=0.0):
        return 0.5 * LAM * w @ w + self.s @ self.each(value, self.X @ w + b) / self.S

    def dual(self, a):
        return self.s @ self.each(gain, a) / self.S - 0.5 * LAM * self.w(a) @ self.w(a)

    def optimum(self, sweeps=300):
        """Return the optimal a without a bias, by exact steps on one row after the other."""
        a, w = np.zeros(self.n), np.zeros(self.X.shape[1])
        q = self.s * np.einsum("ij,ij->i", self.X, self.X) / (LAM * self.S)
        for i in np.tile(np.arange(self.n), sweeps):
            c = dual_step(self.loss, float(self.X[i] @ w), a[i], q[i], self.y[i])
            w += self.s[i] * (c - a[i]) * self.X[i] / (LAM * self.S)
            a[i] = c
        return a

    def free_optimum(self, steps=2000):
        """Return (a, b), optimal for the hinge with a free bias, and a violation of each pair."""
        a, seen = np.zeros(self.n), []
        for _ in range(steps):
            r = self.y - self.X @ self.w(a)
            pays = np.where(a < self.each(upper), r, -np.inf)
            costs = np.where(a > self.each(lower), r, np.inf)
            i, j = int(pays.argmax()), int(costs.argmin())
            seen.append((a.copy(), pays[i], costs[j]))
            if pays[i] - costs[j] <= 1e-13:
                break
            between = self.X[i] - self.X[j]
            step = (pays[i] - costs[j]) / (between @ between) * LAM * self.S  # of s a
            room = upper(self.loss, self.y[i]) - a[i], a[j] - lower(self.loss, self.y[j])
            step = min(step, self.s[i] * room[0], self.s[j] * room[1])
            a[i] += step / self.s[i]
            a[j] -= step / self.s[j]
        return a, 0.5 * (pays[i] + costs[j]), seen


# ---- sections 2 to 4


@pytest.mark.parametrize("loss", LOSSES)
def test_2_gain_is_the_least_of_loss_plus_a_z(loss):
    data = Data(loss)
    grid = np.linspace(-10.0, 10.0, 2001)
    for a, y in zip(data.duals()[:4], data.y, strict=False):
        least = min(value(loss, z, y) + a * z for z in grid)
        assert gain(loss, a, y) <= least <= gain(loss, a, y) + 0.02


@pytest.mark.parametrize("loss", LOSSES)
def test_2_gap_is_a_sum_of_terms_that_are_not_negative(loss):
    for seed in range(5):
        data = Data(loss, seed)
        a, w = data.duals(), data.rng.standard_normal(3)
        terms = data.each(gap_term, data.X @ w, a)
        away = w - data.w(a)
        assert np.all(terms >= 0.0)
        assert data.s @ terms / data.S + 0.5 * LAM * away @ away == pytest.approx(
            data.primal(w) - data.dual(a), rel=1e-12
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_3_relative_gap_bounds_the_distance_to_the_optimum(loss):
    data = Data(loss, 1)
    best = data.optimum()
    least = data.primal(data.w(best))
    assert data.dual(best) == pytest.approx(least, rel=1e-6)
    a = 0.9 * best + 0.1 * data.duals()
    for w in (data.w(a), np.zeros(3)):
        P, D = data.primal(w), data.dual(a)
        assert (P - least) / least <= (P - D) / D + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_4_rooms_hold_whatever_a_score_is_within_its_radius(loss):
    data = Data(loss, 2)
    for z, a, y in zip(data.rng.normal(0.0, 1.5, 12), data.duals(), data.y, strict=True):
        of_value, of_gap = rooms(loss, z, a, 0.3, y)
        near = np.linspace(z - 0.3, z + 0.3, 61)
        at = value(loss, z, y), gap_term(loss, z, a, y)
        assert max(value(loss, t, y) for t in near) <= at[0] + of_value + 1e-12
        assert max(gap_term(loss, t, a, y) for t in near) <= at[1] + of_gap + 1e-12


def test_4_room_at_a_kink_is_at_least_half_the_radius():
    for b in (0.0, 0.3, 0.5, 1.0):
        assert rooms(Hinge(), 1.0, b, 0.125, 1.0)[1] == pytest.approx(0.125 * max(b, 1.0 - b))
    assert rooms(Hinge(), 1.5, 0.0, 0.125, 1.0)[1] == 0.0
    assert rooms(Hinge(), 0.5, 1.0, 0.125, 1.0)[1] == 0.0


# ---- sections 6 and 7


def walk(data, epochs, batch, radius=np.inf, start=None):
    """Take the steps of section 6; return w and a after every epoch, first those of the start."""
    E_0, a_0 = start if start is not None else (0, np.zeros(data.n))
    w, total, N, seen = data.w(a_0), E_0 * a_0, E_0 * data.S, [(data.w(a_0), a_0)]
    squares = np.einsum("ij,ij->i", data.X, data.X)
    for epoch in range(E_0 + 1, E_0 + epochs + 1):
        order = data.rng.permutation(data.n)
        for A in (order[t : t + batch] for t in range(0, data.n, batch)):
            weight, z = data.s[A].sum(), data.X[A] @ w
            N += weight
            shrunk, q = (1.0 - weight / N) * z, weight * squares[A] / (LAM * N)
            rows = zip(z, shrunk, q, data.y[A], strict=True)
            a = np.array([descend(data.loss, *row) for row in rows])
            w = (1.0 - weight / N) * w + (data.s[A] * a) @ data.X[A] / (LAM * N)
            total[A] += a
            length = np.sqrt(w @ w)
            if length > radius:
                w, total = w * radius / length, total * radius / length
        seen.append((w, total / epoch))
    return seen


@pytest.mark.parametrize("batch", [1, 5])  # the last batch of an epoch of 12 rows is short
@pytest.mark.parametrize("loss", LOSSES)
def test_6_averages_of_complete_epochs_are_feasible_and_their_w_is_the_iterate(loss, batch):
    data = Data(loss, 3)
    a_0 = data.duals()
    runs = [walk(data, 4, batch), walk(data, 4, batch, 0.3), walk(data, 3, batch, 0.5, (2, a_0))]
    for run in runs:  # plain, projected, and warm
        for w, a in run:
            assert np.allclose(data.w(a), w, rtol=1e-12, atol=1e-14)
            assert np.all(a >= data.each(lower) - 1e-12)
            assert np.all(a <= data.each(upper) + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_6_tail_is_the_difference_of_two_iterates(loss):
    data = Data(loss, 4)
    run = walk(data, 6, 5)
    (w, a), (w_h, a_h) = run[6], run[2]
    tail = (6 * a - 2 * a_h) / 4
    assert np.allclose(data.w(tail), (6 * w - 2 * w_h) / 4)
    assert np.all(tail >= data.each(lower) - 1e-12)
    assert np.all(tail <= data.each(upper) + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_6_optimum_is_within_the_ball_of_the_projection(loss):
    data = Data(loss, 5)
    w = data.w(data.optimum())
    assert LAM * w @ w <= data.primal(np.zeros(3)) + 1e-9


def test_6_dual_point_of_a_projected_run_of_pegasos_has_its_weights():
    drawn, weights = draw(Hinge(), 1, n=23, weighted=True), []
    for is_projected in (True, False):
        solver = Pegasos(batch_size=5, projection=is_projected)
        state = solver.start(drawn.problem, 0, None)
        while state.tail.epochs < 3:
            solver.advance(drawn.problem, state)
        assert state.tail.first == 0  # so far the tail is all of the run
        point = solver.dual_point(drawn.problem, state)
        w, _ = last_weights(drawn.problem, state)
        a, s = point.scale * point.A[:, 0], drawn.weights
        assert np.allclose((s * a) @ drawn.X / (drawn.lam * s.sum()), w[:, 0], rtol=1e-10)
        weights.append(w)
    assert not np.allclose(*weights)


@pytest.mark.parametrize("loss", LOSSES)
def test_6_mean_weights_of_any_steps_and_what_they_lack_are_w_of_the_mean_duals(loss):
    data = Data(loss)
    data.s[:], data.S = 1.0, data.n
    w, total, a, left, epochs = np.zeros(3), np.zeros(3), np.zeros(data.n), np.zeros(3), 50
    for t, i in enumerate(np.tile(np.arange(data.n), epochs), start=1):
        eta = 0.2 / (LAM * np.sqrt(t))
        taken = -slope(loss, float(data.X[i] @ w), float(data.y[i]))
        after = (1.0 - eta * LAM) * w + eta * taken * data.X[i]
        total, a[i] = total + w, a[i] + taken / epochs
        left, w = left + (after - w) / eta, after
    steps = epochs * data.n
    np.testing.assert_allclose(data.w(a), (total + left / LAM) / steps, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_6_a_gap_within_a_ball_is_that_of_a_regularised_problem_or_more(loss):
    data, B = Data(loss), 0.8
    a = data.duals()
    v, gains = (data.s * a) @ data.X / data.S, data.s @ data.each(gain, a) / data.S
    lam = np.sqrt(v @ v) / B
    w = data.rng.standard_normal(3)
    w *= 0.5 * B / np.sqrt(w @ w)
    losses = data.s @ data.each(value, data.X @ w) / data.S
    within = losses - (gains - B * np.sqrt(v @ v))
    regularised = losses + 0.5 * lam * w @ w - (gains - 0.5 * lam * (v / lam) @ (v / lam))
    assert regularised == pytest.approx(within - 0.5 * lam * (B**2 - w @ w), rel=1e-9)
    assert 0.0 <= regularised <= within


def test_7_errors_of_many_presentations_have_a_closed_form():
    rng = np.random.default_rng(6)
    for _ in range(300):
        Q, theta, q = rng.integers(-20, 20) / 4, rng.integers(1, 9) / 4, rng.integers(0, 12) / 4
        times, errors, now = int(rng.integers(1, 9)), 0, Q
        for _ in range(times):
            is_error = now < 0.0
            errors, now = errors + is_error, now - theta + (q if is_error else 0.0)
        formula = min(times, np.ceil(max(0.0, (times - 1) * theta - Q) / max(q, theta)))
        assert errors == formula == margin_errors(Q, theta, q, times)


# ---- section 8


@pytest.mark.parametrize("loss", LOSSES)
def test_8_blocks_raise_the_dual_by_what_they_count_if_sigma_is_not_below_rho(loss):
    for seed in range(5):
        data = Data(loss, seed)
        a, target, half = data.duals(), data.duals(), np.arange(data.n) < 6
        w, sigma = data.w(a), data.rng.uniform(0.2, 2.0)
        parts, counted = [], 0.0
        for block in (half, ~half):
            to = np.where(block, target, a)
            d = data.w(to) - w
            parts.append(d)
            gains = data.s @ (data.each(gain, to) - data.each(gain, a)) / data.S
            counted += gains - LAM * w @ d - 0.5 * LAM * sigma * d @ d
        d = sum(parts)
        rho = d @ d / sum(p @ p for p in parts)
        theta = min(1.0, sigma / rho)
        risen = data.dual(a + theta * (target - a)) - data.dual(a)
        assert risen >= theta * counted - 1e-12


# ---- sections 9 and 10


@pytest.mark.parametrize("loss", LOSSES)
def test_9_balanced_numbers_are_feasible_and_sum_to_nothing(loss):
    drawn = draw(
        loss, 2, weighted=True, bias="free", regression=isinstance(loss, EpsilonInsensitive)
    )
    rng = np.random.default_rng(0)
    A = np.where(drawn.y > 0.0, 1.0, -0.4) * rng.random(drawn.y.shape)
    found = balances(drawn.problem, A, 1.0)
    assert len(found) == 2
    for balance in found:
        a = np.array([feasible(drawn.problem.costs, A, i, 0, balance) for i in range(len(A))])
        assert abs(drawn.weights @ a) <= 1e-13 * (drawn.weights @ np.abs(a))
        for number, y in zip(a, drawn.y[:, 0], strict=True):
            assert lower(loss, y) <= number <= upper(loss, y)


def test_9_rows_seen_from_elsewhere_have_the_same_balanced_dual():
    data = Data(Hinge(), 6)
    a, _, _ = data.free_optimum()
    m, c = data.rng.standard_normal(3), 1.0 / (LAM * data.S)
    assert np.allclose(c * (data.s * a) @ (data.X - m), data.w(a), atol=1e-12)
    a = data.duals()  # out of balance: what sparse rows keep instead of x - m
    V, t, q = data.w(a), c * data.s @ a, data.X @ m
    scores = (data.X - m) @ (c * (data.s * a) @ (data.X - m))
    assert np.allclose(data.X @ V - t * q - (V @ m - t * m @ m), scores)


@pytest.mark.parametrize("loss", LOSSES)
def test_10_optimum_lies_in_the_ball(loss):
    data = Data(loss, 7)
    best = data.w(data.optimum(600))
    for mix in (0.0, 0.5, 0.9):
        a = data.duals() if mix == 0.0 else mix * data.optimum(20) + (1.0 - mix) * data.duals()
        for w in (data.w(a), data.rng.standard_normal(3), best):
            gap, v = data.primal(w) - data.dual(a), data.w(a)
            apart = (w - best) @ (w - best) + (v - best) @ (v - best)
            assert apart <= 2.0 * gap / LAM * (1.0 + 1e-6) + 1e-9
            c, square = 0.5 * (w + v), gap / LAM - 0.25 * (w - v) @ (w - v)
            assert (c - best) @ (c - best) <= square * (1.0 + 1e-6) + 1e-9


def test_10_dual_point_bounds_the_free_bias():
    data = Data(Hinge(), 8, n=20)
    a, b, seen = data.free_optimum()
    w = data.w(a)
    least = data.primal(w, b)
    assert data.dual(a) == pytest.approx(least, rel=1e-9)
    known = 0
    for near, *_ in seen[3::5]:
        room = np.minimum(near - data.each(lower), data.each(upper) - near)
        c = np.minimum(np.abs(near), room)
        tau = data.s @ c / data.S
        if tau > 0.0:
            m, bias = LAM * data.w(c) / tau, b + w @ (LAM * data.w(c) / tau)
            gap, here = least - data.dual(near), data.each(gain, near)
            up, down = data.each(gain, near + c) - here, here - data.each(gain, near - c)
            assert (data.s @ up / data.S - gap) / tau <= bias + 1e-9
            assert (data.s @ down / data.S + gap) / tau >= bias - 1e-9
            assert np.all((m >= data.X.min(axis=0)) & (m <= data.X.max(axis=0)))
            known += 1
    assert known > 3


# ---- section 12


def test_12_a_violation_of_tau_leaves_a_gap_of_half_of_it():
    data = Data(Hinge(), 9, n=20)
    _, _, seen = data.free_optimum()
    for a, top, bottom in seen:
        gap = data.primal(data.w(a), 0.5 * (top + bottom)) - data.dual(a)
        assert gap <= 0.5 * (top - bottom) + 1e-12
    assert all(data.dual(new) >= data.dual(old) - 1e-12 for (old, *_), (new, *_) in pairwise(seen))


# ---- sections 14 to 16


@pytest.mark.parametrize("loss", LOSSES)
def test_14_tangents_meet_below_the_gain(loss):
    data = Data(loss, 10)
    for a, y in zip(data.duals(), data.y, strict=True):
        grid = np.sort(data.rng.uniform(-6.0, 6.0, 40))
        h = np.array([value(loss, z, y) + a * z for z in grid])
        g = np.array([slope(loss, z, y) + a for z in grid])
        assert g[0] < 0.0 < g[-1]
        for i in np.flatnonzero(g < 0.0):
            for j in np.flatnonzero(g > 0.0):
                width, p, q = grid[j] - grid[i], g[i], g[j]
                meet = (q * h[i] - p * h[j] + p * q * width) / (q - p)
                assert meet <= gain(loss, a, y) + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_15_envelope_has_the_dual_step_for_slope_and_the_response_for_curvature(loss):
    data, q, h = Data(loss, 11), 0.7, 1e-5
    t = np.linspace(-12.0, 12.0, 2401)
    for z, beta, y in zip(data.rng.normal(0.0, 2.0, 12), data.duals(), data.y, strict=True):

        def envelope(z, beta=beta, y=y):
            c = dual_step(loss, z, beta, q, y)
            return gain(loss, c, y) - z * c - 0.5 * q * (c - beta) ** 2

        c = dual_step(loss, z, beta, q, y)
        assert lower(loss, y) <= c <= upper(loss, y)
        assert (envelope(z + h) - envelope(z - h)) / (2.0 * h) == pytest.approx(-c, abs=1e-4)
        up, down = dual_step(loss, z + h, beta, q, y), dual_step(loss, z - h, beta, q, y)
        if (up - c) == pytest.approx(c - down, abs=1e-9):  # no kink within reach
            assert (down - up) / (2.0 * h) == pytest.approx(
                response(loss, z, beta, c, q, y), abs=1e-4
            )
        losses = np.array([value(loss, float(u), y) for u in t[::20]])
        inner = losses + beta * (t[::20] - z) + (t[::20] - z) ** 2 / (2.0 * q)
        assert envelope(z) <= inner.min() + 1e-9
        assert inner.min() <= envelope(z) + 0.2
        assert envelope(z) <= value(loss, z, y) + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_15_gradient_of_the_smoothed_objective_is_the_distance_to_the_dual_point(loss):
    data, q = Data(loss, 12), 0.5
    beta, w, h = data.duals(), data.rng.standard_normal(3), 1e-5

    def answer(w):
        rows = zip(data.X @ w, beta, data.y, strict=True)
        return np.array([dual_step(loss, z, m, q, y) for z, m, y in rows])

    def smoothed(w):
        c = answer(w)
        e = data.each(gain, c) - (data.X @ w) * c - 0.5 * q * (c - beta) ** 2
        return 0.5 * LAM * w @ w + data.s @ e / data.S

    gradient = [(smoothed(w + h * e) - smoothed(w - h * e)) / (2.0 * h) for e in np.eye(3)]
    a = answer(w)
    assert np.allclose(gradient, LAM * (w - data.w(a)), atol=1e-5)
    terms = data.s @ data.each(gap_term, data.X @ w, a) / data.S
    rest = LAM**2 * (w - data.w(a)) @ (w - data.w(a)) / (2.0 * LAM)
    assert data.primal(w) - data.dual(a) == pytest.approx(terms + rest, rel=1e-10)


def test_16_worst_relative_gap_bounds_that_of_any_weighted_sum():
    rng = np.random.default_rng(13)
    for _ in range(20):
        least, rho, weights = rng.random((3, 5)) + 0.01
        P = least * (1.0 + rho * rng.random(5))
        assert weights @ (P - least) <= rho.max() * (weights @ least)


# ---- the page itself


@pytest.mark.parametrize("seed", range(5))
def test_18_planes_lie_below_the_mean_loss_and_a_free_bias_drops_out(seed):
    rng = np.random.default_rng(seed)
    X, y, s = rng.standard_normal((20, 3)), rng.choice([-1.0, 1.0], 20), rng.integers(1, 4, 20)
    beta, (w, v), b = rng.random(20), rng.standard_normal((2, 3)), rng.standard_normal()

    def loss(w, b):
        return s @ np.maximum(0.0, 1.0 - y * (X @ w + b)) / s.sum()

    g, e = -(s * y * beta) @ X / s.sum(), s @ beta / s.sum()
    assert loss(w, 0.0) >= e + g @ w
    touching = (y * (X @ w) < 1.0).astype(float)
    g, e = -(s * y * touching) @ X / s.sum(), s @ touching / s.sum()
    assert loss(w, 0.0) == pytest.approx(e + g @ w)
    assert loss(v, 0.0) >= e + g @ v
    up, down = (s * beta)[y > 0.0].sum(), (s * beta)[y < 0.0].sum()
    beta[y > 0.0] *= min(1.0, down / up)
    beta[y < 0.0] *= min(1.0, up / down)
    g, e = -(s * y * beta) @ X / s.sum(), s @ beta / s.sum()
    assert loss(w, b) >= e + g @ w - 1e-12  # for every b


def test_page_names_files_and_papers_that_exist():
    page, root = PAGE.read_text(), PAGE.parents[1]
    files = {path.as_posix() for path in (root / "src").rglob("*.py")}
    for name in set(re.findall(r"`([a-z_/]+\.py)`", page)):
        assert any(path.endswith(f"/{name}") for path in files), name
    keys = set(re.findall(r"@\w+\{(\w+),", (PAGE.parent / "references.bib").read_text()))
    assert set(re.findall(r"\[([A-Z][A-Za-z]+\d\d)\]", page)) <= keys


def test_sections_that_docstrings_point_to_are_on_the_page():
    numbers = set(re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.MULTILINE))
    for path in (PAGE.parents[1] / "src").rglob("*.py"):
        for place in re.findall(
            r"docs/mathematics\.md,\s+sections? ([\d, and]+)", path.read_text()
        ):
            assert set(re.findall(r"\d+", place)) <= numbers
