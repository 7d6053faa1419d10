"""The command line that all benchmarks have, and where and with what they ran.

--only a,b (or: a b), --limit SECONDS per fit, --repeats K, --anew; a benchmark may add others.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from bench.harness.competitor import Competitor, Package
from bench.harness.results import Results


def parser(
    module: str,
    description: str | None,
    known: Iterable[str],
    limit: float,
    takes: Sequence[str] = ("repeats", "anew"),
) -> argparse.ArgumentParser:
    """Return a parser of --only (with the names `known`), --limit, and what else it `takes`."""
    known = list(known)
    parser = argparse.ArgumentParser(
        f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", help=f"some of: {', '.join(known)}")
    parser.add_argument("--limit", type=float, default=limit, help=f"seconds per fit ({limit:g})")
    if "repeats" in takes:
        parser.add_argument("--repeats", type=int, default=3, help="times a short fit is timed (3)")
    if "anew" in takes:
        parser.add_argument("--anew", action="store_true", help="begin the page with these parts")
    parser.set_defaults(module=module, known=known)
    return parser


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse; `only` becomes a list of names, empty if everything is asked for."""
    options = parser.parse_args(arguments)
    options.only = [name for words in options.only or () for name in words.split(",") if name]
    known = options.known or options.only  # no list: the benchmark has a rule of its own
    unknown = [name for name in options.only if name not in known]
    if unknown:
        parser.error(f"--only knows {', '.join(options.known)}; got {', '.join(unknown)}.")
    words = sys.argv[1:] if arguments is None else arguments
    options.command = " ".join(["PEGASOS_DATA=<folder> python -m", options.module, *words])
    return options


def chosen(names: Iterable[str], options: argparse.Namespace) -> list[str]:
    """Return those of the names that --only has, or all of them."""
    names = list(names)
    return [name for name in names if name in options.only] or names


def installed(solvers: Iterable[Competitor]) -> list[Competitor]:
    """Return the solvers that are there; name the others."""
    there = []
    for solver in solvers:
        if solver.version() is not None:
            there.append(solver)
        else:
            print(f"{solver.name} is left out: {solver.package} is not installed or has no such.")
    return there


def begun(name: str, solvers: Iterable[Package], options: argparse.Namespace) -> Results:
    """Return what earlier runs kept, with the facts of this one."""
    results = Results.load(name)
    results.writes_page |= options.anew or not options.only
    if not results.writes_page:
        print(f"{results.page} is left as it is: the results behind it are not here (--anew).")
    results.facts = machine(solvers) | {"command": f"`{options.command}`"}
    for fact, value in results.facts.items():
        print(f"{fact}: {value}", flush=True)
    return results


def machine(solvers: Iterable[Package]) -> dict[str, str]:
    """Return the facts that a reader needs to repeat the numbers."""
    packages = {s.package: s.version() for s in solvers}
    packages |= {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {
        "date": date.today().isoformat(),
        "processor": f"{processor()}, {os.cpu_count()} cores seen",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {number}" for name, number in sorted(packages.items())),
    }


def processor() -> str:
    """Return the processor's name, as the kernel gives it where it does."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
