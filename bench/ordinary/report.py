"""The page of ordinary tables: a short table per loss, and all competitors on every task below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from bench.markdown import heading, table
from bench.optimum import ENOUGH, Optimum
from bench.ordinary.measure import THRESHOLDS, TableMeasurement, TableRung, fastest_peer
from bench.ordinary.task import Task
from bench.results import Results, facts_text

NAME = "ordinary"
TITLES = {
    "hinge regularized": "Hinge loss",
    "squared_hinge regularized": "Squared hinge loss",
    "logistic regularized": "Logistic loss, regularised bias",
    "logistic free": "Logistic loss, free bias",
    "epsilon_insensitive regularized": "Epsilon-insensitive regression",
}
INTRODUCTION = """\
# Ordinary tables, side by side

lam/2 ||w||^2 + mean loss, with the bias that the peers have: regularised (liblinear's family,
snapml; SGDClassifier by a column of ones) or free. C = 1/(lam n). Everybody may use all cores.

- *Seconds to 1e-k*: the fastest fit from scratch, best of three, whose true relative suboptimality
  is at most 1e-k, with the best of the competitor's own tolerances. Ours runs with its defaults and
  counts only where its certificate *proves* 1e-k.
- *Ratio*: ours to the fastest peer; below 1, ours is faster.
- A dash: not reached within the limit; for peers also: not within 10 times what ours took.
- *Proven*: the relative gap that our fit to the finer threshold proved.
- raw: columns as they come; std: standardised; unit: scaled to [0, 1].

Where and how:

"""


def part(task: Task, optimum: Optimum, measurements: list[TableMeasurement], limit: float) -> dict:
    """Return what is kept of one task."""
    return {
        "table": task.table,
        "setting": task.setting,
        "problem": f"{task.loss} {task.bias}",
        "shape": task.shape_text,
        "optimum": list(optimum),
        "limit": limit,
        "measurements": [asdict(m) for m in measurements],
    }


def page(results: Results) -> str:
    """Return the whole document."""
    pieces = [INTRODUCTION + facts_text(results) + "\n"]
    for problem, title in TITLES.items():
        parts = [p for p in results.parts.values() if p["problem"] == problem]
        if parts:
            pieces += [f"## {title}\n\n{table(short_rows(parts))}\n"]
    pieces += [
        "## Raw against scaled (standardised, or else to [0, 1])\n\n"
        + table(scaling_rows(results))
        + "\n"
    ]
    pieces += ["## Every competitor\n"] + [section(p) for p in results.parts.values()]
    return "\n".join(pieces)


def summary(results: Results) -> str:
    """Return the README's tables: a row per table and penalty, a column per loss."""
    regression = list(TITLES)[-1:]
    return (
        "Ordinary tables, raw (as they come) and scaled: seconds until the objective is truly "
        "within 1e-3 / 1e-5 of the certified optimum, ours with its defaults and proven. In "
        "brackets: relative to the fastest of LinearSVC, liblinear, snapml, SGDClassifier, "
        "LogisticRegression and LinearSVR, each at its best tolerance; below 1, ours is faster "
        "(alone: no peer got there; a dash: ours did not, in time; the fastest peer's seconds are "
        "then given). All cores. "
        f"{results.facts['processor']}; {results.facts['date']}; `python -m bench.ordinary`; all "
        "competitors in `docs/benchmarks/ordinary.md`.\n\n"
        f"{crossed(results, [p for p in TITLES if p not in regression])}\n"
        f"{crossed(results, regression)}"
    )


def crossed(results: Results, problems: Sequence[str]) -> str:
    """Return one table of tasks against problems."""
    parts = {(p["table"], p["setting"], p["problem"]): p for p in results.parts.values()}
    tasks = dict.fromkeys(key[:2] for key in parts if key[2] in problems)
    if not tasks:
        return ""
    head = [["table", *(TITLES[p].lower() for p in problems)], ["---", *["---:"] * len(problems)]]
    rows = [
        [" ".join(task), *(crossing(parts.get((*task, problem))) for problem in problems)]
        for task in tasks
    ]
    return table(head + rows) + "\n"


