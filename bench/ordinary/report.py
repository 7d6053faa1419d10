"""The page of ordinary tables: a short table per loss, and all competitors on every task below."""

from __future__ import annotations

from collections.abc import Sequence

from bench.harness.ladder import Measurement, Rung
from bench.harness.measure import fastest_peer
from bench.harness.optimum import Optimum
from bench.harness.page import head, heading, measurements_of, number, reached, seconds, table
from bench.harness.page import page as page_of
from bench.harness.results import Results
from bench.optimum import ENOUGH
from bench.task import Task

THRESHOLDS = (1e-3, 1e-5)
NAME = "ordinary"
TITLES = {
    "hinge regularized": "Hinge loss",
    "squared_hinge regularized": "Squared hinge loss",
    "logistic regularized": "Logistic loss, regularised bias",
    "logistic free": "Logistic loss, free bias",
    "epsilon_insensitive regularized": "Epsilon-insensitive regression",
}
SCALED = (
    "Ours, raw against standardised columns: seconds to a proven 1e-3 on raw / on "
    "scaled columns, and their ratio. The penalty is the same, so the problem is not.\n\n"
)
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
"""


def part(task: Task, optimum: Optimum, measurements: list[Measurement], limit: float) -> dict:
    """Return what is kept of one task."""
    return {
        "table": task.name,
        "setting": task.setting,
        "problem": f"{task.loss} {task.bias}",
        "shape": task.shape_text,
        "optimum": list(optimum),
        "limit": limit,
        "measurements": [m.as_dict() for m in measurements],
    }


def page(results: Results) -> str:
    """Return the whole document."""
    pieces = []
    for problem, title in TITLES.items():
        parts = [p for p in results.parts.values() if p["problem"] == problem]
        if parts:
            pieces.append(f"## {title}\n\n{table(short_rows(parts))}\n")
    pieces.append(f"## Raw against scaled\n\n{SCALED}{raw_against_scaled(results)}")
    pieces += ["## Every competitor\n"] + [section(p) for p in results.parts.values()]
    return page_of(INTRODUCTION, results, *pieces)


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
        f"{crossed(results, regression)}\n"
        f"{SCALED}{raw_against_scaled(results)}"
    )


def crossed(results: Results, problems: Sequence[str]) -> str:
    """Return one table of tasks against problems."""
    parts = {(p["table"], p["setting"], p["problem"]): p for p in results.parts.values()}
    tasks = dict.fromkeys(key[:2] for key in parts if key[2] in problems)
    if not tasks:
        return ""
    rows = head("table", *(TITLES[p].lower() for p in problems))
    for task in tasks:
        cells = (crossing(parts.get((*task, problem))) for problem in problems)
        rows.append([" ".join(task), *cells])
    return table(rows) + "\n"


def crossing(one: dict | None) -> str:
    """Return our seconds to either threshold, relative to the fastest peer in brackets."""
    if one is None:
        return ""
    cells = []
    for threshold in THRESHOLDS:
        own, peer = own_best(one, threshold), fastest_peer(measurements_of(one), threshold)
        if own is None:
            cells.append(f"- (peer {peer[1].seconds:.2g})" if peer else "-")
            continue
        ratio = f"{own.seconds / peer[1].seconds:.2f}" if peer else "alone"
        cells.append(f"{own.seconds:.2g} ({ratio})")
    return " / ".join(cells)


def short_rows(parts: Sequence[dict]) -> list[list[str]]:
    """Return a row per task: ours, the fastest peer and the ratio at both thresholds."""
    names = [cell for t in THRESHOLDS for cell in (f"ours, {heading(t)}", "fastest peer", "ratio")]
    rows = head("table", *names, "proven")
    for one in parts:
        found, cells = measurements_of(one), []
        for threshold in THRESHOLDS:
            own, peer = own_best(one, threshold), fastest_peer(found, threshold)
            cells.append(number(own and own.seconds))
            cells.append(f"{peer[1].seconds:.3g} {peer[0]}" if peer else "-")
            cells.append(f"{own.seconds / peer[1].seconds:.2f}" if own and peer else "-")
        rows.append([f"{one['table']} {one['setting']}", *cells, proven(ours_of(one)) + doubt(one)])
    return rows


def proven(ours: Measurement | None) -> str:
    """Return the smallest gap that ours proved."""
    gaps = [r.proven for r in ours.rungs if r.proven is not None] if ours else []
    return f"{min(gaps):.0e}" if gaps else "-"


def doubt(one: dict) -> str:
    """Return how well the optimum is known, where that matters."""
    gap = Optimum(*one["optimum"]).relative_gap
    return f" (P* known to {gap:.0e})" if gap > ENOUGH else ""


def raw_against_scaled(results: Results) -> str:
    """Return our seconds to a proven 1e-3 on raw and on scaled columns, a column per problem."""
    parts = {(p["table"], p["setting"], p["problem"]): p for p in results.parts.values()}
    rows = head("table", *(title.lower() for title in TITLES.values()))
    for name, setting in dict.fromkeys(key[:2] for key in parts if key[0].endswith("-raw")):
        cells = []
        for problem in TITLES:
            raw, *others = (
                parts.get((name.replace("-raw", f"-{kind}"), setting, problem))
                for kind in ("raw", "std", "unit")
            )
            cells.append(scaling(raw, next((p for p in others if p is not None), None)))
        if any(cells):
            rows.append([f"{name.removesuffix('-raw')} {setting}", *cells])
    return table(rows) + "\n"


def scaling(raw: dict | None, scaled: dict | None) -> str:
    """Return seconds on raw and on scaled columns, and their ratio in brackets."""
    if raw is None or scaled is None:
        return ""
    both = [own_best(one, THRESHOLDS[0]) for one in (raw, scaled)]
    ratio = f" ({both[0].seconds / both[1].seconds:.2f})" if all(both) else ""
    return " / ".join(number(rung and rung.seconds, ".2g") for rung in both) + ratio


def ours_of(one: dict) -> Measurement | None:
    return next((m for m in measurements_of(one) if m.is_ours), None)


def own_best(one: dict, threshold: float) -> Rung | None:
    ours = ours_of(one)
    return ours.best(threshold) if ours else None


def section(one: dict) -> str:
    """Return the table of one task with all competitors."""
    dual, primal = one["optimum"]
    rows = head("solver", *map(heading, THRESHOLDS), "reached", "proven")
    for m in measurements_of(one):
        times = [number(seconds(m, threshold)) for threshold in THRESHOLDS]
        rows.append([m.solver, *times, reached(m, ".8g"), proven(m)])
    title = f"{one['table']} {one['setting']} {one['problem']}"
    facts = f"{one['shape']}. P* in [{dual:.9g}, {primal:.9g}]. Limit: {one['limit']:g} s per fit."
    return f"### {title}\n\n{facts}\n\n{table(rows)}\n"
