"""Text-like rows, 50,000 to 800,000 of them: python -m bench.scale.

    python -m bench.scale                        everything; writes docs/benchmarks/scale.md, .png
    python -m bench.scale --only 50000,200000    some sizes
    python -m bench.scale --only 3000            another size: a trial on few rows; prints only
    python -m bench.scale --limit 20             seconds per fit (60)

Hinge loss with a regularised bias, the one that everybody has; ours in one thread and in two,
LinearSVC (which has one), Snap ML in two. Sizes are leading rows of one generated set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bench.harness import command
from bench.harness.competitor import Competitor
from bench.harness.measure import measure
from bench.harness.page import compared, head, measurements_of, seconds, table
from bench.harness.page import page as page_of
from bench.harness.results import Results, carry_out
from bench.optimum import remembered_optimum
from bench.ordinary.solvers import SOLVERS, OurSolver
from bench.task import Task

NAME = "scale"
SIZES = (50_000, 100_000, 200_000, 400_000, 800_000)
LAMS = (1e-4, 1e-5)
COLUMNS = 47_236
THRESHOLD = 1e-3
KNOWN = 2e-5  # how well an optimum must be known, to judge 1e-3
PATIENCE = 10.0  # times what ours took: what a fit of a peer may take
PEERS = [SOLVERS[name] for name in ("linearsvc-dual", "snapml")]
COMPETITORS = (OurSolver(n_jobs=2), OurSolver(n_jobs=1), *PEERS)
TWO, ONE = (solver.name for solver in COMPETITORS[:2])
INTRODUCTION = f"""\
# Text-like rows, more and more of them

{COLUMNS:,} columns, about 75 entries a row; lam/2 (||w||^2 + b^2) + mean hinge loss. Seconds until
the objective is truly within 1e-3 of the certified optimum, each with its best tolerance, best of
three; ours proven, with two threads and with one. LinearSVC has one thread, Snap ML is given two.
In brackets: relative to `{TWO}`. A dash: not reached in ten times what ours took.

![seconds against rows](scale.png)

"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; page and plot are written after every size."""
    options = parse(arguments)
    solvers = command.installed(COMPETITORS)
    results = command.begun(NAME, solvers, options)
    show = lambda part: str(seconds_of(part))  # noqa: E731
    carry_out(results, jobs(solvers, options), page_and_plot, show, not options.is_trial)


def jobs(
    solvers: Sequence[Competitor], options: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the problems asked for."""
    from pegasos.data.textlike import textlike

    X, y = textlike(max(options.sizes if options.is_trial else SIZES), COLUMNS, random_state=0)
    for n in options.sizes:
        for lam in LAMS:
            task = Task(
                f"textlike-{n}", X[:n], y[:n], lam, setting=f"lam={lam:g}", bias="regularized"
            )
            yield f"{n} {lam:g}", partial(one_part, task, solvers, options)


def one_part(task: Task, solvers: Sequence[Competitor], options: argparse.Namespace) -> dict:
    """Measure everybody on one problem."""
    optimum = remembered_optimum(task, 2 * options.limit, KNOWN / 2, KNOWN)
    found = measure(
        task, solvers, optimum, limit=options.limit, repeats=options.repeats,
        thresholds=(THRESHOLD,), patience=PATIENCE,
    )  # fmt: skip
    measurements = [m.as_dict() for m in found]
    return {"rows": len(task.y), "lam": task.lam, "measurements": measurements}


def seconds_of(part: dict) -> dict[str, float]:
    """Return seconds to the threshold by solver, for those who got there."""
    times = {m.solver: seconds(m, THRESHOLD) for m in measurements_of(part)}
    return {name: time for name, time in times.items() if time is not None}


def page_and_plot(results: Results) -> str:
    """Draw the plot and return the page."""
    draw(results)
    return page(results)


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of(INTRODUCTION + scale_table(results) + "\n", results)


def summary(results: Results) -> str:
    """Return the README's table."""
    return (
        "Text-like rows (47,236 columns, hinge loss): seconds until truly within 1e-3, ours proven "
        "(plot and details in `docs/benchmarks/scale.md`):\n\n" + scale_table(results)
    )


def parts_of(results: Results, lam: float) -> list[dict]:
    """Return what was measured with one lam, by the number of rows."""
    parts = [p for p in results.parts.values() if p["lam"] == lam]
    return sorted(parts, key=lambda part: part["rows"])


def scale_table(results: Results) -> str:
    """Return a row per problem, a column per solver, and what a second thread brings."""
    names = [solver.name for solver in COMPETITORS]
    rows = head("rows", "lam", *names, "one thread / two")
    rows[1][0] = "---:"
    for part in (p for lam in LAMS for p in parts_of(results, lam)):
        times = seconds_of(part)
        bases = {name: None if name == TWO else times.get(TWO) for name in names}
        cells = [compared(times.get(name), bases[name]) for name in names]
        both = ONE in times and TWO in times
        gain = f"{times[ONE] / times[TWO]:.2f}" if both else "-"
        rows.append([f"{part['rows']:,}", f"{part['lam']:g}", *cells, gain])
    return table(rows) + "\n" + growth(results)


def growth(results: Results) -> str:
    """Tell how the time of ours per row changes from the fewest rows to the most."""
    said = []
    for lam in LAMS:
        known = [(p["rows"], seconds_of(p)[TWO]) for p in parts_of(results, lam)
                 if TWO in seconds_of(p)]  # fmt: skip
        if len(known) > 1:
            (n, first), (m, last) = known[0], known[-1]
            said.append(f"{last / m / (first / n):.2f} (lam {lam:g}, {n:,} to {m:,} rows)")
    if not said:
        return ""
    return f"\nTime per row of ours at the most rows, relative to the fewest: {', '.join(said)}.\n"


def draw(results: Results) -> None:
    """Draw seconds against rows, one panel per lam, beside a line of proportion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, len(LAMS), sharey=True)
    for panel, lam in zip(panels, LAMS, strict=True):
        times = {part["rows"]: seconds_of(part) for part in parts_of(results, lam)}
        for solver in COMPETITORS:
            points = [(n, by[solver.name]) for n, by in times.items() if solver.name in by]
            if points:
                panel.loglog(*zip(*points, strict=True), marker="o", label=solver.name)
        own = [(n, by[TWO]) for n, by in times.items() if TWO in by]
        if own:
            ends = [own[0][0], max(times)]
            proportional = [own[0][1] * n / ends[0] for n in ends]
            panel.loglog(ends, proportional, "k:", label="proportional")
            panel.legend()
        panel.set(title=f"lam = {lam:g}", xlabel="rows")
    panels[0].set_ylabel("seconds to 1e-3")
    results.page.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(results.page.with_suffix(".png"), dpi=120)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench.scale", __doc__, map(str, SIZES), 60.0)
    parser.set_defaults(known=None)
    options = command.parsed(parser, arguments)
    if not all(size.isdigit() and 2 <= int(size) <= max(SIZES) for size in options.only):
        parser.error(f"--only takes numbers of rows from 2 to {max(SIZES)}.")
    options.sizes = [int(size) for size in options.only] or list(SIZES)
    options.is_trial = not set(options.sizes) <= set(SIZES)
    return options


if __name__ == "__main__":
    main()