def crossing(one: dict | None) -> str:
    """Return our seconds to either threshold, relative to the fastest peer in brackets."""
    if one is None:
        return ""
    cells = []
    for threshold in THRESHOLDS:
        own, peer = own_best(one, threshold), fastest_peer(measured(one), threshold)
        if own is None:
            cells.append(f"- (peer {peer[1].seconds:.2g})" if peer else "-")
            continue
        ratio = f"{own.seconds / peer[1].seconds:.2f}" if peer else "alone"
        cells.append(f"{own.seconds:.2g} ({ratio})")
    return " / ".join(cells)


def short_rows(parts: Sequence[dict]) -> list[list[str]]:
    """Return a row per task: ours, the fastest peer and the ratio at both thresholds."""
    head = [cell for t in THRESHOLDS for cell in (f"ours, {heading(t)}", "fastest peer", "ratio")]
    rows = [["table", *head, "proven"], ["---", *["---:"] * (len(head) + 1)]]
    for one in parts:
        measurements = measured(one)
        ours = next((m for m in measurements if m.is_ours), None)
        cells = []
        for threshold in THRESHOLDS:
            own = ours.best(threshold) if ours else None
            peer = fastest_peer(measurements, threshold)
            cells.append(f"{own.seconds:.3g}" if own else "-")
            cells.append(f"{peer[1].seconds:.3g} {peer[0]}" if peer else "-")
            cells.append(f"{own.seconds / peer[1].seconds:.2f}" if own and peer else "-")
        rows.append([f"{one['table']} {one['setting']}", *cells, proven(ours) + doubt(one)])
    return rows


def measured(one: dict) -> list[TableMeasurement]:
    return [TableMeasurement.from_dict(m) for m in one["measurements"]]


def proven(ours: TableMeasurement | None) -> str:
    """Return the smallest gap that ours proved."""
    gaps = [r.proven for r in ours.rungs if r.proven is not None] if ours else []
    return f"{min(gaps):.0e}" if gaps else "-"


def doubt(one: dict) -> str:
    """Return how well the optimum is known, where that matters."""
    gap = Optimum(*one["optimum"]).relative_gap
    return f" (P* known to {gap:.0e})" if gap > ENOUGH else ""


def scaling_rows(results: Results) -> list[list[str]]:
    """Return our seconds to a proven 1e-3 on raw and on scaled columns, and their ratio."""
    rows = [["problem", "raw, s", "scaled, s", "ratio"], ["---", *["---:"] * 3]]
    for key, one in results.parts.items():
        scaled = [key.replace("-raw ", f"-{kind} ") for kind in ("std", "unit")]
        other = next((results.parts[k] for k in scaled if k in results.parts), None)
        if "-raw " not in key or other is None:
            continue
        raw, std = (own_best(p, THRESHOLDS[0]) for p in (one, other))
        ratio = f"{raw.seconds / std.seconds:.2f}" if raw and std else "-"
        cells = [f"{rung.seconds:.3g}" if rung else "-" for rung in (raw, std)]
        rows.append([key.replace("-raw ", " "), *cells, ratio])
    return rows


def own_best(one: dict, threshold: float) -> TableRung | None:
    ours = next((m for m in measured(one) if m.is_ours), None)
    return ours.best(threshold) if ours else None


def section(one: dict) -> str:
    """Return the table of one task with all competitors."""
    dual, primal = one["optimum"]
    rows = [["solver", *map(heading, THRESHOLDS), "reached", "proven"], ["---", *["---:"] * 4]]
    for m in measured(one):
        lowest = min(m.rungs, key=lambda rung: rung.objective, default=None)
        cells = [f"{rung.seconds:.3g}" if (rung := m.best(t)) else "-" for t in THRESHOLDS]
        reached = f"{lowest.objective:.8g} ({lowest.suboptimality:.0e})" if lowest else "-"
        rows.append([m.solver, *cells, reached, proven(m)])
    title = f"{one['table']} {one['setting']} {one['problem']}"
    facts = f"{one['shape']}. P* in [{dual:.9g}, {primal:.9g}]. Limit: {one['limit']:g} s per fit."
    return f"### {title}\n\n{facts}\n\n{table(rows)}\n"
