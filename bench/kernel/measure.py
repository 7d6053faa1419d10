"""Kernel solvers on one dataset: ladders, climbed in turns (`bench.ladder`), and what they reached.

Rows are brought into each solver's container beforehand, and a warm-up on a few rows imports and
compiles. A solver that refuses the problem then is left out, and its words are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.competitor import Effort
from bench.kernel.datasets.base import KernelDataset
from bench.kernel.objective import Expansion, judge
from bench.kernel.solvers import KernelSolver
from bench.ladder import Climber, Rung, best, climb, repeat, timed
from bench.optimum import Optimum

ON_LARGE = ("pegasos-auto", "intelex", "libsvm")  # who is asked for minutes; see also Table 2
REPORTED = 1e-3  # the threshold whose rung stands for a solver in the columns beside the seconds


@dataclass
class KernelRung(Rung):
    """One fit, and what its model is like."""

    evaluations: int | None  # kernel values computed; None where a solver does not tell
    n_support: int
    test_error: float  # in percent


@dataclass
class KernelMeasurement:
    """All that is known about one solver on one dataset; None means not measured."""

    solver: str
    rungs: list[KernelRung] = field(default_factory=list)
    extra_bytes: int | None = None
    refusal: str = ""  # why the solver is left out

    @property
    def typical(self) -> KernelRung | None:
        """The fastest rung below 1e-3, or else the lowest objective reached."""
        lowest = min(self.rungs, key=lambda rung: rung.objective, default=None)
        return best(self.rungs, REPORTED) or lowest

    @classmethod
    def from_dict(cls, record: dict) -> KernelMeasurement:
        return cls(**{**record, "rungs": [KernelRung(**rung) for rung in record["rungs"]]})


def measure(
    dataset: KernelDataset,
    solvers: Sequence[KernelSolver],
    optimum: Optimum,
    *,
    limit: float,
    repeats: int,
    say: Callable[[str], None] = print,
) -> list[KernelMeasurement]:
    """Measure solvers side by side on one dataset; `limit` is in seconds per fit."""
    if dataset.is_large:
        solvers = [s for s in solvers if s.name in ON_LARGE]
    results = {s.name: KernelMeasurement(s.name) for s in solvers if s.supports(dataset)}
    climbers = []
    for solver in (s for s in solvers if s.name in results):
        try:
            warm_up(solver, dataset, limit)
        except ValueError as refusal:
            results[solver.name].refusal = str(refusal)
            say(f"{dataset.name}  {solver.name} is left out: {refusal}")
            continue
        climbers.append(climber(dataset, solver, optimum, limit, results[solver.name].rungs))
    climb(climbers, limit, lambda line: say(f"{dataset.name}  {line}"))
    repeat(climbers, repeats)
    return list(results.values())


def warm_up(solver: KernelSolver, dataset: KernelDataset, limit: float) -> None:
    """Fit a few rows in the same container, so that everything is imported and compiled."""
    few = dataset.few()
    timed(solver, solver.container(few.X), few, solver.ladder(limit)[0])


def climber(
    dataset: KernelDataset,
    solver: KernelSolver,
    optimum: Optimum,
    limit: float,
    rungs: list[KernelRung],
) -> Climber:
    """Put a solver before a dataset, in its own container."""
    X = solver.container(dataset.X)

    def fit(effort: Effort) -> tuple[float, Expansion]:
        return timed(solver, X, dataset, effort)

    def judged(effort: Effort, seconds: float, model: Expansion) -> KernelRung:
        verdict = judge(dataset, model)
        suboptimality = optimum.checked_suboptimality(verdict.primal, dataset.key)
        return KernelRung(
            str(effort), seconds, verdict.primal, suboptimality,
            model.evaluations, verdict.n_support, verdict.test_error,
        )  # fmt: skip

    return Climber(solver.name, solver.ladder(limit, dataset.is_large), fit, judged, rungs)
