"""What a kernel problem is: a dataset with a test part, the kernel's width and a bias or none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.datasets.base import Dataset
from bench.objective import Matrix


@dataclass(frozen=True, kw_only=True)
class KernelDataset(Dataset):
    """A binary problem (labels -1/+1) under K(x, z) = exp(-gamma ||x - z||^2)."""

    X_test: Matrix
    y_test: NDArray[np.int64]
    gamma: float
    has_bias: bool = True
    is_large: bool = False  # fits of some take minutes: fewer competitors, fewer rungs

    @property
    def key(self) -> str:
        bias = "" if self.has_bias else " no bias"
        return f"{self.name} gamma={self.gamma:g} lam={self.lam:.4g}{bias}"

    @property
    def C(self) -> float:  # noqa: N802 (the paper's letter)
        return 1.0 / (self.lam * self.X.shape[0])

    def few(self, rows: int = 60) -> KernelDataset:
        """Return a small problem in the same container, to warm a solver up."""
        X, y = self.sample(rows)
        return replace(self, X=X, y=y, lam=1.0 / len(y))
