"""The command line: python -m bench [--quick] [--only a,b] [--limit SECONDS] [--readme]."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from bench import readme, report
from bench.datasets import DATASETS
from bench.fresh import measure_fresh
from bench.machine import machine
from bench.measure import measure
from bench.optimum import remembered_optimum
from bench.solvers import SOLVERS, Solver

QUICK_DATASETS = ("a9a", "reuters")
QUICK_LIMIT = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for. A full run writes files; one of some datasets replaces their part."""
    options = parse(arguments)
    if options.readme:
        print(f"Refreshed in README.md: {', '.join(readme.refresh()) or 'nothing'}.")
        return
    datasets, solvers = chosen(options.only, options.quick)
    limit = QUICK_LIMIT if options.quick else options.limit
    repeats = 1 if options.quick else 3
    sections = []
    with threadpool_limits(1):
        for name in datasets:
            for lam in DATASETS[name].LAMS:
                sections.append(one_section(name, lam, solvers, limit, repeats))
                print("\n" + report.section_table(sections[-1]), flush=True)
    facts = machine(solvers)
    if options.quick or len(solvers) < len(SOLVERS):
        print("\n".join(f"{name}: {fact}" for name, fact in facts.items()))
        return
    if options.only:
        sections = report.merged(sections)
    report.save(sections, facts, limit)
    report.PAGE.parent.mkdir(parents=True, exist_ok=True)
    report.PAGE.write_text(report.page(sections, facts, limit))
    print(f"Wrote {report.PAGE}. To refresh README.md: python -m bench --readme")


def one_section(
    name: str, lam: float, solvers: Sequence[Solver], limit: float, repeats: int
) -> report.Section:
    """Measure everything on one dataset."""
    dataset = DATASETS[name].load(lam)
    print(f"# {dataset.key}: {dataset.shape_text}", flush=True)
    optimum = remembered_optimum(dataset)
    results = measure(dataset, solvers, optimum, limit=limit, repeats=repeats, say=say)
    for result in results:
        result.first_call, result.extra_bytes = measure_fresh(dataset, result.solver)
    return report.Section.of(dataset, optimum, results, limit)


def say(line: str) -> None:
    print(line, flush=True)


def chosen(only: str | None, is_quick: bool) -> tuple[list[str], list[Solver]]:
    """Turn --only into datasets and installed solvers; refuse names that are neither."""
    names = only.split(",") if only else []
    unknown = [name for name in names if name not in DATASETS and name not in SOLVERS]
    if unknown:
        raise SystemExit(
            f"--only knows the datasets {', '.join(DATASETS)} and the solvers "
            f"{', '.join(SOLVERS)}; got {', '.join(unknown)}."
        )
    datasets = [name for name in DATASETS if name in names]
    datasets = datasets or list(QUICK_DATASETS if is_quick else DATASETS)
    wanted = [name for name in SOLVERS if name in names] or list(SOLVERS)
    for name in wanted:
        if SOLVERS[name].version() is None:
            print(f"{name} is left out: {SOLVERS[name].package} is not installed.")
    return datasets, [SOLVERS[name] for name in wanted if SOLVERS[name].version() is not None]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description="Side by side with the peers.")
    parser.add_argument("--only", help="comma-separated datasets and solvers")
    parser.add_argument("--quick", action="store_true", help="small sets, short fits; prints only")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per fit (60)")
    parser.add_argument("--readme", action="store_true", help="refresh README.md and end")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
