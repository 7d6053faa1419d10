"""Competitors side by side on one problem: seconds to a true suboptimality, by `ladder`.

Compilation and imports happen before, in a warm-up on a few rows; who refuses the problem then is
left out, and its words are kept. Rows are brought into each solver's container beforehand.

With a `patience`, ours goes first, and the peers have no more time per fit than that many times
what ours took to prove the finest threshold: who is slower is not in the running. Only those with a
chance to be the fastest are timed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.harness.competitor import Competitor, Effort
from bench.harness.ladder import THRESHOLDS, Climber, Measurement, Rung, climb, repeat, timed
from bench.harness.limited import within
from bench.harness.optimum import Optimum
from bench.harness.problem import Problem

LEAST = 0.5  # seconds per fit that the patience with peers never goes below
WARM = 0.5  # seconds of a fit that is only to compile
ALTOGETHER = 2.0  # times the limit: what a ladder of fits that can be ended may take
CLOSE = 2.0  # times the fastest peer's time: who is timed again


def measure(
    problem: Problem,
    solvers: Sequence[Competitor],
    optimum: Optimum,
    *,
    limit: float = 60.0,
    repeats: int = 3,
    thresholds: Sequence[float] = THRESHOLDS,
    patience: float | None = None,
    say: Callable[[str], None] = print,
) -> list[Measurement]:
    """Measure those who can take the problem; `limit` is in seconds per fit."""
    tell = lambda line: say(f"{problem.key}  {line}")  # noqa: E731
    solvers = [solver for solver in solvers if solver.supports(problem)]
    results = {s.name: Measurement(s.name, s.is_ours) for s in solvers}
    climbers, finest = [], min(thresholds)

    def let_climb(some: Sequence[Competitor], limit: float) -> None:
        warm = [s for s in some if is_warm(s, problem, limit, results[s.name], tell)]
        new = [climber(problem, s, optimum, limit, results[s.name]) for s in warm]
        climb(new, limit, tell, finest)
        climbers.extend(new)

    if patience is None:
        let_climb(solvers, limit)
        repeat(climbers, repeats, thresholds)
        return list(results.values())
    ours = [s for s in solvers if s.is_ours]
    let_climb(ours, limit)
    proven = [rung.seconds for s in ours if (rung := results[s.name].best(finest))]
    if proven:
        limit = min(limit, max(LEAST, patience * min(proven)))
    let_climb([s for s in solvers if not s.is_ours], limit)
    everybody = list(results.values())
    running = [c for c in climbers if is_in_the_running(c.result, everybody, thresholds)]
    repeat(running, repeats, thresholds)
    return everybody


def is_warm(
    solver: Competitor,
    problem: Problem,
    limit: float,
    result: Measurement,
    tell: Callable[[str], None],
) -> bool:
    """Warm a solver up; if it refuses the problem, keep its words and tell so."""
    try:
        warm_up(solver, problem, limit)
    except ValueError as refusal:
        result.refusal = str(refusal)
        tell(f"{solver.name} is left out: {refusal}")
    return not result.refusal


def warm_up(solver: Competitor, problem: Problem, limit: float) -> None:
    """Fit a few rows, so that everything is imported; ours also all of them, to compile.

    Ours chooses its algorithm by the size of the data, so few rows would compile something else.
    """
    few = problem.few()
    timed(solver, solver.prepare(few), few, solver.ladder(limit)[0])
    if solver.is_ours:
        timed(solver, solver.prepare(problem), problem, solver.ladder(min(limit, WARM))[0])


def climber(
    problem: Problem, solver: Competitor, optimum: Optimum, limit: float, result: Measurement
) -> Climber:
    """Put a solver before a problem, in its own container."""
    X = solver.prepare(problem)
    short: set[Effort] = set()  # known to end, so timed again without a process of their own

    def fit(effort: Effort) -> tuple[float, Any]:
        if not solver.survives_a_fork or effort in short:
            return timed(solver, X, problem, effort)
        if sum(rung.seconds for rung in result.rungs) > ALTOGETHER * limit:
            return 0.0, None
        seconds, model = within(limit, lambda: timed(solver, X, problem, effort))
        short.add(effort)
        return seconds, model

    def judge(effort: Effort, seconds: float, model: Any) -> Rung:
        verdict = problem.judge(model)
        suboptimality = optimum.checked_suboptimality(verdict["objective"], problem.key)
        return Rung(str(effort), seconds, suboptimality=suboptimality, **verdict)

    return Climber(result, solver.ladder(limit, problem.is_large), fit, judge)


def is_in_the_running(
    own: Measurement, everybody: Sequence[Measurement], thresholds: Sequence[float]
) -> bool:
    """Tell whether a competitor is ours, or near the fastest peer to a threshold."""
    if own.is_ours:
        return True
    for threshold in thresholds:
        rung, fastest = own.best(threshold), fastest_peer(everybody, threshold)
        if rung and fastest and rung.seconds <= CLOSE * fastest[1].seconds:
            return True
    return False


def fastest_peer(results: Sequence[Measurement], threshold: float) -> tuple[str, Rung] | None:
    """Return the name and the rung of the fastest peer below a threshold."""
    reached = [(m.solver, rung) for m in results if not m.is_ours and (rung := m.best(threshold))]
    return min(reached, key=lambda pair: pair[1].seconds, default=None)
