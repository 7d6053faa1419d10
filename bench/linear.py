"""Linear SVMs without bias in one thread: problems, solvers and the page of `python -m bench`.

Beside the seconds, *row rates*: (time of 3 epochs - time of 1 epoch) / 2 per stored entry and
model. Set-up, copies, validation and, for us, the one certificate at the end of either fit cancel.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.datasets import DATASETS
from bench.harness.competitor import Effort
from bench.harness.ladder import THRESHOLDS, Measurement, timed
from bench.harness.measure import measure
from bench.harness.memory import measure_fresh
from bench.harness.page import (
    compared,
    head,
    heading,
    measurements_of,
    names_of,
    number,
    reached,
    seconds,
    table,
)
from bench.harness.page import page as page_of
from bench.harness.results import Results
from bench.optimum import ENOUGH, remembered_optimum
from bench.solvers import REFERENCE, SOLVERS, LinearSolver
from bench.task import Task

NAME = "linear"
STEPPER = "pegasos-pegasos"  # whose row rate others are compared with
FRESH = Effort(tol=1e-2, epochs=3)  # memory does not depend on how long a fit lasts

INTRODUCTION = f"""\
# Linear SVM, side by side

Everyone solves lam/2 ||w||^2 + mean hinge loss, without bias, in one thread.

- *Seconds to 1e-k*: the fastest fit from scratch whose true relative suboptimality, against an
  optimum certified by a duality gap, is at most 1e-k. In brackets: relative to `{REFERENCE}`.
- *Reached*: the lowest objective over all efforts tried, and its suboptimality.
- *ns*: nanoseconds per stored entry, epoch and model (3 epochs less 1).
- *Extra MB*: peak resident memory during a fit, less that before it.
- *First call*: seconds of a fit of a few rows in a new process: import, and compilation or loading
  what an earlier process compiled.
- A dash: not reached within the seconds per fit that the heading gives, or not measurable.
"""


def load(key: str) -> Task:
    """Return a problem by its key, such as "a9a lam=0.0001"."""
    name, lam = key.split(" lam=")
    return DATASETS[name].load(float(lam))


def measured(key: str, solvers: Sequence[LinearSolver], options: argparse.Namespace) -> dict:
    """Measure everything on one dataset."""
    task = load(key)
    print(f"# {key}: {task.shape_text}", flush=True)
    optimum = remembered_optimum(task, None)
    if optimum.relative_gap > ENOUGH:
        raise RuntimeError(
            f"The optimum is only known to a relative gap of {optimum.relative_gap:.1e}; "
            f"measuring down to 1e-4 needs {ENOUGH:g}."
        )
    found = measure(task, solvers, optimum, limit=options.limit, repeats=options.repeats)
    for result in found:
        solver = SOLVERS[result.solver]
        if solver.counts_epochs and not result.refusal:
            result.ns_per_entry = row_rate(solver, task, options.repeats)
        fresh = measure_fresh("bench.linear", key, result.solver, FRESH)
        result.first_call, result.extra_bytes = fresh
    return {
        "title": key,
        "subtitle": f"{task.note}; {task.shape_text}",
        "optimum": list(optimum),
        "limit": options.limit,
        "measurements": [m.as_dict() for m in found],
    }


def row_rate(solver: LinearSolver, task: Task, repeats: int) -> float:
    """Return nanoseconds per stored entry, epoch and model."""
    X = solver.prepare(task)
    shortest = {1: float("inf"), 3: float("inf")}
    turns = 0
    while turns < repeats or (turns < 5 * repeats and shortest[3] < 0.3):  # short fits are noisy
        for epochs in shortest:
            taken, _ = timed(solver, X, task, Effort(epochs=epochs))
            shortest[epochs] = min(shortest[epochs], taken)
        turns += 1
    return 1e9 * (shortest[3] - shortest[1]) / 2 / (task.stored * task.n_models)


def page(results: Results) -> str:
    """Return the whole document."""
    order = [f"{name} lam={lam:g}" for name in DATASETS for lam in DATASETS[name].LAMS]
    parts = sorted(results.parts.values(), key=lambda part: order.index(part["title"]))
    return page_of(INTRODUCTION, results, *map(section, parts))


def section(part: dict) -> str:
    """Return the table of one dataset."""
    dual, primal = part["optimum"]
    found = measurements_of(part)
    ours = {m.solver: m for m in found}.get(REFERENCE)
    rows = head("solver", *map(heading, THRESHOLDS), "reached", "ns", "extra MB", "first call, s")
    for m in found:
        megabytes = None if m.extra_bytes is None else m.extra_bytes / 1e6
        times = [to_threshold(m, ours, threshold) for threshold in THRESHOLDS]
        rates = [number(m.ns_per_entry, ".2f"), number(megabytes, ".1f")]
        rows.append([m.solver, *times, reached(m), *rates, number(m.first_call, ".2f")])
    interval = f"P* in [{dual:.8f}, {primal:.8f}]. Limit: {part['limit']:g} s per fit"
    return f"## {part['title']}\n\n{part['subtitle']}. {interval}.\n\n{table(rows)}\n"


def to_threshold(m: Measurement, ours: Measurement | None, threshold: float) -> str:
    """Return the time to a threshold with its factor, or a dash."""
    is_compared = ours is not None and ours is not m
    return compared(seconds(m, threshold), seconds(ours, threshold) if is_compared else None)


def summary(results: Results, threshold: float = 1e-3) -> str:
    """Return the README's tables: seconds to 1e-3 and row rates, a row per dataset."""
    found = {p["title"]: {m.solver: m for m in measurements_of(p)} for p in results.parts.values()}
    names = names_of(by_name.values() for by_name in found.values())
    times = head("dataset", *names)
    steppers = [n for n in names if any(n in f and f[n].ns_per_entry for f in found.values())]
    rates = head("dataset", *steppers)
    for title, by_name in found.items():
        ours = by_name.get(REFERENCE)
        cells = [to_threshold(by_name[n], ours, threshold) if n in by_name else "-" for n in names]
        times.append([title, *cells])
        ns = {n: m.ns_per_entry for n, m in by_name.items() if m.ns_per_entry}
        others = {n: None if n == STEPPER else ns.get(STEPPER) for n in steppers}
        rates.append([title, *(compared(ns.get(n), others[n], ".2f") for n in steppers)])
    facts = results.facts
    return (
        f"Seconds until the objective is truly within {threshold:.1%} of the certified optimum "
        f"(hinge loss, no bias, one thread; in brackets: relative to `{REFERENCE}`; a dash: not "
        f"reached in time). {facts['processor']}; {facts['date']}; `python -m bench`; all numbers, "
        f"versions and objective values in `docs/benchmarks/linear.md`.\n\n{table(times)}\n\n"
        "Nanoseconds per stored entry, epoch and model (one step per row; in brackets: relative to "
        f"`{STEPPER}`):\n\n{table(rates)}\n"
    )
