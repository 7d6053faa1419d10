"""Kernel matrices of many small pairs of classes, as one container of rows.

Pair k has rows of its own: row i of model k is its i-th, and beyond its last there are rows of
zeros, for pairs of different sizes to lie side by side. So a problem over a stack has a column per
pair, and all of them are looked at together; see `objective.OwnWeights`.

Values are in double precision: where they are so few, narrower ones save nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows
from pegasos.kernel_matrix.blocks import Filled, fill
from pegasos.kernel_matrix.geometry import KernelGeometry, few_at_hand
from pegasos.kernel_matrix.kernelized import Kernelized, diagonal
from pegasos.kernel_matrix.memory import note_store
from pegasos.kernel_matrix.side import side
from pegasos.problem.geometry import Geometry, geometry
from pegasos.problem.kernels import Kernel

PAIRS = 256  # of a stack, at least, if there are so many: what is done for all of them is done once


class Stack(Kernelized):
    """The kernel matrices of some pairs.

    Attributes
    ----------
    values : ndarray of shape (K, n, n)
        Kernel values of every pair, 0 beyond its rows.
    diagonal : ndarray of shape (n, K)
        K(x_i, x_i) of every pair's rows.
    in_double : Side
        All rows of the data as they are multiplied.
    """

    can_be_wider = False
    noise = 0.0

    def __init__(self, kernel: Kernel, values: FloatArray, own: FloatArray, in_double: Any) -> None:
        self.kernel, self.values, self.diagonal = kernel, values, own
        self.in_double, self.precision = in_double, np.dtype(np.float64)
        self.shape = len(own), len(own)
        self.evaluations = 0  # made by whoever stacks them

    @property
    def rounding(self) -> float:
        return float(self.in_double.error)

    @property
    def lengths(self) -> FloatArray:
        return np.asarray(np.sqrt(np.abs(self.diagonal)))

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        Z += np.matmul(self.values, B.T[:, :, None])[:, :, 0].T

    def exact_scores(self, chosen: Any, B: FloatArray) -> FloatArray:
        """Return the scores of some rows of every pair, (len(chosen), K)."""
        return np.asarray(np.matmul(self.values[:, chosen], B.T[:, :, None])[:, :, 0].T)


class StackGeometry(KernelGeometry):
    """Weights are coefficients of rows, and every model has rows of its own."""

    def distances_to(self, point: FloatArray, M: FloatArray) -> FloatArray:
        return np.zeros(M.shape[1])  # see `point_among`

    def typical_point(self, W: FloatArray) -> FloatArray:
        mean = np.zeros_like(W)
        used = few_at_hand(self.rows, W)
        mean[used] = W[used] != 0.0
        return mean / np.maximum(1.0, mean.sum(axis=0))

    def point_among(self, M: FloatArray, is_known: Any) -> FloatArray:
        return M

    def push_scores(
        self, point: FloatArray | None, square: Any, push: FloatArray, Z: FloatArray
    ) -> None:
        rows = self.rows
        total, product = rows.diagonal + square, np.zeros_like(Z)
        if point is not None:
            rows.add_scores(point, product)
        squares = np.maximum(0.0, total - 2.0 * product)
        Z += push * np.sqrt(squares + rows.rounding * np.abs(total))


@geometry.register(Stack)
def _(rows: Stack) -> Geometry:
    return StackGeometry(rows)


def bytes_of_stacks(members: list[Any]) -> int:
    """Bound the memory for kernel values that the stacks of all pairs need, one after the other."""
    sizes = np.array([len(some) for some in members])
    largest, classes = int(sizes.max()), len(sizes)
    stack = (PAIRS + classes) * (2 * largest) ** 2
    strip = (PAIRS // classes + 2) * largest * int(sizes.sum())
    return 8 * (stack + strip + int((sizes**2).sum()))


class SmallPairs:
    """Rows by class, and the kernel matrices of all pairs of classes, in stacks.

    `members` holds the row numbers of every class.
    """

    def __init__(self, kernel: Kernel, rows: Rows, members: list[Any]) -> None:
        self.kernel, self.members = kernel, members
        self.side = side(kernel, rows, precision=np.float64)
        self.diagonal = diagonal(kernel, rows)
        self.evaluations = 0
        note_store(self, bytes_of_stacks(members))
        self.own = [self._values(some, some) for some in members]
        for some, block in zip(members, self.own, strict=True):
            np.fill_diagonal(block, self.diagonal[some])

    def stacks(self) -> Iterator[tuple[list[tuple[int, int]], Stack]]:
        """Yield classes (a, b), a < b, of some pairs after others, and their stack.

        Large classes come first, so that pairs side by side are of similar sizes.
        """
        sizes = [len(some) for some in self.members]
        order = sorted(range(len(sizes)), key=lambda c: -sizes[c])
        first = 0
        while first < len(order) - 1:
            stop, count = first, 0
            while count < PAIRS and stop < len(order) - 1:
                stop, count = stop + 1, count + len(order) - 1 - stop
            yield self._stack(order[first:], stop - first)
            first = stop

    def _stack(self, classes: list[int], count: int) -> tuple[list[tuple[int, int]], Stack]:
        """Return the pairs of each of the first classes with all that come after it."""
        members = self.members
        starts = np.cumsum([0] + [len(members[c]) for c in classes])
        left = np.concatenate([members[c] for c in classes[:count]])
        strip = self._values(left, np.concatenate([members[c] for c in classes]))
        n = len(members[classes[0]]) + len(members[classes[1]])
        places = [(u, v) for u in range(count) for v in range(u + 1, len(classes))]
        values, own = np.zeros((len(places), n, n)), np.zeros((n, len(places)))
        pairs = []
        for k, (u, v) in enumerate(places):
            cross = strip[starts[u] : starts[u + 1], starts[v] : starts[v + 1]]
            a, b = classes[u], classes[v]
            if a > b:
                a, b, cross = b, a, cross.T
            m, stop, matrix = len(cross), sum(cross.shape), values[k]
            matrix[:m, :m], matrix[m:stop, m:stop] = self.own[a], self.own[b]
            matrix[:m, m:stop], matrix[m:stop, :m] = cross, cross.T
            own[:m, k], own[m:stop, k] = self.diagonal[members[a]], self.diagonal[members[b]]
            pairs.append((a, b))
        return pairs, Stack(self.kernel, values, own, self.side)

    def _values(self, some: Any, others: Any) -> FloatArray:
        out = np.empty((len(some), len(others)))
        fill(self.kernel, self.side, some, self.side, others, Filled(out, np.arange(len(some))))
        self.evaluations += out.size
        return out
