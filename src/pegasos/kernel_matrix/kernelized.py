"""Rows in the feature space of a kernel, as whoever certifies or predicts sees them.

Weights `W` of shape (m, K) are the coefficients of an expansion  w_k = sum_j W[j, k] phi(x_j)  over
m rows: of the training itself (`gram`), or of others (`Cross`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, float_type, shape, stored_bytes
from pegasos.kernel_matrix.blocks import Filled, add_sums, fill
from pegasos.kernel_matrix.geometry import KernelGeometry
from pegasos.kernel_matrix.kept_property import kept_property
from pegasos.kernel_matrix.side import Side, all_square_norms, matrix, quickest, side
from pegasos.parallel import one_blas_thread, ranges
from pegasos.problem.geometry import Geometry, geometry
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Precomputed,
    finish,
    left_factor,
)

SCRATCH_VALUES = 2_000_000  # kernel values computed at a time that will not be kept


class Kernelized:
    """Rows in the feature space of a kernel, seen through expansions over `m` other rows.

    Attributes
    ----------
    shape : tuple of int
        Rows and coefficients, (n, m).
    diagonal : ndarray of shape (n,)
        K(x_i, x_i).
    precision : dtype
        Of the kernel values.
    rounding : float
        Typical error of a kernel value, against sqrt(K(x, x) K(z, z)).
    """

    kernel: Kernel
    shape: tuple[int, int]
    diagonal: FloatArray
    precision: Any
    is_indefinite: bool = False

    @property
    def size(self) -> int:
        """Values that a pass over all rows may read."""
        return self.shape[0] * self.shape[1]

    @property
    def rounding(self) -> float:
        """Typical error of a kernel value, against sqrt(K(x, x) K(z, z))."""
        raise NotImplementedError

    @property
    def lengths(self) -> FloatArray:
        """sqrt(K(x_i, x_i)), (n, 1): one column for all models; (n, K) if each has its own rows."""
        return np.asarray(np.sqrt(np.abs(self.diagonal))[:, None])

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        """Add sum_j B[j, k] K(x_j, x_i) to Z[i, k]."""
        raise NotImplementedError

    def at_hand(self, coefficients: Any) -> Any:
        """Return those places of an expansion that are cheapest to use."""
        return coefficients


@geometry.register(Kernelized)
def _(rows: Kernelized) -> Geometry:
    return KernelGeometry(rows)


class Cross(Kernelized):
    """New rows against the rows of an expansion, or some `columns` of them; nothing is kept."""

    def __init__(self, kernel: Kernel, rows: Rows, others: Rows, columns: Any = None) -> None:
        self.kernel, self.rows, self.others, self.columns = kernel, rows, others, columns
        self.shape = shape(rows)[0], shape(others)[0] if columns is None else len(columns)
        self.precision = np.promote_types(float_type(rows), float_type(others))

    @kept_property
    def sides(self) -> tuple[Side, Side]:
        """New rows and those of the expansion, prepared."""
        right = side(self.kernel, self.others)
        left = side(self.kernel, self.rows, right)
        return quickest(self.kernel, left, stored_bytes(self.rows) // 2), right

    @property
    def rounding(self) -> float:
        return max(part.error for part in self.sides)

    @kept_property
    def diagonal(self) -> FloatArray:
        return diagonal(self.kernel, self.rows)

    @one_blas_thread
    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        used = np.flatnonzero(B.any(axis=1))
        if len(used) == 0:
            return
        (left, right), B = self.sides, B[used]
        used = used if self.columns is None else self.columns[used]
        if not isinstance(self.kernel, Precomputed | Custom):
            add_sums(self.kernel, right, used, left, B, Z)
            return
        length = max(1, SCRATCH_VALUES // len(used))
        scratch = np.empty((min(self.shape[0], length), len(used)), dtype=self.precision)
        for first, stop in ranges(self.shape[0], length):
            places = np.arange(stop - first)
            fill(self.kernel, left, places + first, right, used, Filled(scratch, places))
            Z[first:stop] += scratch[: stop - first] @ B


def diagonal(kernel: Kernel, rows: Rows) -> FloatArray:
    """Return K(x_i, x_i) of every row."""
    n = shape(rows)[0]
    if isinstance(kernel, Gaussian | Laplacian):
        return np.ones(n)
    if isinstance(kernel, Precomputed):
        return np.array(matrix(rows, slice(None)).diagonal(), dtype=np.float64)  # not a view
    if isinstance(kernel, Custom):
        own, out, one = side(kernel, rows), np.empty((n, 1)), np.arange(1)
        for i in range(n):
            fill(kernel, own, one + i, own, one + i, Filled(out[i : i + 1], one))
        return out[:, 0]
    products = left_factor(kernel) * all_square_norms(rows)[:, None]
    finish(kernel, products, None, None)
    return np.asarray(products[:, 0])
