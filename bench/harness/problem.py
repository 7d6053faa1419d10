"""What a problem is: rows, labels and a penalty, and the judge of models for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse

Floats = NDArray[np.float64]
Matrix = NDArray[np.floating] | csr_array | csr_matrix


@dataclass(frozen=True)
class Problem(ABC):
    """Data with labels -1/+1 or classes 0..K-1 (of a regression: numbers), and lam."""

    name: str
    X: Matrix
    y: NDArray
    lam: float
    note: str = ""

    is_large = False  # fits of some take minutes: fewer competitors, fewer rungs
    is_regression = False

    @abstractmethod
    def judge(self, model: Any) -> dict[str, Any]:
        """Return the objective of a model, recomputed, and whatever else a `Rung` has of it."""

    @property
    def key(self) -> str:
        return f"{self.name} lam={self.lam:g}"

    @property
    def C(self) -> float:  # noqa: N802 (the paper's letter)
        return 1.0 / (self.lam * self.X.shape[0])

    @property
    def n_models(self) -> int:
        return 1 if self.is_regression or self.y.min() < 0 else int(self.y.max()) + 1

    @property
    def stored(self) -> int:
        """Entries that a pass over the rows reads: nonzeros if sparse, all if dense."""
        return int(self.X.nnz if issparse(self.X) else self.X.size)

    @property
    def shape_text(self) -> str:
        n, d = self.X.shape
        kind = f"CSR {self.X.dtype}, {self.stored / n:.1f} per row"
        models = f", {self.n_models} models" if self.n_models > 1 else ""
        return f"{n:,} x {d:,} {kind if issparse(self.X) else f'dense {self.X.dtype}'}{models}"

    def few(self, rows: int = 60) -> Self:
        """Return some rows of every class, to warm a solver up; scaled, so that it ends soon."""
        if self.is_regression:
            chosen = np.arange(min(rows, len(self.y)))
        else:
            order = np.argsort(self.y, kind="stable")
            _, starts = np.unique(self.y[order], return_index=True)
            each = max(2, rows // len(starts))
            chosen = np.sort(np.concatenate([order[start : start + each] for start in starts]))
        X = self.X[chosen]
        X = (X / float(abs(X).max() or 1.0)).astype(X.dtype)  # scipy's division widens
        return replace(self, X=X, y=self.y[chosen], lam=1.0 / len(chosen))
