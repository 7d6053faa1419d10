"""Linear solvers on one dataset: seconds to a true suboptimality, and nanoseconds per entry.

*Seconds.* Ladders, climbed in turns: `bench.ladder`. All work is single-threaded (Vowpal Wabbit
reads its cache in a second thread). Compilation and imports happen before, in a warm-up on a few
rows; `bench.fresh` reports them.

*Row rate.* (time of 3 epochs - time of 1 epoch) / 2 per stored entry and model: set-up, copies,
validation and, for us, the one certificate at the end of either fit cancel out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from bench.competitor import Effort
from bench.datasets.base import Dataset
from bench.ladder import Climber, Rung, best, climb, repeat, timed
from bench.objective import objective
from bench.optimum import Optimum
from bench.solvers.base import Solver


@dataclass
class Measurement:
    """All that is known about one solver on one dataset; None means not measured."""

    dataset: str
    solver: str
    rungs: list[Rung] = field(default_factory=list)
    ns_per_entry: float | None = None
    first_call: float | None = None
    extra_bytes: int | None = None

    def best(self, threshold: float) -> Rung | None:
        """Return the fastest rung below a threshold."""
        return best(self.rungs, threshold)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict) -> Measurement:
        return cls(**{**record, "rungs": [Rung(**rung) for rung in record["rungs"]]})


def measure(
    dataset: Dataset,
    solvers: Sequence[Solver],
    optimum: Optimum,
    *,
    limit: float = 60.0,
    repeats: int = 3,
    say: Callable[[str], None] = print,
) -> list[Measurement]:
    """Measure solvers side by side on one dataset; `limit` is in seconds per fit."""
    results = {s.name: Measurement(dataset.key, s.name) for s in solvers if s.supports(dataset)}
    solvers = [s for s in solvers if s.name in results]
    for solver in solvers:
        warm_up(solver, dataset)
    for solver in solvers:
        solver.prepare(dataset.X, dataset.y)
    climbers = [climber(dataset, s, optimum, results[s.name].rungs) for s in solvers]
    climb(climbers, limit, lambda line: say(f"{dataset.key}  {line}"))
    repeat(climbers, repeats)
    for solver in solvers:
        if solver.counts_epochs:
            results[solver.name].ns_per_entry = row_rate(solver, dataset, repeats)
    return list(results.values())


def warm_up(solver: Solver, dataset: Dataset) -> None:
    """Fit a few rows in the same container, so that everything is imported and compiled."""
    X, y = dataset.sample()
    solver.prepare(X, y)
    timed(solver, X, y, dataset.lam, solver.ladder()[0])


def climber(dataset: Dataset, solver: Solver, optimum: Optimum, rungs: list[Rung]) -> Climber:
    """Put a solver before a dataset."""

    def fit(effort: Effort):
        return timed(solver, dataset.X, dataset.y, dataset.lam, effort)

    def judge(effort: Effort, seconds: float, w) -> Rung:
        return judged(dataset, optimum, effort, seconds, w)

    return Climber(solver.name, solver.ladder(), fit, judge, rungs)


def judged(dataset: Dataset, optimum: Optimum, effort: Effort, seconds: float, w) -> Rung:
    """Evaluate weights."""
    value = objective(dataset.X, dataset.y, dataset.lam, w)
    return Rung(str(effort), seconds, value, optimum.checked_suboptimality(value, dataset.key))


def row_rate(solver: Solver, dataset: Dataset, repeats: int) -> float:
    """Return nanoseconds per stored entry, epoch and model."""
    shortest = {1: float("inf"), 3: float("inf")}
    turns = 0
    while turns < repeats or (turns < 5 * repeats and shortest[3] < 0.3):  # short fits are noisy
        for epochs in shortest:
            effort = Effort(epochs=epochs)
            taken, _ = timed(solver, dataset.X, dataset.y, dataset.lam, effort)
            shortest[epochs] = min(shortest[epochs], taken)
        turns += 1
    seconds = (shortest[3] - shortest[1]) / 2
    return 1e9 * seconds / (dataset.stored * dataset.n_models)
