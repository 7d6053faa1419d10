"""The command line: python -m bench.ordinary [--only a,b] [--limit SECONDS] [--repeats K]."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.machine import machine
from bench.ordinary import report
from bench.ordinary.measure import measure
from bench.ordinary.optimum import remembered_optimum
from bench.ordinary.solvers import SOLVERS, TableSolver
from bench.ordinary.tables import TABLES
from bench.ordinary.task import LOSSES, Task
from bench.results import Results, words

TIGHT = 3.0  # times the limit: how long an optimum may take
FAMILIES = tuple(dict.fromkeys(name.split("-")[0] for name in TABLES))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for. The page is written after every task, if all solvers take part."""
    options = parse(arguments)
    tables, losses, names = chosen(options.only)
    solvers = installed(names)
    results = Results.load(report.NAME)
    command = f"`PEGASOS_DATA=<folder> python -m bench.ordinary {words(arguments)}`"
    results.facts = machine(solvers) | {"command": command}
    failed = []
    for table in tables:
        for task in TABLES[table].tasks(table, losses):
            try:
                part = one_part(task, solvers, options)
            except Exception as error:  # the others are still worth measuring
                say(f"{task.key} FAILED: {type(error).__name__}: {error}")
                failed.append(task.key)
                continue
            say("\n" + report.section(part))
            if len(names) == len(SOLVERS):
                results.put(task.key, part, report.page)
    if failed:
        raise SystemExit(f"Failed: {'; '.join(failed)}. The reasons are above.")


def one_part(task: Task, solvers: Sequence[TableSolver], options: argparse.Namespace) -> dict:
    """Measure everybody on one task."""
    say(f"# {task.key}: {task.shape_text}")
    optimum = remembered_optimum(task, TIGHT * options.limit)
    say(f"P* in {tuple(optimum)}, relative gap {optimum.relative_gap:.0e}")
    found = measure(task, solvers, optimum, limit=options.limit, repeats=options.repeats, say=say)
    return report.part(task, optimum, found, options.limit)


def say(line: str) -> None:
    print(line, flush=True)


def chosen(only: str | None) -> tuple[list[str], tuple[str, ...], list[str]]:
    """Turn --only into tables, losses and solvers; refuse names that are none of them."""
    names = only.split(",") if only else []
    known = (*TABLES, *FAMILIES, *LOSSES, *SOLVERS)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(
            f"--only knows the tables {', '.join(TABLES)} (or all of a family: "
            f"{', '.join(FAMILIES)}), the losses {', '.join(LOSSES)} and the solvers "
            f"{', '.join(SOLVERS)}; got {', '.join(unknown)}."
        )
    tables = [t for t in TABLES if t in names or t.split("-")[0] in names]
    losses = tuple(loss for loss in LOSSES if loss in names)
    solvers = [name for name in SOLVERS if name in names]
    return tables or list(TABLES), losses or LOSSES, solvers or list(SOLVERS)


def installed(names: Sequence[str]) -> list[TableSolver]:
    """Return the solvers that are there; name the others."""
    there = [SOLVERS[name] for name in names if SOLVERS[name].version() is not None]
    for name in names:
        if SOLVERS[name] not in there:
            say(f"{name} is left out: {SOLVERS[name].package} is not installed.")
    return there


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m bench.ordinary", description="Ordinary tables, side by side with the peers."
    )
    parser.add_argument("--only", help="comma-separated tables, losses and solvers")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per fit (20)")
    parser.add_argument("--repeats", type=int, default=3, help="times a short fit is timed (3)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
