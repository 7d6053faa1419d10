"""MNIST, digit 8 against the rest: pixels / 255, dense float32; gamma 0.02, lam 1.67e-5."""

from functools import partial

from bench.datasets.mnist8 import parse
from bench.harness.files import cached
from bench.kernel.datasets.base import KernelDataset

NAME = "mnist8"
GAMMA, LAM = 0.02, 1.67e-5


def load() -> KernelDataset:
    X, y = cached("mnist8", parse)
    X_test, y_test = cached("mnist8-test", partial(parse, "t10k"))
    note = "MNIST digit 8 vs rest"
    return KernelDataset(
        NAME, X, y, LAM, note, X_test=X_test, y_test=y_test, gamma=GAMMA, is_large=True
    )
