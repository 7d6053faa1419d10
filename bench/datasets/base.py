"""What a dataset is, how its files are read, and the cache of parsed files.

Files come from the folder named by PEGASOS_DATA (xz text, idx or CSV). Parsing text takes longer
than most fits, so the arrays are kept as .npz under .cache/bench in the repository.
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from bench.objective import Matrix

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "bench"


@dataclass(frozen=True)
class Dataset:
    """One training problem: data, labels (-1/+1, or classes 0..K-1) and its lam."""

    name: str
    X: Matrix
    y: NDArray[np.int64]
    lam: float
    note: str = ""

    @property
    def key(self) -> str:
        return f"{self.name} lam={self.lam:g}"

    @property
    def n_models(self) -> int:
        return 1 if self.y.min() < 0 else int(self.y.max()) + 1

    @property
    def stored(self) -> int:
        """Entries that a pass over the rows reads: nonzeros if sparse, all if dense."""
        return int(self.X.nnz if issparse(self.X) else self.X.size)

    @property
    def shape_text(self) -> str:
        n, d = self.X.shape
        kind = "CSR" if issparse(self.X) else "dense"
        models = f", {self.n_models} models" if self.n_models > 1 else ""
        return f"{n:,} x {d:,} {kind} {self.X.dtype}, {self.stored / n:.1f} per row{models}"

    def sample(self, rows: int = 60) -> tuple[Matrix, NDArray[np.int64]]:
        """Return a few rows of every class, in the same container, to warm a solver up."""
        order = np.argsort(self.y, kind="stable")
        _, starts = np.unique(self.y[order], return_index=True)
        each = max(2, rows // len(starts))
        chosen = np.sort(np.concatenate([order[start : start + each] for start in starts]))
        return self.X[chosen], self.y[chosen]


def open_data(*parts: str) -> IO[bytes]:
    """Open a compressed file below PEGASOS_DATA as bytes."""
    root = os.environ.get("PEGASOS_DATA")
    if not root:
        raise FileNotFoundError("Set PEGASOS_DATA to the folder that holds the data sets.")
    return lzma.open(Path(root, *parts), "rb")


def cached(
    name: str, parse: Callable[[], tuple[Matrix, NDArray[np.int64]]]
) -> tuple[Matrix, NDArray[np.int64]]:
    """Return parse(), from the cache when it has been parsed before."""
    path = CACHE / f"{name}.npz"
    if not path.exists():
        X, y = parse()
        path.parent.mkdir(parents=True, exist_ok=True)
        if issparse(X):
            arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        else:
            arrays = {"dense": X}
        unfinished = path.with_suffix(f".{os.getpid()}.npz")
        np.savez(unfinished, y=y, **arrays)
        unfinished.replace(path)
    with np.load(path) as file:
        if "dense" in file:
            return file["dense"], file["y"]
        parts = (file["data"], file["indices"].astype(np.int32), file["indptr"].astype(np.int32))
        return csr_array(parts, shape=tuple(file["shape"])), file["y"]


def checksum(X: Matrix, y: NDArray[np.int64]) -> int:
    """Return a checksum of the stored values, their places and the labels."""
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    crc = zlib.crc32(repr((X.shape, X.dtype)).encode())
    for array in (*arrays, y):
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1), crc)
    return crc
