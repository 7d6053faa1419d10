"""Where files lie, how data sets are read, and the cache of parsed ones.

Data comes from the folder named by PEGASOS_DATA (xz text, idx or CSV). Parsing text takes longer
than most fits, so the arrays are kept as .npz under .cache/bench in the repository.
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from bench.harness.problem import Matrix

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "bench"
PAGES = ROOT / "docs" / "benchmarks"
Data = tuple[Matrix, NDArray]


class MissingData(FileNotFoundError):
    """A data set that is not where it should be."""


def data_path(*parts: str) -> Path:
    """Return the path of a file below PEGASOS_DATA; if it is not there, say which and where to."""
    root, name = os.environ.get("PEGASOS_DATA"), "/".join(parts)
    if not root:
        raise MissingData(
            f"{name} is needed: set PEGASOS_DATA to the folder that holds the data sets, as in "
            f"PEGASOS_DATA=/path/to/data; it is looked for in $PEGASOS_DATA/{name}."
        )
    path = Path(root, *parts)
    if not path.is_file():
        raise MissingData(f"{name} is missing: put it at {path} (PEGASOS_DATA is {root}).")
    return path


def open_data(*parts: str) -> IO[bytes]:
    """Open a compressed file below PEGASOS_DATA as bytes."""
    return lzma.open(data_path(*parts), "rb")


def numbers(*parts: str) -> NDArray[np.float64]:
    """Read a compressed CSV file below PEGASOS_DATA, without its head."""
    with open_data(*parts) as file:
        file.readline()
        return np.loadtxt(file, delimiter=",", dtype=np.float64)


def cached(name: str, parse: Callable[[], Data]) -> Data:
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


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(text)
    unfinished.replace(path)


def checksum(X: Matrix, y: NDArray) -> int:
    """Return a checksum of the stored values, their places and the labels."""
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    crc = zlib.crc32(repr((X.shape, X.dtype)).encode())
    for array in (*arrays, y):
        crc = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1), crc)
    return crc
