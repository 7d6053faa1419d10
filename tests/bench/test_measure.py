"""Ladders, repeats and limits, on a competitor whose speed and progress are made up."""

import numpy as np
import pytest

from bench import ladder as module
from bench.datasets import Dataset
from bench.datasets.base import checksum
from bench.fresh import measure_here
from bench.ladder import Rung, is_over
from bench.measure import Measurement, climber, judged, measure
from bench.optimum import Optimum, certified_optimum
from bench.solvers import Effort
from bench.solvers.base import Solver

X = np.eye(4)
y = np.array([1, -1, 1, -1])
LAM = 0.25  # = 1/n: the optimum is w = y, since each row then sits exactly at its margin
DATASET = Dataset("toy", X, y, LAM)
OPTIMUM = Optimum(LAM / 2 * 4, LAM / 2 * 4)


class Clock:
    """Seconds that pass only when somebody computes."""

    now = 0.0

    def perf_counter(self):
        return self.now


class MadeUp(Solver):
    """Reaches w = (1 - 2^-epochs) y in `epochs` seconds."""

    package = "numpy"

    def __init__(self, name, clock, seconds=1.0):
        self.name, self.clock, self.seconds, self.calls = name, clock, seconds, []

    def ladder(self):
        return tuple(Effort(epochs=k) for k in (1, 2, 4, 8, 16, 32))

    def run(self, X, y, lam, effort):
        self.calls.append((len(y), effort.epochs))
        self.clock.now += self.seconds * effort.epochs
        return (1 - 0.5**effort.epochs) * (X.T @ y)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def run(solvers, **options):
    return measure(DATASET, solvers, OPTIMUM, say=lambda line: None, **options)


def test_measure_takes_the_fastest_rung_below_each_threshold(clock):
    # P((1-e) y) = (1-e)^2/2 + e = 1/2 + e^2/2, so the suboptimality is e^2 = 4^-epochs:
    # 4^-4 = 4e-3 meets 1e-2, 4^-8 = 1.5e-5 meets the other two.
    (result,) = run([MadeUp("a", clock)])
    reached = [rung.suboptimality for rung in result.rungs]
    assert reached == pytest.approx([4**-k for k in (1, 2, 4, 8)])
    assert [result.best(t).seconds for t in module.THRESHOLDS] == pytest.approx([4, 8, 8])


def test_measure_stops_before_a_rung_that_would_break_the_limit(clock):
    (result,) = run([MadeUp("a", clock)], limit=7.0)
    assert [rung.seconds for rung in result.rungs] == pytest.approx([1, 2, 4])
    assert result.best(1e-3) is None


def test_measure_times_the_row_rate_between_one_and_five_epochs(clock):
    (result,) = run([MadeUp("a", clock, seconds=16e-9)])
    assert result.ns_per_entry == pytest.approx(16.0 / 16)  # 4 x 4 stored entries


def test_measure_lets_solvers_take_turns(clock):
    order = []
    solvers = [MadeUp(name, clock) for name in "ab"]
    for solver in solvers:
        solver.calls = order_of(order, solver.name)
    run(solvers, repeats=1)
    assert "".join(order).startswith("ab" * 5)  # one warm-up and four rungs each


def order_of(order, name):
    class Calls(list):
        def append(self, call):
            order.append(name)

    return Calls()


def test_measure_repeats_short_rungs_and_keeps_the_shortest_time(clock):
    solver = MadeUp("a", clock, seconds=0.1)
    (result,) = run([solver], repeats=1)
    slow = result.best(1e-2).seconds
    solver.seconds = 0.05
    module.repeat([climber(DATASET, solver, OPTIMUM, result.rungs)], repeats=3)
    assert result.best(1e-2).seconds == pytest.approx(slow / 2)


def test_time_that_only_the_adapter_is_to_blame_for_is_taken_off(clock):
    class Clumsy(MadeUp):
        def run(self, X, y, lam, effort):
            self.clock.now += 100.0
            self.untimed += 100.0
            return super().run(X, y, lam, effort)

    (result,) = run([Clumsy("a", clock)])
    assert result.best(1e-2).seconds == pytest.approx(4)


def test_ladder_growth_is_taken_from_the_last_two_rungs():
    rungs = [Rung("", 1.0, 1.0, 1.0), Rung("", 5.0, 1.0, 1.0)]
    assert is_over(rungs, limit=24.0)
    assert not is_over(rungs, limit=26.0)
    assert not is_over([], limit=0.0)


def test_a_fit_that_was_ended_ends_its_ladder():
    asked, rungs = [], []

    def fit(effort):
        asked.append(effort.epochs)
        return (1.0, None) if effort.epochs == 2 else (1.0, "model")

    ladder = tuple(Effort(epochs=k) for k in (1, 2, 4))
    judge = lambda effort, seconds, model: Rung(str(effort), seconds, 1.0, 1.0)  # noqa: E731
    module.climb([module.Climber("a", ladder, fit, judge, rungs)], 60.0, lambda line: None)
    assert asked == [1, 2]
    assert [rung.effort for rung in rungs] == ["1 epochs"]


def test_an_objective_below_the_certified_bound_is_an_error():
    with pytest.raises(RuntimeError, match="certificate is wrong"):
        judged(DATASET, Optimum(0.6, 0.6), Effort(epochs=1), 1.0, y.astype(float))


def test_measurement_survives_being_saved():
    result = Measurement("d", "s", [Rung("1 epochs", 1.0, 0.5, 0.1)], 2.0, 0.5, 100)
    assert Measurement.from_dict(result.as_dict()) == result


def test_optimum_never_understates_suboptimality():
    optimum = Optimum(dual=1.0, primal=1.0 + 1e-7)
    assert optimum.suboptimality(1.01) == pytest.approx(0.01)
    assert optimum.relative_gap == pytest.approx(1e-7)


def test_certified_optimum_of_a_problem_solved_by_hand():
    optimum = certified_optimum(X, y, LAM)
    assert optimum.dual - 1e-12 <= 0.5 <= optimum.primal + 1e-12


def test_checksum_notices_a_changed_label_and_a_changed_value():
    changed_y, changed_X = y.copy(), X.copy()
    changed_y[0], changed_X[1, 2] = -1, 0.5
    sums = {checksum(*data) for data in ((X, y), (X, changed_y), (changed_X, y))}
    assert len(sums) == 3


def test_sample_has_every_class_and_the_same_container():
    rows, labels = Dataset("toy", X, np.array([0, 1, 2, 1]), LAM).sample(rows=3)
    assert set(labels.tolist()) == {0, 1, 2}
    assert rows.dtype == X.dtype


@pytest.mark.slow
def test_extra_memory_sees_a_copy_of_the_data():
    big = Dataset("big", np.ones((100_000, 50)), np.tile([1, -1], 50_000), 1.0)
    fresh = measure_here(big, "linearsvc")  # liblinear copies to 16 bytes per entry
    if fresh.extra_bytes is None:
        pytest.skip("the kernel does not tell")
    assert fresh.extra_bytes > 0.9 * 16 * big.stored
