"""The command line: python -m bench.kernel [--only a b] [--solvers a b] [--tables 1 2] [--slow]."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from bench.kernel import report
from bench.kernel.datasets import DATASETS
from bench.kernel.fresh import measure_fresh
from bench.kernel.measure import measure
from bench.kernel.optimum import remembered_optimum
from bench.kernel.solvers import DEFAULT, SOLVERS, KernelSolver
from bench.kernel.table2 import SLOW, measure_row
from bench.machine import machine

THREADS = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for. A run with all solvers writes files, dataset by dataset."""
    options = parse(arguments)
    solvers = installed(options.solvers or DEFAULT)
    results = report.load()
    results.facts = machine(solvers) | {"command": f"`{report.COMMAND} {words(arguments)}`"}
    for name, fact in results.facts.items():
        say(f"{name}: {fact}")
    if hasattr(os, "sched_setaffinity"):  # for thread pools that ask nobody; children inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    with threadpool_limits(THREADS):
        for name in options.only if 1 in options.tables else ():
            section = one_section(name, solvers, options.limit, options.repeats)
            say("\n" + report.section_table(section))
            results.sections[name] = section
            keep(results, options)
        for name in options.only if 2 in options.tables and not options.solvers else ():
            if name not in SLOW or options.slow:
                results.rows[name] = measure_row(name, options.limit, say)
                say("\n" + report.paper_table([results.rows[name]]))
                keep(results, options)


def one_section(
    name: str, solvers: Sequence[KernelSolver], limit: float, repeats: int
) -> report.Section:
    """Measure everything on one dataset."""
    dataset = DATASETS[name].load()
    say(f"# {dataset.key}: {dataset.shape_text}")
    known = remembered_optimum(dataset)
    say(f"P* in {tuple(known.optimum)} by {known.source}")
    found = measure(dataset, solvers, known.optimum, limit=limit, repeats=repeats, say=say)
    for result in found:
        takes_minutes = dataset.is_large and result.solver == "libsvm"
        if result.typical is not None and not takes_minutes:
            result.extra_bytes = measure_fresh(dataset, result.solver, result.typical.effort, limit)
    return report.Section.of(dataset, known, found, limit)


def keep(results: report.Results, options: argparse.Namespace) -> None:
    """Write page and results, unless only some solvers were asked for."""
    if options.solvers:
        return
    report.save(results)
    report.PAGE.parent.mkdir(parents=True, exist_ok=True)
    report.PAGE.write_text(report.page(results))
    say(f"Wrote {report.PAGE}.")


def words(arguments: Sequence[str] | None) -> str:
    """Return the arguments as they were typed."""
    return " ".join(sys.argv[1:] if arguments is None else arguments)


def say(line: str) -> None:
    print(line, flush=True)


def installed(names: Sequence[str]) -> list[KernelSolver]:
    """Return the solvers that are there; name the others."""
    there = [SOLVERS[name] for name in names if SOLVERS[name].version() is not None]
    for name in names:
        if SOLVERS[name] not in there:
            say(f"{name} is left out: {SOLVERS[name].package} is not installed or has no such.")
    return there


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m bench.kernel", description="Kernel SVM, side by side with the peers."
    )
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, help="prints only")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds per fit (600)")
    parser.add_argument("--repeats", type=int, default=3, help="times a short fit is timed (3)")
    parser.add_argument("--tables", nargs="+", type=int, choices=(1, 2), default=[1, 2])
    parser.add_argument("--slow", action="store_true", help=f"Table 2 with {', '.join(SLOW)} too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
