"""Plain constructors on raw data, as most people begin: python -m bench.ordinary.defaults.

    python -m bench.ordinary.defaults              everything; writes docs/benchmarks/defaults.md
    python -m bench.ordinary.defaults --only wine  some tables
    python -m bench.ordinary.defaults --limit 5    seconds per fit (20)

Nothing is scaled and no parameter given (ours: `max_time`, the limit). 70 % of the rows train.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from bench.datasets import cov1
from bench.harness import command
from bench.harness.files import Data, cached
from bench.harness.fits import fitted, fitted_within, proven_gap
from bench.harness.page import Lines, gap_text, head, number, page_of_parts, table
from bench.harness.results import Results, carry_out
from bench.ordinary.solvers import OURS
from bench.ordinary.tables import cal_housing, diabetes, letter, of_sklearn

NAME = "defaults"
SAMPLE = 20_000  # rows of covertype
INTRODUCTION = """\
# Defaults on raw data

Plain constructors, nothing scaled; 70 % of the rows train, the others give accuracy or R^2. *Gap*:
the relative gap that ours proved. *Warnings*: what a user sees. A dash: not done within the limit.
"""


def covtype_sample() -> Data:
    """Return a sample of covertype with all seven classes."""
    return cached("covtype-sample", partial(cov1.sample, SAMPLE))


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
    results = command.begun(NAME, [OURS], options)
    names = command.chosen(TABLES, options)
    jobs = [(name, partial(one_part, name, options)) for name in names]
    carry_out(results, jobs, page, lambda part: table(lines(part["rows"])))


def one_part(name: str, options: argparse.Namespace) -> dict:
    """Measure everybody on one table."""
    parts = train_test_split(*TABLES[name](), test_size=0.3, random_state=0)
    rows = measured(parts, name in REGRESSION, options.limit, options.repeats)
    return {"shape": list(parts[0].shape), "rows": rows}


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


def lines(rows: Sequence[dict]) -> Lines:
    """Return the cells of one table."""
    cells = head("constructor", "seconds", "test score", "gap")
    cells = [[*cells[0], "warnings"], [*cells[1], "---"]]
    for r in rows:
        if r["score"] is None:
            cells.append([f"{r['solver']}()", "-", "-", "-", "-"])
            continue
        said = ", ".join(r["warnings"]) or "none"
        numbers = [number(r["seconds"]), number(r["score"], ".3f"), gap_text(r["gap"])]
        cells.append([f"{r['solver']}()", *numbers, said])
    return cells


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of_parts(results, INTRODUCTION, lines)


def summary(results: Results) -> str:
    """Return the README's table: seconds and test score, a row per table."""
    names = list(dict.fromkeys(r["solver"] for p in results.parts.values() for r in p["rows"]))
    rows = head("table", *(f"`{name}()`" for name in names))
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
    parser = command.parser("bench.ordinary.defaults", __doc__, TABLES, 20.0)
    return command.parsed(parser, arguments)


if __name__ == "__main__":
    main()
