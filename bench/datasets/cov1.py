"""Covertype, class 1 against the rest, as in the Pegasos paper: columns in [0, 1], lam 1e-6.

The paper trains on 522,911 of 581,012 rows; a fixed permutation gives a split of that size.
"""

import numpy as np

from bench.datasets.base import Dataset, cached, open_data

NAME = "cov1"
LAMS = (1e-6,)
TRAINING_ROWS = 522_911


def parse():
    with open_data("covtype", "covtype.csv.xz") as file:
        file.readline()
        table = np.loadtxt(file, delimiter=",", dtype=np.float64)
    X, kind = table[:, :-1], table[:, -1]
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    chosen = np.random.default_rng(0).permutation(len(X))[:TRAINING_ROWS]
    return np.ascontiguousarray(X[chosen]), np.where(kind[chosen] == 1, 1, -1)


def load(lam: float) -> Dataset:
    X, y = cached(NAME, parse)
    return Dataset(NAME, X, y, lam, "covertype class 1 vs rest, columns scaled to [0, 1]")
