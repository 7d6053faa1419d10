"""Plain constructors on raw data, as most people begin: python -m bench.ordinary.defaults.

    python -m bench.ordinary.defaults              everything; writes docs/benchmarks/defaults.md
    python -m bench.ordinary.defaults --only wine  some tables
    python -m bench.ordinary.defaults --limit 5    seconds per fit (20)

Nothing is scaled and no parameter given (ours: `max_time`, the limit). 70 % of the rows train.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from bench.datasets.base import cached, open_data
from bench.fits import fitted, fitted_within, gap_text, proven_gap
from bench.machine import machine
from bench.markdown import table
from bench.ordinary.solvers import OURS
from bench.ordinary.tables import Data, cal_housing, diabetes, letter, of_sklearn
from bench.results import Results, facts_text, parsed, words

NAME = "defaults"
SAMPLE = 20_000  # rows of covertype
INTRODUCTION = """\
# Defaults on raw data

Plain constructors, nothing scaled; 70 % of the rows train, the others give accuracy or R^2. *Gap*:
the relative gap that ours proved. *Warnings*: what a user sees. A dash: not done within the limit.

"""


def covtype_sample() -> Data:
    """Return a sample of covertype with all seven classes."""

    def parse() -> Data:
        with open_data("covtype", "covtype.csv.xz") as file:
            file.readline()
            rows = np.loadtxt(file, delimiter=",", dtype=np.float64)
        chosen = np.random.default_rng(0).permutation(len(rows))[:SAMPLE]
        return np.ascontiguousarray(rows[chosen, :-1]), rows[chosen, -1].astype(np.int64)

    return cached("covtype-sample", parse)


TABLES: dict[str, Callable[[], Data]] = {
    "breast_cancer": of_sklearn("breast_cancer"),
    "wine": of_sklearn("wine"),
    "digits": of_sklearn("digits"),
    "letter": letter,
    "covtype": covtype_sample,
    "diabetes": diabetes,
    "cal_housing": cal_housing,
}
REGRESSION = ("diabetes", "cal_housing")
CLASSIFIERS = ("PegasosClassifier", "KernelPegasosClassifier")
REGRESSORS = ("PegasosRegressor", "KernelPegasosRegressor")
PEERS = {
    False: (LinearSVC, LogisticRegression, SVC),
    True: (LinearSVR, SVR),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every table."""
    options = parse(arguments)
    results = Results.load(NAME)
    command = f"`PEGASOS_DATA=<folder> python -m bench.ordinary.defaults {words(arguments)}`"
    results.facts = machine([OURS]) | {"command": command}
    for name in options.only.split(",") if options.only else TABLES:
        X, y = TABLES[name]()
        parts = train_test_split(X, y, test_size=0.3, random_state=0)
        rows = measured(parts, name in REGRESSION, options.limit, options.repeats)
        results.put(name, {"shape": list(parts[0].shape), "rows": rows}, page)
        print(f"{name}\n{table(lines(rows))}\n", flush=True)


def measured(parts: Any, is_regression: bool, limit: float, repeats: int) -> list[dict]:
    """Fit everybody to one table."""
    import pegasos

    X, X_test, y, y_test = parts
    rows = []
    for name in REGRESSORS if is_regression else CLASSIFIERS:
        kind = getattr(pegasos, name)
        fit = fitted(lambda kind=kind: kind(max_time=limit), X, y, repeats)
        score = float(fit.model.score(X_test, y_test))
        rows.append(row(name, fit.seconds, score, fit.warnings, proven_gap(fit.model)))
    for kind in PEERS[is_regression]:
        fit = fitted_within(limit, kind, X, y, repeats)
        if fit is None:
            rows.append(row(kind.__name__, limit, None, []))
            continue
        score = float(fit.model.score(X_test, y_test))
        rows.append(row(kind.__name__, fit.seconds, score, fit.warnings))
    return rows


def row(
    name: str, seconds: float, score: float | None, warned: list[str], gap: float | None = None
) -> dict:
    return {"solver": name, "seconds": seconds, "score": score, "warnings": warned, "gap": gap}


def lines(rows: Sequence[dict]) -> list[list[str]]:
    """Return the cells of one table."""
    head = [["constructor", "seconds", "test score", "gap", "warnings"]]
    head += [["---", "---:", "---:", "---:", "---"]]
    for r in rows:
        if r["score"] is None:
            head.append([f"{r['solver']}()", "-", "-", "-", "-"])
            continue
        said = ", ".join(r["warnings"]) or "none"
        cells = [f"{r['seconds']:.3g}", f"{r['score']:.3f}", gap_text(r["gap"]), said]
        head.append([f"{r['solver']}()", *cells])
    return head


def page(results: Results) -> str:
    """Return the whole document."""
    pieces = [INTRODUCTION + "Where and how:\n", facts_text(results), ""]
    for name, part in results.parts.items():
        n, d = part["shape"]
        pieces.append(f"## {name}, {n:,} x {d:,}\n\n{table(lines(part['rows']))}\n")
    return "\n".join(pieces)


def summary(results: Results) -> str:
    """Return the README's table: seconds and test score, a row per table."""
    names = list(dict.fromkeys(r["solver"] for p in results.parts.values() for r in p["rows"]))
    rows = [["table", *(f"`{name}()`" for name in names)], ["---", *["---:"] * len(names)]]
    for name, part in results.parts.items():
        by_name = {r["solver"]: r for r in part["rows"]}
        rows.append([name, *(short(by_name.get(n)) for n in names)])
    return (
        "Plain constructors on raw data: seconds, test accuracy or R^2 (!: with a warning; "
        f"`docs/benchmarks/defaults.md`):\n\n{table(rows)}\n"
    )


def short(r: dict | None) -> str:
    if r is None or r["score"] is None:
        return "-" if r else ""
    return f"{r['seconds']:.2g} s, {r['score']:.3f}{' !' if r['warnings'] else ''}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.ordinary.defaults", description="Defaults.")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per fit (20)")
    parser.add_argument("--repeats", type=int, default=3, help="times a short fit is timed (3)")
    return parsed(parser, arguments, TABLES)


if __name__ == "__main__":
    main()
