"""Adult in LIBSVM's encoding: 123 binary columns, 14 of them set; gamma 0.05, C 1."""

from functools import partial

import numpy as np

from bench.datasets.a9a import parse
from bench.harness.files import cached
from bench.kernel.datasets.base import KernelDataset

NAME = "a9a"
GAMMA = 0.05


def load() -> KernelDataset:
    X, y = cached("a9a", parse)
    X_test, y_test = cached("a9a-test", partial(parse, "a9a.t.xz"))
    return KernelDataset(
        NAME,
        X.astype(np.float32),  # exact: every entry is 1
        y,
        lam=1.0 / len(y),
        note="Adult, income above 50k",
        X_test=X_test.astype(np.float32),
        y_test=y_test,
        gamma=GAMMA,
        is_large=True,
    )
