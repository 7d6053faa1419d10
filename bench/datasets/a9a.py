"""Adult in LIBSVM's encoding: 123 binary columns, 14 of them set; lam 1e-4."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from bench.harness.files import cached, open_data
from bench.task import Task

NAME = "a9a"
LAMS = (1e-4,)


def parse(file_name="a9a.xz"):
    with open_data("a9a", file_name) as file:
        X, y = load_svmlight_file(file, n_features=123)
    return csr_array(X), y.astype(np.int64)


def load(lam: float) -> Task:
    X, y = cached(NAME, parse)
    return Task(NAME, X, y, lam, "Adult, income above 50k")
