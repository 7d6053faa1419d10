"""Run experiments: each prints its progress, and its block of the page is written when it ends."""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Sequence
from datetime import date
from importlib import import_module

from bench.harness.command import processor
from papers import PAPERS
from papers.harness.data import MissingData
from papers.harness.page import publish
from papers.harness.report import Report, Scale


def experiments() -> list[str]:
    """Return all experiments, "paper.name", in the papers' order."""
    return [f"{paper}.{name}" for paper, (_, names) in PAPERS.items() for name in names]


def chosen(only: Sequence[str]) -> list[str]:
    """Return the experiments asked for: papers, or experiments of papers."""
    known = experiments()
    for wish in only:
        if not any(one == wish or one.startswith(f"{wish}.") for one in known):
            raise SystemExit(f"There is no {wish!r}; there are: {', '.join([*PAPERS, *known])}.")
    return [
        one for one in known if not only or any(f"{one}.".startswith(f"{wish}.") for wish in only)
    ]


def perform(experiment: str, scale: Scale) -> None:
    """Run one experiment and publish what it found."""
    paper, name = experiment.split(".")
    module = import_module(f"papers.{experiment}")
    print(f"{experiment}: {module.TITLE}", flush=True)
    report, start, used = Report(module.CLAIMS), time.perf_counter(), time.process_time()
    module.run(scale, report)
    report.check_complete()
    report.figures = [(one, f"{words} ({scale.name} run)") for one, words in report.figures]
    seconds, used = time.perf_counter() - start, time.process_time() - used
    seeds = 1 if getattr(module, "ONE_SEED", False) else len(scale.seeds)
    facts = (
        f"`python -m papers.{experiment}{' --full' if scale.is_full else ''}`: {scale.name}, "
        f"{seeds} seed(s), {used:.0f} CPU s, {processor()}, {date.today().isoformat()}."
    )
    path = publish(paper, name, module, report, facts)
    print(f"    {seconds:.1f} s, CPU {used:.1f} s; wrote {path}", flush=True)


def alone(name: str, arguments: Sequence[str] | None = None) -> None:
    """Run the experiment whose module has this name: what a file does when it is run alone."""
    parser = argparse.ArgumentParser(f"python -m {name}")
    parser.add_argument("--full", action="store_true", help="all sizes and seeds")
    options = parser.parse_args(arguments)
    try:
        perform(name.removeprefix("papers."), Scale(options.full))
    except MissingData as missing:
        raise SystemExit(str(missing)) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all experiments, or some; at the end name those that failed."""
    parser = argparse.ArgumentParser("python -m papers")
    parser.add_argument("--full", action="store_true", help="all sizes and seeds (hours)")
    parser.add_argument("--only", nargs="+", default=[], help="papers or experiments")
    options = parser.parse_args(arguments)
    start, failed = time.perf_counter(), []
    for experiment in chosen(options.only):
        try:
            perform(experiment, Scale(options.full))
        except MissingData as missing:
            failed.append(f"{experiment}: {missing}")
            print(f"    {missing}", flush=True)
        except Exception as error:  # the others are still worth running
            failed.append(f"{experiment}: {type(error).__name__}: {error}")
            traceback.print_exc()
    print(f"{time.perf_counter() - start:.0f} s in all.")
    if failed:
        raise SystemExit("Failed:\n" + "\n".join(failed))
