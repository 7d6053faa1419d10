"""The command line: python -m bench.ordinary [--only a,b] [--limit SECONDS] [--repeats K]."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bench import ordinary
from bench.harness import command
from bench.harness.competitor import Competitor
from bench.harness.measure import measure
from bench.harness.results import carry_out
from bench.optimum import remembered_optimum
from bench.ordinary import report
from bench.ordinary.solvers import SOLVERS
from bench.ordinary.tables import TABLES
from bench.task import LOSSES, Task

TIGHT, LEAST = 3.0, 8.0  # how long an optimum may take: times the limit, and seconds at least
PATIENCE = 10.0  # times what ours took: what a fit of a peer may take
FAMILIES = tuple(dict.fromkeys(name.split("-")[0] for name in TABLES))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for. The page is written after every task, if all solvers take part."""
    options = parse(arguments)
    tables, losses, names = chosen(options)
    solvers = command.installed(SOLVERS[name] for name in names)
    results = command.begun(report.NAME, solvers, options)
    is_kept = len(names) == len(SOLVERS)
    carry_out(results, jobs(tables, losses, solvers, options), report.page, report.section, is_kept)


def jobs(
    tables: Sequence[str],
    losses: Sequence[str],
    solvers: Sequence[Competitor],
    options: argparse.Namespace,
) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the problems asked for, each table loaded once."""
    for name in tables:
        for task in TABLES[name].tasks(name, losses):
            yield task.key, partial(one_part, task, solvers, options)


def one_part(task: Task, solvers: Sequence[Competitor], options: argparse.Namespace) -> dict:
    """Measure everybody on one task."""
    print(f"# {task.key}: {task.shape_text}", flush=True)
    optimum = remembered_optimum(task, max(LEAST, TIGHT * options.limit))
    print(f"P* in {tuple(optimum)}, relative gap {optimum.relative_gap:.0e}", flush=True)
    found = measure(
        task, solvers, optimum, limit=options.limit, repeats=options.repeats,
        thresholds=report.THRESHOLDS, patience=PATIENCE,
    )  # fmt: skip
    return report.part(task, optimum, found, options.limit)


def chosen(options: argparse.Namespace) -> tuple[list[str], list[str], list[str]]:
    """Turn --only into tables (by name or family), losses and solvers."""
    tables = [t for t in TABLES if t in options.only or t.split("-")[0] in options.only]
    losses, solvers = command.chosen(LOSSES, options), command.chosen(SOLVERS, options)
    return tables or list(TABLES), losses, solvers


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = dict.fromkeys((*TABLES, *FAMILIES, *LOSSES, *SOLVERS))
    parser = command.parser("bench.ordinary", ordinary.__doc__, known, 20.0)
    return command.parsed(parser, arguments)


if __name__ == "__main__":
    main()
