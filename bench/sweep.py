"""C from 1e-3 to 1e4 in decades, each fit cold and with our defaults: python -m bench.sweep.

python -m bench.sweep                     everything; writes docs/benchmarks/sweep.md
python -m bench.sweep --only a9a          some sets: a9a, mnist8, textlike
python -m bench.sweep --limit 5           seconds per fit, as max_time (20)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from bench.harness import command
from bench.harness.files import Data
from bench.harness.fits import fitted, proven_gap
from bench.harness.page import gap_text, head, number, shape_text, table
from bench.harness.page import page as page_of
from bench.harness.results import Results, carry_out
from bench.ordinary.solvers import OURS
from bench.ordinary.tables import TABLES

NAME = "sweep"
DECADES = tuple(10.0**k for k in range(-3, 5))
TEXT_ROWS = 50_000
TOL = 1e-3  # the default
INTRODUCTION = """\
# C over seven decades

`PegasosClassifier(C=C)`, cold, everything else at its default: hinge loss, free bias, tol 1e-3, all
cores; only `max_time` is set. Best of three.

"""


def textlike() -> Data:
    from pegasos.data.textlike import textlike

    return textlike(TEXT_ROWS, 47_236, random_state=0)


SETS: dict[str, Callable[[], Data]] = {
    "a9a": TABLES["a9a"].load,
    "mnist8": TABLES["mnist8-unit"].load,
    "textlike": textlike,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every fit."""
    options = parse(arguments)
    results = command.begun(NAME, [OURS], options)
    carry_out(results, jobs(options), page, str)


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the fits asked for, each set loaded once."""
    for name in command.chosen(SETS, options):
        X, y = SETS[name]()
        known = {"set": name, "shape": list(X.shape)}
        for C in DECADES:
            fit = partial(one_fit, X, y, C, options.limit, options.repeats)
            yield f"{name} {C:g}", lambda fit=fit, known=known: fit() | known


def one_fit(X, y, C: float, limit: float, repeats: int) -> dict:
    """Fit with our defaults; return what the page shows."""
    from pegasos import PegasosClassifier

    fit = fitted(lambda: PegasosClassifier(C=C, random_state=0, max_time=limit), X, y, repeats)
    return {
        "C": C,
        "seconds": fit.seconds,
        "epochs": int(np.max(fit.model.n_iter_)),
        "gap": proven_gap(fit.model),
        "warnings": fit.warnings,
    }


def page(results: Results) -> str:
    """Return the whole document."""
    pieces = []
    for name in sets_of(results):
        rows = head("C", "seconds", "epochs", "proven gap", "warnings")
        parts = of_set(results, name)
        for p in parts:
            gap, said = gap_text(p["gap"]), ", ".join(p["warnings"]) or "none"
            rows.append([f"{p['C']:g}", number(p["seconds"]), str(p["epochs"]), gap, said])
        pieces.append(f"## {name}, {shape_text(parts[0]['shape'])}\n\n{table(rows)}\n")
    return page_of(INTRODUCTION + summary_table(results), results, *pieces)


def summary(results: Results) -> str:
    """Return the README's table."""
    return (
        "C from 1e-3 to 1e4 in decades, every fit cold and with the defaults (seconds; in brackets "
        "the proven gap where it is above 1e-3; `docs/benchmarks/sweep.md`):\n\n"
        f"{summary_table(results)}"
    )


def summary_table(results: Results) -> str:
    """Return seconds by C, a row per set, and how many times slower the slowest is."""
    rows = head("set", *(f"C={C:g}" for C in DECADES), "slowest / fastest")
    for name in sets_of(results):
        parts = {p["C"]: p for p in of_set(results, name)}
        seconds = [p["seconds"] for p in parts.values()]
        cells = [cell(parts[C]) if C in parts else "-" for C in DECADES]
        over = "" if all(is_proven(p) for p in parts.values()) else "over "  # some went on
        rows.append([name, *cells, f"{over}{max(seconds) / min(seconds):.1f}"])
    return table(rows) + "\n"


def cell(part: dict) -> str:
    return f"{part['seconds']:.3g}" + ("" if is_proven(part) else f" ({gap_text(part['gap'])})")


def is_proven(part: dict) -> bool:
    return part["gap"] is not None and part["gap"] <= TOL


def sets_of(results: Results) -> list[str]:
    return [name for name in SETS if any(p["set"] == name for p in results.parts.values())]


def of_set(results: Results, name: str) -> list[dict]:
    parts = [p for p in results.parts.values() if p["set"] == name]
    return sorted(parts, key=lambda p: p["C"])


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    return command.parsed(command.parser("bench.sweep", __doc__, SETS, 20.0), arguments)


if __name__ == "__main__":
    main()
