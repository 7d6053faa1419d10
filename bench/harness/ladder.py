"""Seconds to a true suboptimality: ladders of efforts, climbed in turns.

Every solver climbs its own ladder of efforts, each rung a fit from scratch, until its objective is
within the finest threshold or the next rung would break the time limit. The time to a threshold is
that of the fastest rung that got below it. Solvers take turns rung by rung, so a slow minute of the
machine falls on all of them; rungs that count and are short are repeated, also in turns, and the
shortest time is kept. A fit that was ended at the limit (`bench.harness.limited`) has no model and
ends its ladder.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from bench.harness.competitor import Competitor, Effort

THRESHOLDS = (1e-2, 1e-3, 1e-4)
SHORT = 3.0  # seconds; longer fits are not repeated


@dataclass
class Rung:
    """One fit: what was asked, the shortest time it took, what it reached. None: not known."""

    effort: str
    seconds: float
    objective: float
    suboptimality: float
    proven: float | None = None  # the relative gap that the fit has proven itself
    evaluations: int | None = None  # kernel values computed
    n_support: int | None = None
    test_error: float | None = None  # in percent


@dataclass
class Measurement:
    """All that is known about one competitor on one problem; None means not measured."""

    solver: str
    is_ours: bool = False
    rungs: list[Rung] = field(default_factory=list)
    ns_per_entry: float | None = None
    first_call: float | None = None
    extra_bytes: int | None = None
    refusal: str = ""  # why the solver is left out

    def best(self, threshold: float) -> Rung | None:
        """Return the fastest rung below a threshold."""
        reached = [rung for rung in self.rungs if self.counted(rung) <= threshold]
        return min(reached, key=lambda rung: rung.seconds, default=None)

    def counted(self, rung: Rung) -> float:
        """Return what a fit is good for: its true suboptimality; of ours, what it has proven."""
        is_by_proof = self.is_ours and rung.proven is not None
        return rung.proven if is_by_proof else rung.suboptimality

    @property
    def lowest(self) -> Rung | None:
        """The rung that reached the lowest objective."""
        return min(self.rungs, key=lambda rung: rung.objective, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, for JSON."""
        known = lambda pairs: {key: value for key, value in pairs if value is not None}  # noqa: E731
        return asdict(self, dict_factory=known)

    @classmethod
    def from_dict(cls, record: dict) -> Measurement:
        return cls(**{**record, "rungs": [Rung(**rung) for rung in record["rungs"]]})


class Climber(NamedTuple):
    """One competitor before one problem; `fit` and `judge` know which."""

    result: Measurement
    ladder: tuple[Effort, ...]
    fit: Callable[[Effort], tuple[float, Any]]  # seconds and model of a fit from scratch
    judge: Callable[[Effort, float, Any], Rung]


def climb(
    climbers: Sequence[Climber],
    limit: float,
    say: Callable[[str], None],
    finest: float = min(THRESHOLDS),
) -> None:
    """Let the competitors climb their ladders in turns."""
    climbing = {climber.result.solver: (climber, iter(climber.ladder)) for climber in climbers}
    while climbing:
        for name, (climber, ladder) in list(climbing.items()):
            effort = next(ladder, None)
            if effort is None or is_over(climber.result, limit, finest):
                del climbing[name]
                continue
            seconds, model = climber.fit(effort)
            if model is None:
                say(f"{name:24}  {effort!s:22}  {seconds:8.3f} s  ended at the limit")
                del climbing[name]
                continue
            rung = climber.judge(effort, seconds, model)
            climber.result.rungs.append(rung)
            say(f"{name:24}  {effort!s:22}  {seconds:8.3f} s  {rung.suboptimality:9.2e}")


def is_over(result: Measurement, limit: float, finest: float = min(THRESHOLDS)) -> bool:
    """Tell whether the finest threshold is met or the next rung would take too long."""
    rungs = result.rungs
    if not rungs:
        return False
    growth = max(2.0, rungs[-1].seconds / rungs[-2].seconds) if len(rungs) > 1 else 2.0
    return result.counted(rungs[-1]) <= finest or growth * rungs[-1].seconds > limit


def repeat(
    climbers: Sequence[Climber], repeats: int, thresholds: Sequence[float] = THRESHOLDS
) -> None:
    """Time the short rungs that count again, in turns, and keep the shortest time."""
    for _ in range(repeats - 1):
        for climber in climbers:
            efforts = {str(effort): effort for effort in climber.ladder}
            counting = {id(rung): rung for t in thresholds if (rung := climber.result.best(t))}
            for rung in counting.values():
                if rung.seconds < SHORT:
                    seconds, _ = climber.fit(efforts[rung.effort])
                    rung.seconds = min(rung.seconds, seconds)


def timed(solver: Competitor, *arguments: Any) -> tuple[float, Any]:
    """Return (seconds, model) of one fit from scratch, `solver.run(*arguments)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converging at low effort is the point of the ladder
        solver.untimed = 0.0
        start = time.perf_counter()
        model = solver.run(*arguments)
        return time.perf_counter() - start - solver.untimed, model
