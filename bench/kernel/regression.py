"""Regression under a Gaussian kernel: python -m bench.kernel.regression.

    python -m bench.kernel.regression                 all; docs/benchmarks/kernel_regression.md
    python -m bench.kernel.regression --only abalone  some sets: cal_housing, abalone
    python -m bench.kernel.regression --limit 20      seconds per fit (60)

Minimised is P(f, b) = 1/2 ||f||^2 + C sum_i max(0, |y_i - f(x_i) - b| - epsilon). For coefficients
-C <= c_i <= C with sum 0 and f = sum_i c_i K(x_i, .), no P is below

    D(c) = sum_i y_i c_i - epsilon sum_i |c_i| - 1/2 ||f||^2

so the coefficients of every fit, made feasible, bound the optimum that all are judged against.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import command
from bench.harness.fits import fitted, proven_gap
from bench.harness.page import Lines, gap_text, missed, page_of_parts, table, table_of_parts
from bench.harness.problem import Floats
from bench.harness.results import Results, carry_out
from bench.kernel import peers
from bench.kernel.datasets.base import KernelDataset
from bench.kernel.objective import scores
from bench.ordinary.tables import abalone, cal_housing, with_scaled_target

NAME = "kernel_regression"
SETS = {"cal_housing": with_scaled_target(cal_housing), "abalone": with_scaled_target(abalone)}
PENALTIES = (1.0, 10.0)
EPSILON = 0.1
INTRODUCTION = """\
# Regression, Gaussian kernel

Columns and target standardised, epsilon 0.1, gamma="scale". Ours with its defaults; the peers'
`SVR` with the fastest of the tolerances 0.1, 0.01 and 0.001 whose true suboptimality is at most
1e-3; if none is, the finest. All may use all cores (libsvm has one thread). *Ratio*: ours to that
row.
"""
COLUMNS: dict[str, Callable[[dict], str]] = {
    "support vectors": lambda row: str(row["support"]),
    "true gap": lambda row: gap_text(row["gap"]),
    "proven": lambda row: gap_text(row["proven"]),
}


class Judge:
    """One problem, and the best lower bound of its optimum seen so far."""

    def __init__(self, X: NDArray, y: NDArray, C: float, gamma: float) -> None:
        self.y, self.C, self.bound = y, C, 0.0
        self.dataset = KernelDataset(
            "regression", X, y, 1.0, X_test=X[:1], y_test=y[:1], gamma=gamma
        )

    def value(self, svm: Any) -> float:
        """Return the objective of a fitted SVR; remember its bound."""
        c = np.bincount(svm.support_, np.ravel(svm.dual_coef_), minlength=len(self.y))
        f = scores(self.dataset, c, self.dataset.X)
        residual = np.abs(self.y - f - float(np.ravel(svm.intercept_)[0]))
        loss = float(np.maximum(0.0, residual - EPSILON).sum())
        self.bound = max(self.bound, self.dual(feasible(c, self.C)))
        return 0.5 * float(c @ f) + self.C * loss

    def dual(self, c: Floats) -> float:
        """Return D."""
        f = scores(self.dataset, c, self.dataset.X, only_where_needed=True)
        return float(self.y @ c - EPSILON * np.abs(c).sum() - 0.5 * (c @ f))

    def suboptimality(self, value: float) -> float:
        return value / self.bound - 1.0 if self.bound > 0.0 else np.inf


def feasible(c: Floats, C: float) -> Floats:
    """Clip coefficients to [-C, C] and scale the heavier side down until they sum to 0."""
    c = np.clip(c, -C, C)
    masses = {sign: float(np.abs(c[sign * c > 0]).sum()) for sign in (-1, 1)}
    heavier = max(masses, key=masses.__getitem__)
    if masses[heavier] > 0.0:
        c[heavier * c > 0] *= masses[-heavier] / masses[heavier]
    return c


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every problem."""
    options = parse(arguments)
    results = command.begun(NAME, peers.there(), options)
    carry_out(results, jobs(options), page, lambda part: table(lines(part["rows"])))


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Yield the problems asked for, each set loaded once."""
    for name in command.chosen(SETS, options):
        X, y = SETS[name]()
        for C in PENALTIES:
            yield f"{name} C={C:g}", partial(one_part, X, y, C, options)


def one_part(X: NDArray, y: NDArray, C: float, options: argparse.Namespace) -> dict:
    """Measure ours and the peers on one problem."""
    from pegasos import KernelPegasosRegressor

    limit, repeats = options.limit, options.repeats
    gamma = 1.0 / (X.shape[1] * float(X.var()))
    judge = Judge(X, y, C, gamma)
    make = lambda: KernelPegasosRegressor(C=C, epsilon=EPSILON, max_time=limit)  # noqa: E731
    fit = fitted(make, X, y, repeats)
    tried = [[row("pegasos", "default", fit, judge.value(fit.model))]]
    for name in (solver.name for solver in peers.there() if solver.name in peers.NAMES):
        make = lambda tol, name=name: peers.estimator(name, "SVR")(  # noqa: E731
            C=C, epsilon=EPSILON, gamma=gamma, tol=tol
        )
        found = peers.rows_of_peer(name, make, (X, y), judge, limit, repeats)
        tried.append([row(name, *one) for one in found])
    rows = [one for found in tried for one in peers.best_of(found, judge)]
    return {"shape": f"{X.shape[0]:,} x {X.shape[1]}", "rows": rows}


def row(name: str, effort: str, fit: Any, value: float) -> dict:
    return {
        "solver": name,
        "effort": effort,
        "seconds": fit.seconds,
        "support": len(fit.model.support_),
        "proven": proven_gap(fit.model),
        "value": value,
    }


def lines(rows: Sequence[dict]) -> Lines:
    """Return the cells of one table."""
    return peers.lines(rows, COLUMNS)


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of_parts(results, INTRODUCTION, lines)


def summary(results: Results) -> str:
    """Return the README's table: seconds, a row per problem."""
    names = ("pegasos", *peers.NAMES)
    return (
        "Regression, Gaussian kernel: seconds to 1e-3, ours proven "
        "(`docs/benchmarks/kernel_regression.md`):\n\n"
        + table_of_parts(results, "set", names, cell)
    )


def cell(r: dict) -> str:
    gap = r["proven"] if r["solver"] == "pegasos" else r["gap"]
    return f"{r['seconds']:.3g}{missed(gap, peers.THRESHOLD)}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    return command.parsed(command.parser("bench.kernel.regression", __doc__, SETS, 60.0), arguments)


if __name__ == "__main__":
    main()
