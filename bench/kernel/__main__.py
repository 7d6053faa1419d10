"""The command line: python -m bench.kernel [--only a b] [--solvers a b] [--tables 1 2] [--slow]."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial

from threadpoolctl import threadpool_limits

from bench import kernel
from bench.harness import command
from bench.harness.competitor import Competitor
from bench.harness.measure import measure
from bench.harness.memory import measure_fresh
from bench.harness.results import carry_out
from bench.kernel import report
from bench.kernel.datasets import DATASETS, KernelDataset
from bench.kernel.optimum import remembered_optimum
from bench.kernel.solvers import DEFAULT, SOLVERS
from bench.kernel.table2 import SLOW, Row, measure_row

THREADS = 2
ON_LARGE = ("pegasos-auto", "intelex", "libsvm")  # who is asked for minutes; see also Table 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for. A run with all solvers writes files, dataset by dataset."""
    options = parse(arguments)
    solvers = command.installed(SOLVERS[name] for name in options.solvers or DEFAULT)
    results = command.begun(report.NAME, solvers, options)
    if hasattr(os, "sched_setaffinity"):  # for thread pools that ask nobody; children inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    with threadpool_limits(THREADS):
        carry_out(results, jobs(solvers, options), report.page, show, not options.solvers)


def jobs(
    solvers: Sequence[Competitor], options: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the datasets, then the rows of Table 2."""
    names = command.chosen(DATASETS, options)
    for name in names if 1 in options.tables else ():
        yield name, partial(one_part, name, solvers, options)
    for name in names if 2 in options.tables and not options.solvers else ():
        if name not in SLOW or options.slow:
            row = partial(measure_row, name, options.limit)
            yield report.row_key(name), lambda row=row: asdict(row())


def show(part: dict) -> str:
    """Return the table of a part."""
    is_row = "arrivals" in part
    return report.paper_table([Row.from_dict(part)]) if is_row else report.section(part)


def load(name: str) -> KernelDataset:
    return DATASETS[name].load()


def one_part(name: str, solvers: Sequence[Competitor], options: argparse.Namespace) -> dict:
    """Measure everything on one dataset."""
    dataset = load(name)
    print(f"# {dataset.key}: {dataset.shape_text}", flush=True)
    known = remembered_optimum(dataset)
    print(f"P* in {tuple(known.optimum)} by {known.source}", flush=True)
    if dataset.is_large:
        solvers = [s for s in solvers if s.name in ON_LARGE]
    limit = options.limit
    found = measure(dataset, solvers, known.optimum, limit=limit, repeats=options.repeats)
    for result in found:
        rung, takes_minutes = report.typical(result), dataset.is_large and result.solver == "libsvm"
        if rung is not None and not takes_minutes:
            ladder = SOLVERS[result.solver].ladder(limit, dataset.is_large)
            effort = {str(effort): effort for effort in ladder}[rung.effort]
            fresh = measure_fresh("bench.kernel.__main__", name, result.solver, effort)
            result.extra_bytes = fresh.extra_bytes
    return report.part(dataset, known, found, limit)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench.kernel", kernel.__doc__, DATASETS, 600.0)
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, help="prints only")
    parser.add_argument("--tables", nargs="+", type=int, choices=(1, 2), default=[1, 2])
    parser.add_argument("--slow", action="store_true", help=f"Table 2 with {', '.join(SLOW)} too")
    options = command.parsed(parser, arguments)
    if len(set(options.tables)) == 1:
        options.only = options.only or list(DATASETS)  # not everything there is
    return options


if __name__ == "__main__":
    main()
