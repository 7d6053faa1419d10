"""The papers' data sets by name, with a training and a test part.

What cannot be had has a stand-in, named as such wherever it is shown (`Split.label`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import cov1 as covertype
from bench.harness.files import MissingData, cached
from bench.kernel.datasets import DATASETS as KERNEL_SETS
from papers.harness.report import Scale
from pegasos.data.textlike import textlike

__all__ = ["MissingData", "Split", "adult", "astro_ph", "ccat", "cov1", "kernel_set"]

Matrix = Any  # ndarray or csr_array


@dataclass(frozen=True)
class Split:
    """Rows and labels (-1, +1) to train on and to test on."""

    name: str
    X: Matrix
    y: NDArray[np.int64]
    X_test: Matrix
    y_test: NDArray[np.int64]
    note: str = ""
    stands_in_for: str = ""

    @property
    def label(self) -> str:
        """The name as tables and figures show it."""
        return f"{self.name} (for {self.stands_in_for})" if self.stands_in_for else self.name

    @property
    def n(self) -> int:
        return len(self.y)

    def few(self, rows: int, test_rows: int | None = None) -> Split:
        """Return a split with some rows and some test rows, chosen once at random."""
        X, y = some(self.X, self.y, rows)
        X_test, y_test = some(self.X_test, self.y_test, test_rows or len(self.y_test))
        words = [f"{len(y):,} of its {self.n:,} rows"] if len(y) < self.n else []
        note = "; ".join([self.note, *words])
        return replace(self, X=X, y=y, X_test=X_test, y_test=y_test, note=note)


def some(X: Matrix, y: NDArray[np.int64], rows: int) -> tuple[Matrix, NDArray[np.int64]]:
    """Return so many rows, chosen at random and in their order; all if there are no more."""
    if rows >= len(y):
        return X, y
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return X[chosen], y[chosen]


@cache
def text_rows(n: int, n_test: int, d: int, nonzeros: float, seed: int) -> Split:
    """Return generated text-like rows."""
    name = f"papers-text-{n + n_test}-{d}-{nonzeros:g}-{seed}"
    make = lambda: textlike(n + n_test, d, nonzeros=nonzeros, random_state=seed)  # noqa: E731
    X, y = cached(name, make)
    return Split("text-like rows", X[:n], y[:n], X[n:], y[n:], "generated")


def astro_ph(scale: Scale) -> Split:
    """astro-ph: 29,882 / 32,487 x 99,757, 0.08 % filled. Not at hand: text-like rows so shaped."""
    split = text_rows(29_882, scale.pick(8_000, 32_487), 99_757, 80.0, 1)
    return replace(split, stands_in_for="astro-ph")


def ccat(scale: Scale) -> Split:
    """CCAT of RCV1: 781,265 / 23,149 x 47,236, 0.16 %. Not at hand: text-like rows so shaped."""
    split = text_rows(scale.pick(100_000, 781_265), 23_149, 47_236, 76.0, 2)
    return replace(split, stands_in_for="CCAT")


@cache
def covertype_rows() -> tuple[Matrix, NDArray[np.int64]]:
    """Return covertype as the file has it, shuffled; class 1 against the rest."""

    def parse() -> Any:
        X, kind = covertype.sample(None)
        return X.astype(np.float32), np.where(kind == 1, 1, -1)

    return cached("papers-covertype", parse)


@cache
def whole_cov1() -> Split:
    X, y = covertype_rows()
    X, n = covertype.in_unit_range(X), covertype.TRAINING_ROWS
    note = "covertype class 1 vs rest, columns in [0, 1]"
    return Split("cov1", X[:n], y[:n], X[n:], y[n:], note)


def cov1(scale: Scale) -> Split:
    """cov1: 522,911 / 58,101 x 54; the paper's split is not known, ours is a fixed permutation."""
    return whole_cov1().few(scale.pick(67_000, 10**9), scale.pick(10_000, None))


@cache
def whole_kernel_set(name: str) -> Split:
    data = KERNEL_SETS[name].load()
    titles = {"money-fx": "Reuters", "a9a": "Adult", "usps8": "USPS", "mnist8": "MNIST"}
    return Split(titles[name], data.X, data.y, data.X_test, data.y_test, data.note)


def kernel_set(name: str, rows: int, test_rows: int | None = None) -> Split:
    """Return one of the sets of the LASVM page: money-fx, a9a, usps8, mnist8."""
    return whole_kernel_set(name).few(rows, test_rows)


def adult(rows: int = 10**9) -> Split:
    """Return Adult (a9a), 32,561 / 16,281 x 123."""
    return kernel_set("a9a", rows)
