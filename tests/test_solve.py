"""The outer loop: limits, certificates, wishes, and what it tells its watch."""

import numpy as np
import pytest

from pegasos.around import Around
from pegasos.certificate.schedule import AT_ROUNDING, STALLED_AT_ROUNDING
from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.progress import Watch
from pegasos.solve import Run, Solution, solve
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.sdca.linear import SDCA


def problem(n=60, d=4, lam=0.05, loss=None, bias="free", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return make_problem(Hinge() if loss is None else loss, as_rows(X), y[:, None], None, lam, bias)


class Diary(Watch):
    """Write down what the loop tells."""

    def __init__(self, stop_at=None, asks=False):
        self.epochs, self.records, self.left, self.end = [], [], [], None
        self.stop_at, self.asks, self.models = stop_at, asks, []

    def epoch(self, epochs, model):
        self.epochs.append(epochs)
        if self.asks:
            self.models.append(model())
        return epochs == self.stop_at

    def certified(self, record, seconds_left):
        self.records.append(record)
        self.left.append(seconds_left)

    def finished(self, certificate):
        self.end = certificate


@pytest.mark.fast
def test_a_fit_ends_when_its_tolerance_is_proven():
    solution = solve(problem(), SDCA(), Stopping(tol=1e-3, max_iter=10_000))
    assert isinstance(solution, Solution)
    assert solution.outcome is Outcome.TOLERANCE
    assert solution.certificate.relative_gap <= 1e-3
    assert solution.certificate.reason == "the tolerance was reached"


@pytest.mark.fast
def test_max_iter_counts_epochs_and_the_last_state_is_certified():
    diary = Diary()
    solution = solve(problem(), SDCA(), Stopping(tol=1e-15, max_iter=5), watch=diary)
    assert solution.outcome is Outcome.EPOCHS
    assert solution.certificate.epochs == 5
    assert diary.epochs == [1, 2, 3, 4, 5]
    assert solution.trace.records[-1].epoch == 5
    assert diary.end == solution.certificate


@pytest.mark.fast
def test_a_limit_that_comes_with_the_tolerance_is_no_failure():
    solution = solve(problem(), SDCA(), Stopping(tol=0.9, max_iter=1))
    assert solution.certificate.epochs == 1
    assert solution.outcome is Outcome.TOLERANCE


@pytest.mark.fast
def test_a_watch_may_end_the_fit_and_the_state_is_certified():
    solution = solve(problem(), SDCA(), Stopping(tol=1e-15), watch=Diary(stop_at=2))
    assert solution.outcome is Outcome.CALLBACK
    assert solution.trace.records[-1].epoch == 2


@pytest.mark.fast
def test_a_watch_that_asks_for_models_gets_certified_ones_and_delays_nothing():
    limits = Stopping(tol=1e-3, max_iter=10_000)
    diary = Diary(asks=True)
    plain = solve(problem(), SDCA(), limits)
    asked = solve(problem(), SDCA(), limits, watch=diary)
    assert asked.certificate.epochs <= plain.certificate.epochs
    assert len(diary.models) == len(diary.records) == asked.certificate.epochs
    W, b = diary.models[-1]
    assert W.shape == (4, 1)
    assert b.shape == (1,)


@pytest.mark.fast
def test_the_loop_does_not_look_at_the_clock_to_decide_what_to_compute(monkeypatch):
    limits = Stopping(tol=1e-6, max_iter=10_000)
    plain = solve(problem(), SDCA(), limits, seed=3)
    tick = iter(np.cumsum(np.random.default_rng(0).exponential(size=1_000_000)))
    monkeypatch.setattr("pegasos.around.time.perf_counter", lambda: next(tick))
    odd = solve(problem(), SDCA(), limits, seed=3)
    assert [r.epoch for r in odd.trace.records] == [r.epoch for r in plain.trace.records]
    np.testing.assert_array_equal(odd.W, plain.W)


@pytest.mark.fast
@pytest.mark.parametrize("limit", [3.0, 12.0])
def test_max_time_is_exceeded_by_no_more_than_an_advance_and_a_certificate(
    limit, clock, monkeypatch
):
    now, (advance, dual_point) = clock(0.0), (SDCA.advance, SDCA.dual_point)

    def slow(method, seconds):
        def wait(*arguments):
            now[0] += seconds
            return method(*arguments)

        return wait

    monkeypatch.setattr(SDCA, "advance", slow(advance, 0.1))
    monkeypatch.setattr(SDCA, "dual_point", slow(dual_point, 0.3))
    limits = Stopping(tol=1e-15, max_iter=100_000, max_time=limit)
    solution = solve(problem(), SDCA(shrinking=False), limits)
    assert solution.outcome is Outcome.TIME
    assert 0.5 * limit < now[0] <= limit + 0.1 + 0.3
    assert np.isfinite(solution.certificate.gap)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_a_wish_goes_to_rounding_and_no_further(loss):
    limits = Stopping(tol=1e-3, max_iter=5000, wish=1e-22, wish_epochs=5000)
    solution = solve(problem(loss=loss), SDCA(), limits)
    assert solution.outcome is Outcome.TOLERANCE
    assert solution.certificate.relative_gap < 1e-12
    assert solution.certificate.epochs < 5000


@pytest.mark.fast
def test_a_wish_that_takes_too_long_is_given_up():
    limits = Stopping(tol=0.5, max_iter=5000, wish=1e-22, wish_epochs=20)
    solution = solve(problem(), SDCA(), limits)
    assert solution.outcome is Outcome.TOLERANCE
    assert solution.certificate.epochs < 60


@pytest.mark.fast
@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=str)
def test_a_solver_that_knows_its_gap_ends_once_rounding_rules(loss):
    gaps, advance = [], Newton.advance
    limits = Stopping(tol=1e-3, wish=1e-30, wish_epochs=1000)

    class Told(Newton):
        def advance(self, problem, state):
            step = advance(self, problem, state)
            gaps.append(step.estimate)
            return step

    solution = solve(problem(loss=loss), Told(), limits)
    assert solution.outcome is Outcome.TOLERANCE
    small = np.flatnonzero(np.array(gaps) <= AT_ROUNDING)
    assert len(small) > 0
    assert len(gaps) - small[0] <= 5 * STALLED_AT_ROUNDING


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_a_solver_that_knows_its_gap_is_certified_once_if_it_ends_soon(bias):
    diary, limits = Diary(), Stopping(tol=1e-3, wish=1e-22, wish_epochs=1000)
    posed = problem(loss=Logistic(), bias=bias)
    solution = solve(posed, Newton(), limits, watch=diary)
    assert solution.outcome is Outcome.TOLERANCE
    assert len(diary.records) <= 2
    assert solution.certificate.epochs <= 12


