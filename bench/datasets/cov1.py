"""Covertype, class 1 against the rest, as in the Pegasos paper: columns in [0, 1], lam 1e-6.

The paper trains on 522,911 of 581,012 rows; a fixed permutation gives a split of that size.
"""

import numpy as np

from bench.harness.files import cached, numbers
from bench.task import Task

NAME = "cov1"
LAMS = (1e-6,)
TRAINING_ROWS = 522_911


def sample(rows):
    """Return so many rows by chance, as the file has them, and their kinds of trees."""
    table = numbers("covtype", "covtype.csv.xz")
    chosen = np.random.default_rng(0).permutation(len(table))[:rows]
    return np.ascontiguousarray(table[chosen, :-1]), table[chosen, -1].astype(np.int64)


def in_unit_range(X):
    """Return columns scaled to [0, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1.0))


def parse():
    X, kind = sample(None)
    X = in_unit_range(X)[:TRAINING_ROWS]  # the range of all rows
    return np.ascontiguousarray(X), np.where(kind[:TRAINING_ROWS] == 1, 1, -1)


def load(lam: float) -> Task:
    X, y = cached(NAME, parse)
    return Task(NAME, X, y, lam, "covertype class 1 vs rest, columns scaled to [0, 1]")
