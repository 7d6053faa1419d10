"""Predictions under a Gaussian kernel: python -m bench.kernel.predict.

    python -m bench.kernel.predict                everything; docs/benchmarks/kernel_predict.md
    python -m bench.kernel.predict --only letter  some shapes: ijcnn1, mnist, letter
    python -m bench.kernel.predict --slow         libsvm on MNIST too (it must be fitted first)
    python -m bench.kernel.predict --limit 20     seconds per fit (60); who takes longer is left out

`predict` on rows already in the container that the solver is fastest with, best of three; fits are
not timed. The models are each library's own, so support vectors may differ a little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.harness import command
from bench.harness.fits import fitted_within, timed_fit
from bench.harness.ladder import SHORT
from bench.harness.page import Lines, head, number, page_of_parts, table
from bench.harness.results import Results, carry_out
from bench.kernel import peers
from bench.kernel.classes import ClassSet, letter, mnist, shape_text
from bench.kernel.solvers import SOLVERS

NAME = "kernel_predict"
IJCNN1 = (91_701, 5_609, 22)  # rows, support vectors, columns
MNIST_ROWS = 10_000  # of the training part: predictions are timed, not fits
INTRODUCTION = """\
# Predictions, Gaussian kernel

Seconds of `predict`, best of three, on all cores (libsvm has one thread). *Ratio*: ours to that
row. *Agrees*: the share of rows with the label that ours predicts.
"""


def ijcnn1() -> ClassSet:
    """Draw rows of ijcnn1's shape with labels by chance and a kernel so narrow that all support."""
    tests, rows, columns = IJCNN1
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + tests, columns)).astype(np.float32)
    y = rng.integers(0, 2, rows + tests)
    return ClassSet(X[:rows], y[:rows], X[rows:], y[rows:], gamma=0.3)


def mnist_part() -> ClassSet:
    data = mnist()
    return data._replace(X=data.X[:MNIST_ROWS], y=data.y[:MNIST_ROWS])


SETS = {"ijcnn1": ijcnn1, "mnist": mnist_part, "letter": letter}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every shape."""
    options = parse(arguments)
    results = command.begun(NAME, peers.there(), options)
    jobs = [(name, partial(one_part, name, options)) for name in command.chosen(SETS, options)]
    carry_out(results, jobs, page, lambda part: table(lines(part["rows"])))


def one_part(name: str, options: argparse.Namespace) -> dict:
    """Let everybody predict one set."""
    data = SETS[name]()
    names = [solver.name for solver in peers.there(name != "mnist" or options.slow)]
    rows = measured(data, names, options.repeats, options.limit)
    return {"shape": shape_text(data, data.X_test), "rows": rows}


def measured(
    data: ClassSet, names: Sequence[str], repeats: int, limit: float = np.inf
) -> list[dict]:
    """Fit everybody, let them predict in turns, keep the shortest times."""
    models = {name: model_of(name, data, limit) for name in names}
    models = {name: model for name, model in models.items() if model is not None}
    tests = {name: SOLVERS[name].container(data.X_test) for name in models}
    seconds = dict.fromkeys(models, float("inf"))
    labels: dict[str, Any] = {}
    for _ in range(repeats):
        for name, model in models.items():
            if SHORT <= seconds[name] < float("inf"):
                continue
            start = time.perf_counter()
            labels[name] = model.predict(tests[name])
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    own = labels[names[0]]
    return [
        {
            "solver": name,
            "support": len(model.support_),
            "seconds": seconds[name],
            "agrees": float(np.mean(labels[name] == own)),
        }
        for name, model in models.items()
    ]


def model_of(name: str, data: ClassSet, limit: float) -> Any:
    """Return a fitted model, or None if a fit that can be ended took longer than the limit."""
    X, y = SOLVERS[name].container(data.X), data.y
    if name in peers.NAMES:
        make = partial(peers.estimator(name, "SVC"), gamma=data.width)
    else:
        from pegasos import KernelPegasosClassifier

        make = partial(KernelPegasosClassifier, gamma=data.width, max_time=limit)
    if not SOLVERS[name].survives_a_fork:
        return timed_fit(make(), X, y).model
    fit = fitted_within(limit, make, X, y, repeats=1)
    return None if fit is None else fit.model


def lines(rows: Sequence[dict]) -> Lines:
    """Return the cells of one table."""
    cells = head("solver", "support vectors", "seconds", "ratio", "agrees")
    ours = rows[0]["seconds"]
    for r in rows:
        ratio = f"{ours / r['seconds']:.2f}" if r is not rows[0] else ""
        numbers = [number(r["seconds"]), ratio, f"{r['agrees']:.4f}"]
        cells.append([r["solver"], str(r["support"]), *numbers])
    return cells


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of_parts(results, INTRODUCTION, lines)


def summary(results: Results) -> str:
    """Return the README's table: seconds, a row per shape."""
    names = ("pegasos-auto", *peers.NAMES)
    rows = head("rows to predict", *names)
    for name, part in results.parts.items():
        seconds = {r["solver"]: r["seconds"] for r in part["rows"]}
        support = part["rows"][0]["support"]
        title = f"{name}, {part['shape']}, {support:,} support vectors"
        rows.append([title, *(number(seconds.get(n)) for n in names)])
    return (
        "Predictions, Gaussian kernel, seconds "
        f"(`docs/benchmarks/kernel_predict.md`):\n\n{table(rows)}\n"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench.kernel.predict", __doc__, SETS, 60.0)
    parser.add_argument("--slow", action="store_true", help="libsvm on MNIST too")
    return command.parsed(parser, arguments)


if __name__ == "__main__":
    main()
