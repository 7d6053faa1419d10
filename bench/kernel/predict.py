"""Predictions under a Gaussian kernel: python -m bench.kernel.predict.

    python -m bench.kernel.predict                everything; docs/benchmarks/kernel_predict.md
    python -m bench.kernel.predict --only letter  some shapes: ijcnn1, mnist, letter
    python -m bench.kernel.predict --slow         libsvm on MNIST too (it must be fitted first)

`predict` on rows already in the container that the solver is fastest with, best of three; fits are
not timed. The models are each library's own, so support vectors may differ a little.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.kernel.classes import PEERS, ClassSet, letter, mnist
from bench.kernel.solvers import SOLVERS
from bench.ladder import SHORT
from bench.machine import machine
from bench.markdown import table
from bench.results import Results, page_of_parts, parsed, words

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
    results = Results.load(NAME)
    command = f"`PEGASOS_DATA=<folder> python -m bench.kernel.predict {words(arguments)}`"
    names = ("pegasos-auto", "libsvm", "intelex")
    there = [SOLVERS[name] for name in names if SOLVERS[name].version() is not None]
    results.facts = machine(there) | {"command": command}
    for name in options.only.split(",") if options.only else SETS:
        data = SETS[name]()
        asked = [s.name for s in there if s.name != "libsvm" or name != "mnist" or options.slow]
        rows = measured(data, asked, options.repeats)
        shape = f"{data.X_test.shape[0]:,} x {data.X_test.shape[1]}"
        shape += f", {len(np.unique(data.y))} classes"
        results.put(name, {"shape": shape, "rows": rows}, page)
        print(f"{name}: {shape}\n{table(lines(rows))}\n", flush=True)


def measured(data: ClassSet, names: Sequence[str], repeats: int) -> list[dict]:
    """Fit everybody, let them predict in turns, keep the shortest times."""
    models = {name: model_of(name, data) for name in names}
    tests = {name: SOLVERS[name].container(data.X_test) for name in names}
    seconds = dict.fromkeys(names, float("inf"))
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
            "support": len(models[name].support_),
            "seconds": seconds[name],
            "agrees": float(np.mean(labels[name] == own)),
        }
        for name in names
    ]


def model_of(name: str, data: ClassSet) -> Any:
    """Return a fitted model."""
    from pegasos import KernelPegasosClassifier

    kind = PEERS[name]() if name in PEERS else KernelPegasosClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits are not judged here
        return kind(gamma=data.width).fit(SOLVERS[name].container(data.X), data.y)


def lines(rows: Sequence[dict]) -> list[list[str]]:
    """Return the cells of one table."""
    cells = [["solver", "support vectors", "seconds", "ratio", "agrees"]]
    cells.append(["---", *["---:"] * 4])
    ours = rows[0]["seconds"]
    for r in rows:
        ratio = f"{ours / r['seconds']:.2f}" if r is not rows[0] else ""
        cells.append(
            [r["solver"], str(r["support"]), f"{r['seconds']:.3g}", ratio, f"{r['agrees']:.4f}"]
        )
    return cells


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of_parts(results, INTRODUCTION, lines)


def summary(results: Results) -> str:
    """Return the README's table: seconds, a row per shape."""
    names = ("pegasos-auto", "intelex", "libsvm")
    rows = [["rows to predict", *names], ["---", *["---:"] * len(names)]]
    for name, part in results.parts.items():
        by_name = {r["solver"]: r for r in part["rows"]}
        cells = [f"{by_name[n]['seconds']:.3g}" if n in by_name else "-" for n in names]
        support = part["rows"][0]["support"]
        rows.append([f"{name}, {part['shape']}, {support:,} support vectors", *cells])
    return (
        "Predictions, Gaussian kernel, seconds "
        f"(`docs/benchmarks/kernel_predict.md`):\n\n{table(rows)}\n"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.kernel.predict", description="Predictions.")
    parser.add_argument("--slow", action="store_true", help="libsvm on MNIST too")
    parser.add_argument("--repeats", type=int, default=3, help="times a prediction is timed (3)")
    return parsed(parser, arguments, SETS)


if __name__ == "__main__":
    main()
