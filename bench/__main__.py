"""The command line: python -m bench [--quick] [--only a,b] [--limit SECONDS] [--readme]."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from threadpoolctl import threadpool_limits

import bench
from bench import linear, readme
from bench.datasets import DATASETS
from bench.harness import command
from bench.harness.results import carry_out
from bench.solvers import SOLVERS

QUICK = ("a9a", "reuters")
QUICK_LIMIT = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every dataset, if all solvers take part."""
    options = parse(arguments)
    if options.readme:
        print(f"Refreshed in README.md: {', '.join(readme.refresh()) or 'nothing'}.")
        return
    names = command.chosen(SOLVERS, options)
    solvers = command.installed(SOLVERS[name] for name in names)
    keys = [f"{name} lam={lam:g}" for name in datasets(options) for lam in DATASETS[name].LAMS]
    jobs = [(key, partial(linear.measured, key, solvers, options)) for key in keys]
    results = command.begun(linear.NAME, solvers, options)
    is_kept = not options.quick and len(names) == len(SOLVERS)
    with threadpool_limits(1):
        carry_out(results, jobs, linear.page, linear.section, is_kept)
    if is_kept:
        print(f"Wrote {results.page}. To refresh README.md: python -m bench --readme")


def datasets(options: argparse.Namespace) -> list[str]:
    """Return the names of the datasets asked for."""
    found = command.chosen(DATASETS, options)
    return list(QUICK) if options.quick and len(found) == len(DATASETS) else found


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench", bench.__doc__, [*DATASETS, *SOLVERS], 60.0)
    parser.add_argument("--quick", action="store_true", help="small sets, short fits; prints only")
    parser.add_argument("--readme", action="store_true", help="refresh README.md and end")
    options = command.parsed(parser, arguments)
    if options.quick:
        options.limit, options.repeats = min(options.limit, QUICK_LIMIT), 1
    return options


if __name__ == "__main__":
    main()
