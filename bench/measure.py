"""Seconds to a true suboptimality, and nanoseconds per entry and epoch.

*Seconds.* Every solver climbs its own ladder of efforts, each rung a fit from scratch, until its
objective is within the finest threshold or the next rung would break the time limit. The time to a
threshold is that of the fastest rung that got below it. Solvers take turns rung by rung, so a slow
minute of the machine falls on all of them; rungs that count and are short are repeated, also in
turns, and the shortest time is kept. All work is single-threaded (Vowpal Wabbit reads its cache in
a second thread). Compilation and imports happen before, in a warm-up on a few rows; `bench.fresh`
reports them.

*Row rate.* (time of 3 epochs - time of 1 epoch) / 2 per stored entry and model: set-up, copies,
validation and, for us, the one certificate at the end of either fit cancel out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from bench.datasets.base import Dataset
from bench.objective import objective
from bench.optimum import Optimum
from bench.solvers.base import Effort, Solver

THRESHOLDS = (1e-2, 1e-3, 1e-4)
SHORT = 3.0  # seconds; longer fits are not repeated
ROUNDING = 1e-10  # relative error allowed to sums over all rows


@dataclass
class Rung:
    """One fit: what was asked, the shortest time it took, what it reached."""

    effort: str
    seconds: float
    objective: float
    suboptimality: float


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
        reached = [rung for rung in self.rungs if rung.suboptimality <= threshold]
        return min(reached, key=lambda rung: rung.seconds, default=None)

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
    climb(dataset, solvers, optimum, results, limit, say)
    repeat(dataset, solvers, results, repeats)
    for solver in solvers:
        if solver.counts_epochs:
            results[solver.name].ns_per_entry = row_rate(solver, dataset, repeats)
    return list(results.values())


def warm_up(solver: Solver, dataset: Dataset) -> None:
    """Fit a few rows in the same container, so that everything is imported and compiled."""
    X, y = dataset.sample()
    solver.prepare(X, y)
    timed(solver, X, y, dataset.lam, solver.ladder()[0])


def climb(
    dataset: Dataset,
    solvers: Sequence[Solver],
    optimum: Optimum,
    results: dict[str, Measurement],
    limit: float,
    say: Callable[[str], None],
) -> None:
    """Let the solvers climb their ladders in turns."""
    for solver in solvers:
        solver.prepare(dataset.X, dataset.y)
    climbing = {solver.name: (solver, iter(solver.ladder())) for solver in solvers}
    while climbing:
        for name, (solver, ladder) in list(climbing.items()):
            effort = next(ladder, None)
            rungs = results[name].rungs
            if effort is None or is_over(rungs, limit):
                del climbing[name]
                continue
            seconds, w = timed(solver, dataset.X, dataset.y, dataset.lam, effort)
            rungs.append(judged(dataset, optimum, effort, seconds, w))
            say(f"{dataset.key}  {name:22}  {effort!s:22}  {seconds:8.3f} s  "
                f"{rungs[-1].suboptimality:9.2e}")  # fmt: skip


def judged(dataset: Dataset, optimum: Optimum, effort: Effort, seconds: float, w) -> Rung:
    """Evaluate weights; refuse an optimum that somebody has beaten, since it cannot be one."""
    value = objective(dataset.X, dataset.y, dataset.lam, w)
    suboptimality = optimum.suboptimality(value)
    if suboptimality < -ROUNDING:
        raise RuntimeError(
            f"An objective of {value!r} on {dataset.key} lies below the certified lower bound "
            f"{optimum.dual!r}: the certificate is wrong."
        )
    return Rung(str(effort), seconds, value, suboptimality)


def is_over(rungs: Sequence[Rung], limit: float) -> bool:
    """Tell whether the finest threshold is met or the next rung would take too long."""
    if not rungs:
        return False
    growth = max(2.0, rungs[-1].seconds / rungs[-2].seconds) if len(rungs) > 1 else 2.0
    return rungs[-1].suboptimality <= min(THRESHOLDS) or growth * rungs[-1].seconds > limit


def repeat(
    dataset: Dataset, solvers: Sequence[Solver], results: dict[str, Measurement], repeats: int
) -> None:
    """Time the short rungs that count again, in turns, and keep the shortest time."""
    for _ in range(repeats - 1):
        for solver in solvers:
            result = results[solver.name]
            efforts = {str(effort): effort for effort in solver.ladder()}
            counting = {id(rung): rung for t in THRESHOLDS if (rung := result.best(t))}
            for rung in counting.values():
                if rung.seconds < SHORT:
                    effort = efforts[rung.effort]
                    seconds, _ = timed(solver, dataset.X, dataset.y, dataset.lam, effort)
                    rung.seconds = min(rung.seconds, seconds)


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


def timed(solver: Solver, X, y, lam: float, effort: Effort):
    """Return (seconds, weights) of one fit from scratch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converging at low effort is the point of the ladder
        solver.untimed = 0.0
        start = time.perf_counter()
        w = solver.run(X, y, lam, effort)
        return time.perf_counter() - start - solver.untimed, w
