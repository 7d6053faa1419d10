"""Ladders, repeats and limits, on a competitor whose speed and progress are made up."""

import numpy as np
import pytest

from bench import linear
from bench.harness import ladder as module
from bench.harness.competitor import Effort
from bench.harness.files import checksum
from bench.harness.ladder import Measurement, Rung, is_over
from bench.harness.measure import climber, measure
from bench.harness.memory import measure_here
from bench.harness.optimum import Optimum
from bench.optimum import certified_optimum
from bench.solvers import SOLVERS, LinearSolver
from bench.task import Model, Task

X = np.eye(4)
y = np.array([1, -1, 1, -1])
LAM = 0.25  # = 1/n: the optimum is w = y, since each row then sits exactly at its margin
TASK = Task("toy", X, y, LAM)
OPTIMUM = Optimum(LAM / 2 * 4, LAM / 2 * 4)


class Clock:
    """Seconds that pass only when somebody computes."""

    now = 0.0

    def perf_counter(self):
        return self.now


class MadeUp(LinearSolver):
    """Reaches w = (1 - 2^-epochs) y in `epochs` seconds."""

    package = "numpy"

    def __init__(self, name, clock, seconds=1.0):
        self.name, self.clock, self.seconds, self.calls = name, clock, seconds, []

    def ladder(self, limit, is_large=False):
        return tuple(Effort(epochs=k) for k in (1, 2, 4, 8, 16, 32))

    def run(self, X, problem, effort):
        self.calls.append((len(problem.y), effort.epochs))
        self.clock.now += self.seconds * effort.epochs
        return Model((1 - 0.5**effort.epochs) * (X.T @ problem.y)[:, None], np.zeros(1))


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def run(solvers, **options):
    return measure(TASK, solvers, OPTIMUM, say=lambda line: None, **options)


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
    rate = linear.row_rate(MadeUp("a", clock, seconds=16e-9), TASK, repeats=3)
    assert rate == pytest.approx(16.0 / 16)  # 4 x 4 stored entries


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
    module.repeat([climber(TASK, solver, OPTIMUM, 60.0, result)], repeats=3)
    assert result.best(1e-2).seconds == pytest.approx(slow / 2)


def test_time_that_only_the_adapter_is_to_blame_for_is_taken_off(clock):
    class Clumsy(MadeUp):
        def run(self, X, problem, effort):
            self.clock.now += 100.0
            self.untimed += 100.0
            return super().run(X, problem, effort)

    (result,) = run([Clumsy("a", clock)])
    assert result.best(1e-2).seconds == pytest.approx(4)


def test_ladder_growth_is_taken_from_the_last_two_rungs():
    result = Measurement("a", rungs=[Rung("", 1.0, 1.0, 1.0), Rung("", 5.0, 1.0, 1.0)])
    assert is_over(result, limit=24.0)
    assert not is_over(result, limit=26.0)
    assert not is_over(Measurement("a"), limit=0.0)


def test_a_fit_that_was_ended_ends_its_ladder():
    asked, result = [], Measurement("a")

    def fit(effort):
        asked.append(effort.epochs)
        return (1.0, None) if effort.epochs == 2 else (1.0, "model")

    ladder = tuple(Effort(epochs=k) for k in (1, 2, 4))
    judge = lambda effort, seconds, model: Rung(str(effort), seconds, 1.0, 1.0)  # noqa: E731
    module.climb([module.Climber(result, ladder, fit, judge)], 60.0, lambda line: None)
    assert asked == [1, 2]
    assert [rung.effort for rung in result.rungs] == ["1 epochs"]


def test_an_objective_below_the_certified_bound_is_an_error():
    with pytest.raises(RuntimeError, match="certificate is wrong"):
        measure(TASK, [MadeUp("a", Clock())], Optimum(0.7, 0.7), say=lambda line: None)


def test_measurement_survives_being_saved():
    result = Measurement(
        "s", True, [Rung("1 epochs", 1.0, 0.5, 0.1, 0.2, 7, 3, 2.5)], 2.0, 0.5, 100
    )
    assert Measurement.from_dict(result.as_dict()) == result


def test_optimum_never_understates_suboptimality():
    optimum = Optimum(dual=1.0, primal=1.0 + 1e-7)
    assert optimum.suboptimality(1.01) == pytest.approx(0.01)
    assert optimum.relative_gap == pytest.approx(1e-7)


def test_certified_optimum_of_a_problem_solved_by_hand():
    optimum = certified_optimum(TASK, None)
    assert optimum.dual - 1e-12 <= 0.5 <= optimum.primal + 1e-12


def test_checksum_notices_a_changed_label_and_a_changed_value():
    changed_y, changed_X = y.copy(), X.copy()
    changed_y[0], changed_X[1, 2] = -1, 0.5
    sums = {checksum(*data) for data in ((X, y), (X, changed_y), (changed_X, y))}
    assert len(sums) == 3


def test_sample_has_every_class_and_the_same_container():
    few = Task("toy", X, np.array([0, 1, 2, 1]), LAM).few(rows=3)
    assert set(few.y.tolist()) == {0, 1, 2}
    assert few.X.dtype == X.dtype


@pytest.mark.slow
def test_extra_memory_sees_a_copy_of_the_data():
    big = Task("big", np.ones((100_000, 50)), np.tile([1, -1], 50_000), 1.0)
    fresh = measure_here(
        big, SOLVERS["linearsvc"], linear.FRESH
    )  # liblinear copies to 16 bytes per entry
    if fresh.extra_bytes is None:
        pytest.skip("the kernel does not tell")
    assert fresh.extra_bytes > 0.9 * 16 * big.stored
