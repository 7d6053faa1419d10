"""20 newsgroups (LIBSVM counts), all 20 one-vs-rest models: unit-length rows, float32, lam 1e-4.

P is the sum of the 20 objectives, so the relative suboptimality is that of the whole task.
"""

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from bench.harness.files import cached, open_data
from bench.task import Task

NAME = "news20"
LAMS = (1e-4,)


def parse():
    with open_data("news20", "news20.xz") as file:
        X, y = load_svmlight_file(file, n_features=62_061)
    return csr_array(normalize(X).astype(np.float32)), np.unique(y, return_inverse=True)[1]


def load(lam: float) -> Task:
    X, y = cached(NAME, parse)
    return Task(NAME, X, y, lam, "20 newsgroups, one-vs-rest")
