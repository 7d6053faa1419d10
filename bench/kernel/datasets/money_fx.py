"""Reuters, topic money-fx, the split of the LASVM page: CSR float32; gamma 1, lam 1.29e-4."""

from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from bench.harness.files import cached, open_data
from bench.kernel.datasets.base import KernelDataset

NAME = "money-fx"
GAMMA, LAM = 1.0, 1.29e-4


def parse(part="trn"):
    with open_data("reuters_money-fx", f"reuters_money-fx.{part}.xz") as file:
        X, y = load_svmlight_file(file, n_features=8315)
    return csr_array(X.astype(np.float32)), y.astype(np.int64)


def load() -> KernelDataset:
    X, y = cached("money-fx", parse)
    X_test, y_test = cached("money-fx-test", partial(parse, "tst"))
    note = "Reuters-21578, money-fx vs rest"
    return KernelDataset(NAME, X, y, LAM, note, X_test=X_test, y_test=y_test, gamma=GAMMA)
