"""Text-like rows, 50,000 to 781,265 (RCV1's number): python -m bench.scale.

    python -m bench.scale                        everything; writes docs/benchmarks/scale.md, .png
    python -m bench.scale --only 50000,200000    some sizes
    python -m bench.scale --limit 20             seconds per fit (60)

Hinge loss with a regularised bias, the one that everybody has; ours in one thread and in all,
LinearSVC (which has one), Snap ML in two. Sizes are leading rows of one generated set.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from bench.machine import machine
from bench.markdown import table
from bench.ordinary.measure import TableMeasurement, measure
from bench.ordinary.optimum import remembered_optimum
from bench.ordinary.solvers import OURS, SOLVERS, OurTableSolver
from bench.ordinary.task import Task
from bench.results import Results, facts_text, words

NAME = "scale"
SIZES = (50_000, 100_000, 200_000, 400_000, 781_265)
LAMS = (1e-4, 1e-5)
COLUMNS = 47_236
THRESHOLD = 1e-3
KNOWN = 2e-5  # how well an optimum must be known, to judge 1e-3
ALL, ONE = OURS.name, OurTableSolver(n_jobs=1).name
COMPETITORS = (OURS, OurTableSolver(n_jobs=1), SOLVERS["linearsvc-dual"], SOLVERS["snapml"])
INTRODUCTION = f"""\
# Text-like rows, more and more of them

{COLUMNS:,} columns, about 75 entries a row; lam/2 (||w||^2 + b^2) + mean hinge loss. Seconds until
the objective is truly within 1e-3 of the certified optimum, each with its best tolerance, best of
three; ours proven, with all cores (`pegasos`) and with one (`{ONE}`). LinearSVC has one
thread, Snap ML is given two. In brackets: relative to `pegasos`. A dash: not reached in time.

![seconds against rows](scale.png)

"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; page and plot are written after every size."""
    from pegasos.data.textlike import textlike

    options = parse(arguments)
    solvers = [s for s in COMPETITORS if s.version() is not None]
    for solver in COMPETITORS:
        if solver not in solvers:
            print(f"{solver.name} is left out: it is not installed or has no such parameter.")
    results = Results.load(NAME)
    command = f"`python -m bench.scale {words(arguments)}`"
    results.facts = machine(solvers) | {"command": command}
    X, y = textlike(max(SIZES), COLUMNS, random_state=0)
    for n in options.only:
        for lam in LAMS:
            task = Task(f"textlike-{n}", f"lam={lam:g}", X[:n], y[:n], lam, "hinge", "regularized")
            optimum = remembered_optimum(task, 2 * options.limit, KNOWN / 2, KNOWN)
            found = measure(
                task, solvers, optimum, limit=options.limit, repeats=options.repeats,
                thresholds=(THRESHOLD,),
            )  # fmt: skip
            part = {"rows": n, "lam": lam, "measurements": [asdict(m) for m in found]}
            results.put(f"{n} {lam:g}", part, page)
            draw(results)


def seconds_of(part: dict) -> dict[str, float]:
    """Return seconds to the threshold by solver, for those who got there."""
    found = [TableMeasurement.from_dict(m) for m in part["measurements"]]
    return {m.solver: rung.seconds for m in found if (rung := m.best(THRESHOLD))}


def page(results: Results) -> str:
    """Return the whole document."""
    return (
        INTRODUCTION + scale_table(results) + "\n\nWhere and how:\n\n" + facts_text(results) + "\n"
    )


def summary(results: Results) -> str:
    """Return the README's table."""
    return (
        "Text-like rows (47,236 columns, hinge loss): seconds until truly within 1e-3, ours proven "
        "(plot and details in `docs/benchmarks/scale.md`):\n\n" + scale_table(results) + "\n"
    )


def scale_table(results: Results) -> str:
    """Return a row per problem, a column per solver, and what a second thread brings."""
    names = [solver.name for solver in COMPETITORS]
    rows = [["rows", "lam", *names, "one thread / all"], ["---:"] * (len(names) + 3)]
    for part in sorted(results.parts.values(), key=lambda p: (-p["lam"], p["rows"])):
        seconds = seconds_of(part)
        cells = []
        for name in names:
            is_compared = name in seconds and ALL in seconds and name != ALL
            factor = f" ({seconds[name] / seconds[ALL]:.1f}x)" if is_compared else ""
            cells.append(f"{seconds[name]:.3g}{factor}" if name in seconds else "-")
        both = ONE in seconds and ALL in seconds
        gain = f"{seconds[ONE] / seconds[ALL]:.2f}" if both else "-"
        rows.append([f"{part['rows']:,}", f"{part['lam']:g}", *cells, gain])
    return table(rows)


def draw(results: Results) -> None:
    """Draw seconds against rows, one panel per lam, beside a line of proportion."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(LAMS), figsize=(10, 4), sharey=True)
    for panel, lam in zip(panels, LAMS, strict=True):
        parts = sorted(
            (p for p in results.parts.values() if p["lam"] == lam), key=lambda p: p["rows"]
        )
        for solver in COMPETITORS:
            times = {p["rows"]: seconds_of(p).get(solver.name) for p in parts}
            points = [(n, seconds) for n, seconds in times.items() if seconds]
            if points:
                panel.loglog(*zip(*points, strict=True), marker="o", label=solver.name)
        own = [(p["rows"], seconds_of(p)[ALL]) for p in parts if ALL in seconds_of(p)]
        if own:
            n, seconds = own[0]
            ends = (n, max(SIZES))
            panel.loglog(ends, [seconds * m / n for m in ends], "k:", label="proportional")
            panel.legend()
        panel.set(title=f"lam = {lam:g}", xlabel="rows")
    panels[0].set_ylabel("seconds to 1e-3")
    figure.tight_layout()
    figure.savefig(results.page.with_suffix(".png"), dpi=120)
    pyplot.close(figure)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.scale", description="Text, scaled up.")
    parser.add_argument("--only", help=f"comma-separated numbers of rows up to {max(SIZES):,}")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per fit (60)")
    parser.add_argument("--repeats", type=int, default=3, help="times a short fit is timed (3)")
    options = parser.parse_args(arguments)
    options.only = [int(n) for n in options.only.split(",")] if options.only else list(SIZES)
    if min(options.only) < 2 or max(options.only) > max(SIZES):
        parser.error(f"--only takes numbers of rows from 2 to {max(SIZES)}.")
    return options


if __name__ == "__main__":
    main()
