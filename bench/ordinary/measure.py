"""Competitors on one task: ladders of efforts (`bench.ladder`), ours first.

The peers have no more time per fit than the limit, nor than 10 times what ours took to prove the
finest threshold: who is slower than that is not in the running. Everyone with a chance to be the
fastest is timed again, in turns, and the shortest time is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.competitor import Effort
from bench.ladder import Climber, Rung, best, climb, repeat, timed
from bench.limited import within
from bench.optimum import Optimum
from bench.ordinary.solvers import TableSolver
from bench.ordinary.task import Model, Task

THRESHOLDS = (1e-3, 1e-5)
PATIENCE, LEAST = 10.0, 0.5  # peers' time per fit: so many times ours, at least so many seconds
WARM = 0.5  # seconds of a fit that is only to compile
ALTOGETHER = 2.0  # times the limit: what a ladder of tolerances may take
CLOSE = 2.0  # times the fastest peer's time: who is timed again


@dataclass
class TableRung(Rung):
    """One fit, and the relative gap that it proved itself."""

    proven: float | None = None

    @property
    def counted(self) -> float:
        """What a fit is good for: of ours, what it has proven."""
        return self.suboptimality if self.proven is None else max(self.proven, self.suboptimality)


@dataclass
class TableMeasurement:
    """All fits of one competitor on one task."""

    solver: str
    is_ours: bool
    rungs: list[TableRung] = field(default_factory=list)

    def best(self, threshold: float) -> TableRung | None:
        """Return the fastest rung below a threshold; ours counts only what it has proven."""
        rungs = self.rungs
        if self.is_ours:
            rungs = [r for r in rungs if r.proven is not None and r.proven <= threshold]
            return min(rungs, key=lambda rung: rung.seconds, default=None)
        return best(rungs, threshold)

    @classmethod
    def from_dict(cls, record: dict) -> TableMeasurement:
        return cls(**{**record, "rungs": [TableRung(**rung) for rung in record["rungs"]]})


def measure(
    task: Task,
    solvers: Sequence[TableSolver],
    optimum: Optimum,
    *,
    limit: float,
    repeats: int,
    thresholds: Sequence[float] = THRESHOLDS,
    say: Callable[[str], None] = print,
) -> list[TableMeasurement]:
    """Measure those who can take the task; `limit` is in seconds per fit."""
    tell = lambda line: say(f"{task.key}  {line}")  # noqa: E731
    solvers = [solver for solver in solvers if solver.supports(task)]
    results = {s.name: TableMeasurement(s.name, s.is_ours) for s in solvers}
    climbers, finest = [], min(thresholds)

    def let_climb(some: Sequence[TableSolver], limit: float) -> None:
        for solver in some:
            warm_up(solver, task, limit)
        new = [climber(task, s, optimum, limit, results[s.name].rungs) for s in some]
        climb(new, limit, tell, finest)
        climbers.extend(new)

    ours = [s for s in solvers if s.is_ours]
    let_climb(ours, limit)
    proven = [rung.seconds for s in ours if (rung := results[s.name].best(finest))]
    if proven:
        limit = min(limit, max(LEAST, PATIENCE * min(proven)))
    let_climb([s for s in solvers if not s.is_ours], limit)
    running = [c for c in climbers if is_in_the_running(results, c.name, thresholds)]
    repeat(running, repeats, thresholds)
    return list(results.values())


def warm_up(solver: TableSolver, task: Task, limit: float) -> None:
    """Fit a few rows, so that everything is imported; ours also all of them, to compile.

    Ours chooses its algorithm by the size of the data, so few rows would compile something else.
    """
    few = task.few()
    timed(solver, solver.prepare(few), few, solver.ladder(limit)[0])
    if solver.is_ours:
        timed(solver, solver.prepare(task), task, solver.ladder(min(limit, WARM))[0])


def climber(
    task: Task, solver: TableSolver, optimum: Optimum, limit: float, rungs: list[TableRung]
) -> Climber:
    """Put a solver before a task."""
    X = solver.prepare(task)
    short: set[Effort] = set()  # known to end, so timed again without a process of their own

    def fit(effort: Effort):
        if not solver.survives_a_fork or effort in short:
            return timed(solver, X, task, effort)
        if sum(rung.seconds for rung in rungs) > ALTOGETHER * limit:
            return 0.0, None
        seconds, model = within(limit, lambda: timed(solver, X, task, effort))
        short.add(effort)
        return seconds, model

    def judge(effort: Effort, seconds: float, model: Model) -> TableRung:
        value = task.objective(model)
        suboptimality = optimum.checked_suboptimality(value, task.key)
        return TableRung(str(effort), seconds, value, suboptimality, model.proven)

    return Climber(solver.name, solver.ladder(limit), fit, judge, rungs)


def is_in_the_running(
    results: dict[str, TableMeasurement], name: str, thresholds: Sequence[float]
) -> bool:
    """Tell whether a competitor is ours, or near the fastest peer to a threshold."""
    own = results[name]
    if own.is_ours:
        return True
    for threshold in thresholds:
        rung, fastest = own.best(threshold), fastest_peer(list(results.values()), threshold)
        if rung and fastest and rung.seconds <= CLOSE * fastest[1].seconds:
            return True
    return False


def fastest_peer(
    results: Sequence[TableMeasurement], threshold: float
) -> tuple[str, TableRung] | None:
    """Return the name and the rung of the fastest peer below a threshold."""
    reached = [(m.solver, rung) for m in results if not m.is_ours and (rung := m.best(threshold))]
    return min(reached, key=lambda pair: pair[1].seconds, default=None)
