"""USPS, digit 8 against the rest: rows of unit length, dense float32; gamma 2, lam 1.36e-4.

The standard split, 7291 and 2007 rows. [SSSC11] has 7329 and 1969: its test errors are not ours.
"""

from functools import partial

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from bench.harness.files import cached, open_data
from bench.kernel.datasets.base import KernelDataset

NAME = "usps8"
GAMMA, LAM = 2.0, 1.36e-4


def parse(file_name="usps.libsvm.xz"):
    with open_data("usps", file_name) as file:
        X, digit = load_svmlight_file(file, n_features=256)
    return normalize(X.toarray()).astype(np.float32), np.where(digit == 8, 1, -1)


def load() -> KernelDataset:
    X, y = cached("usps8", parse)
    X_test, y_test = cached("usps8-test", partial(parse, "usps.t.libsvm.xz"))
    note = "USPS digit 8 vs rest, rows of unit length"
    return KernelDataset(NAME, X, y, LAM, note, X_test=X_test, y_test=y_test, gamma=GAMMA)
