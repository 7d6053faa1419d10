"""The kernel perceptron, for [CSS12] Fig. 2 only; it is no SVM and so not in the library.

    for each row i in random order:  if y_i f(x_i) <= 0:  f <- f + y_i K(x_i, .)

Without bias. A step costs one kernel value per support vector: that is what `evaluations` counts.
Rows are taken in blocks, for the speed of matrix products: what the model before the block says of
the block's rows is computed at once, and updates within the block are added as they happen.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.kernel.datasets.base import KernelDataset
from bench.kernel.objective import Expansion, dense, gaussian, pieces

BLOCK = 512  # rows


def perceptron(
    dataset: KernelDataset, epochs: int, seed: int, block: int = BLOCK
) -> Iterator[tuple[int, Expansion]]:
    """Yield (steps so far, model) after every block of rows."""
    rng = np.random.default_rng(seed)
    n = dataset.X.shape[0]
    coef, steps, evaluations = np.zeros(n), 0, 0
    for _ in range(epochs):
        for rows in pieces(rng.permutation(n), block):
            evaluations += take_steps(dataset, coef, rows)
            steps += len(rows)
            support = np.flatnonzero(coef)
            yield steps, Expansion(support, coef[support], 0.0, evaluations)


def take_steps(dataset: KernelDataset, coef: np.ndarray, rows: np.ndarray) -> int:
    """Go through distinct rows once; update `coef` in place; return the kernel evaluations."""
    Z = dense(dataset.X[rows])
    f = np.zeros(len(rows))
    support = np.flatnonzero(coef)
    for few in pieces(support, 4 * BLOCK):
        f += coef[few] @ gaussian(dataset.X[few], Z, dataset.gamma)
    K = gaussian(dataset.X[rows], Z, dataset.gamma)
    n_support, evaluations = len(support), 0
    for k, i in enumerate(rows):
        evaluations += n_support
        if dataset.y[i] * f[k] <= 0.0:
            n_support += coef[i] == 0.0
            coef[i] += dataset.y[i]
            f += dataset.y[i] * K[k]
    return int(evaluations)