@pytest.mark.fast
def test_certificates_get_rarer_as_epochs_pass():
    diary = Diary()
    solve(problem(), SDCA(shrinking=False), Stopping(tol=1e-15, max_iter=300), watch=diary)
    assert len(diary.records) < 40


@pytest.mark.fast
def test_the_forecast_is_of_the_right_order():
    diary = Diary()
    solution = solve(problem(), SDCA(), Stopping(tol=1e-4, max_iter=10_000), watch=diary)
    forecasts = [left for left in diary.left[:-1] if np.isfinite(left)]
    assert forecasts
    assert all(left >= 0.0 for left in forecasts)
    assert solution.certificate.relative_gap <= 1e-4


@pytest.mark.fast
def test_decisions_are_judged_as_the_caller_says():
    seen = []

    def decided(low, high):
        seen.append((low <= high).all())
        return np.ones(len(low), dtype=bool)

    limits = Stopping(tol=1e-12, rule="decisions")
    solution = solve(problem(), SDCA(), limits, decided=decided)
    assert solution.outcome is Outcome.DECISIONS
    assert all(seen)
    assert solution.certificate.epochs <= 5


@pytest.mark.fast
def test_a_dual_point_proves_nothing_once_its_solver_has_gone_on():
    # The numbers are the solver's own, and change in place.
    with Around(Hinge(), Watch()) as around:
        run = Run(problem(), Stopping(), around)
        run.start(SDCA())
        run.advance()
        run.certify()
        assert run.judge.point.A is run.state.A
        run.schedule.next_check = run.schedule.next_hint = 1000
        run.advance()
        assert run.judge.point is None
        known = run.ball(Outcome.INTERRUPT)
    best = solve(run.problem, SDCA(), Stopping(tol=1e-12, max_iter=10_000))
    (low, high), (lower, upper) = (of.bounds(run.problem.rows) for of in (known, best.ball))
    assert np.all((low <= upper) & (lower <= high))


@pytest.mark.fast
def test_the_seed_reaches_the_solver(monkeypatch):
    seeds, start = [], SDCA.start

    def noting(solver, posed, seed, previous):
        seeds.append(seed)
        return start(solver, posed, seed, previous)

    monkeypatch.setattr(SDCA, "start", noting)
    for seed in (0, 7):
        solve(problem(), SDCA(), Stopping(max_iter=1), seed=seed)
    assert seeds == [0, 7]
