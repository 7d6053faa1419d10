"""C from 1e-3 to 1e4 in decades, each fit cold and with our defaults: python -m bench.sweep.

python -m bench.sweep                     everything; writes docs/benchmarks/sweep.md
python -m bench.sweep --only a9a          some sets: a9a, mnist8, textlike
python -m bench.sweep --limit 5           seconds per fit, as max_time (20)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from bench.fits import fitted, gap_text, proven_gap
from bench.machine import machine
from bench.markdown import table
from bench.ordinary.solvers import OURS
from bench.ordinary.tables import TABLES, Data
from bench.results import Results, facts_text, parsed, words

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
    results = Results.load(NAME)
    command = f"`PEGASOS_DATA=<folder> python -m bench.sweep {words(arguments)}`"
    results.facts = machine([OURS]) | {"command": command}
    for name in options.only.split(",") if options.only else SETS:
        X, y = SETS[name]()
        for C in DECADES:
            part = one_fit(X, y, C, options.limit, options.repeats)
            results.put(f"{name} {C:g}", part | {"set": name, "shape": list(X.shape)}, page)
            print(name, part, flush=True)


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
    pieces = [INTRODUCTION + summary_table(results), "\nWhere and how:\n", facts_text(results), ""]
    for name in sets_of(results):
        rows = [["C", "seconds", "epochs", "proven gap", "warnings"], ["---:"] * 4 + ["---"]]
        parts = of_set(results, name)
        for p in parts:
            gap, said = gap_text(p["gap"]), ", ".join(p["warnings"]) or "none"
            rows.append([f"{p['C']:g}", f"{p['seconds']:.3g}", str(p["epochs"]), gap, said])
        n, d = parts[0]["shape"]
        pieces.append(f"## {name}, {n:,} x {d:,}\n\n{table(rows)}\n")
    return "\n".join(pieces)


def summary(results: Results) -> str:
    """Return the README's table."""
    return (
        "C from 1e-3 to 1e4 in decades, every fit cold and with the defaults (seconds; in brackets "
        "the proven gap where it is above 1e-3; `docs/benchmarks/sweep.md`):\n\n"
        f"{summary_table(results)}"
    )


def summary_table(results: Results) -> str:
    """Return seconds by C, a row per set, and how many times slower the slowest is."""
    rows = [["set", *(f"C={C:g}" for C in DECADES), "slowest / fastest"]]
    rows.append(["---", *["---:"] * (len(DECADES) + 1)])
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
    parser = argparse.ArgumentParser("python -m bench.sweep", description="C in decades, cold.")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per fit (20)")
    parser.add_argument("--repeats", type=int, default=3, help="times a fit is timed (3)")
    return parsed(parser, arguments, SETS)


if __name__ == "__main__":
    main()
