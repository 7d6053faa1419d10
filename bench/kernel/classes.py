"""Several classes under a Gaussian kernel: python -m bench.kernel.classes.

    python -m bench.kernel.classes                everything; docs/benchmarks/kernel_classes.md
    python -m bench.kernel.classes --only letter  some sets: letter, shuttle, mnist
    python -m bench.kernel.classes --slow         libsvm on MNIST too (minutes)
    python -m bench.kernel.classes --limit 20     seconds per fit (60)

Ours with its defaults (but for gamma on MNIST and the limit) and its certificate; the peers by
`bench.kernel.peers`, the suboptimality being that of all pairs of classes together (`pairs`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.datasets import mnist8
from bench.harness import command
from bench.harness.files import Data, cached, open_data
from bench.harness.fits import fitted, proven_gap
from bench.harness.page import Lines, gap_text, missed, page_of_parts, table, table_of_parts
from bench.harness.results import Results, carry_out
from bench.kernel import peers
from bench.kernel.pairs import Pairs
from bench.ordinary.tables import letter as all_letters

NAME = "kernel_classes"
SHARES = (0.786, 0.155, 0.05, 0.005, 0.002, 0.0015, 0.0005)  # of the seven classes of shuttle
INTRODUCTION = """\
# Several classes, Gaussian kernel

C = 1. Ours with its defaults; scikit-learn's and scikit-learn-intelex's `SVC` with the fastest of
the tolerances 0.1, 0.01 and 0.001 whose true suboptimality, summed over all pairs of classes and
against lower bounds of their optima, is at most 1e-3; if none is, the finest. All may use all cores
(libsvm has one thread). *Ratio*: ours to that row; below 1, ours is faster.
"""
COLUMNS: dict[str, Callable[[dict], str]] = {
    "test error, %": lambda row: f"{row['error']:.2f}",
    "gap (ours: proven)": lambda row: gap_text(row["gap"]),
}


class ClassSet(NamedTuple):
    """Rows with labels of several classes, for training and for testing."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray
    gamma: Any = "scale"

    @property
    def width(self) -> float:
        """The number that gamma="scale" stands for, or gamma itself."""
        if self.gamma == "scale":
            return 1.0 / (self.X.shape[1] * float(self.X.astype(np.float64).var()))
        return float(self.gamma)


def letter() -> ClassSet:
    X, y = all_letters()
    return ClassSet(X[:15_000], y[:15_000], X[15_000:], y[15_000:])


def shuttle(rows: int = 33_000, tests: int = 10_000) -> ClassSet:
    """Draw nine whole-number columns and seven very unequal classes, each of two clusters."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=30.0, size=(len(SHARES), 2, 9))
    shares = np.array(SHARES) / np.sum(SHARES)
    y = rng.choice(len(SHARES), size=rows + tests, p=shares)
    y[: len(SHARES)] = np.arange(len(SHARES))
    spread = rng.uniform(4.0, 20.0, size=9)
    noise = spread * rng.normal(size=(rows + tests, 9))
    X = np.rint(centres[y, rng.integers(0, 2, rows + tests)] + noise)
    return ClassSet(X[:rows], y[:rows], X[rows:], y[rows:])


def mnist() -> ClassSet:
    def parse(part: str) -> Callable[[], Data]:
        def read():
            X, _ = mnist8.parse(part)
            with open_data("mnist", f"{part}-labels-idx1-ubyte.xz") as file:
                return X, np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)

        return read

    train, test = (cached(f"mnist-{part}", parse(part)) for part in ("train", "t10k"))
    return ClassSet(*train, *test, gamma=0.02)


SETS = {"letter": letter, "shuttle": shuttle, "mnist": mnist}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for; the page is written after every set."""
    options = parse(arguments)
    results = command.begun(NAME, peers.there(), options)
    jobs = [(name, partial(one_part, name, options)) for name in command.chosen(SETS, options)]
    carry_out(results, jobs, page, lambda part: table(lines(part["rows"])))


def one_part(name: str, options: argparse.Namespace) -> dict:
    """Measure everybody on one set."""
    data = SETS[name]()
    names = [solver.name for solver in peers.there(name != "mnist" or options.slow)]
    rows = measured(data, names, options.limit, options.repeats)
    return {"shape": shape_text(data, data.X), "rows": rows}


def shape_text(data: ClassSet, X: NDArray) -> str:
    return f"{X.shape[0]:,} x {X.shape[1]}, {len(np.unique(data.y))} classes"


def measured(data: ClassSet, names: Sequence[str], limit: float, repeats: int) -> list[dict]:
    """Measure ours and the peers on one set."""
    judge = Pairs(data.X, data.y, 1.0, data.width)
    rows = []
    if "pegasos-auto" in names:
        from pegasos import KernelPegasosClassifier

        make = lambda: KernelPegasosClassifier(gamma=data.gamma, max_time=limit)  # noqa: E731
        fit = fitted(make, data.X, data.y, repeats)
        rows.append(row("pegasos", "default", fit, data) | {"gap": proven_gap(fit.model)})
    tried = []
    for name in (n for n in names if n in peers.NAMES):
        make = lambda tol, name=name: peers.estimator(name, "SVC")(  # noqa: E731
            gamma=data.width, tol=tol
        )
        found = peers.rows_of_peer(name, make, (data.X, data.y), judge, limit, repeats)
        tried.append([row(name, effort, fit, data) | {"value": v} for effort, fit, v in found])
    return rows + [one for found in tried for one in peers.best_of(found, judge)]


def row(name: str, effort: str, fit: Any, data: ClassSet) -> dict:
    error = 100.0 * float(np.mean(fit.model.predict(data.X_test) != data.y_test))
    return {"solver": name, "effort": effort, "seconds": fit.seconds, "error": error}


def lines(rows: Sequence[dict]) -> Lines:
    """Return the cells of one table."""
    return peers.lines(rows, COLUMNS)


def page(results: Results) -> str:
    """Return the whole document."""
    return page_of_parts(results, INTRODUCTION, lines)


def summary(results: Results) -> str:
    """Return the README's table: seconds and test error, a row per set."""
    names = ("pegasos", *reversed(peers.NAMES))
    return (
        "Several classes, Gaussian kernel: seconds to 1e-3 (ours proven) and test error "
        "(`docs/benchmarks/kernel_classes.md`):\n\n" + table_of_parts(results, "set", names, cell)
    )


def cell(r: dict) -> str:
    return f"{r['seconds']:.3g} s, {r['error']:.2f} %{missed(r['gap'], peers.THRESHOLD)}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench.kernel.classes", __doc__, SETS, 60.0)
    parser.add_argument("--slow", action="store_true", help="libsvm on MNIST too")
    return command.parsed(parser, arguments)


if __name__ == "__main__":
    main()
