"""The kernel matrix of the training rows, of which no more is computed or kept than needed.

Whole rows of the matrix are kept in a store with a memory budget; the row that was used least
recently makes room. Every kernel value that is computed is counted: the papers' unit of cost.

To whoever certifies or predicts, a Gram matrix is a container of rows: weights `W` of shape (n, K)
are the coefficients of an expansion  w_k = sum_j W[j, k] phi(x_j).
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, float_type, shape
from pegasos.dispatch import compiled
from pegasos.parallel import cores, each, ranges
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Precomputed,
    finish,
    is_psd,
    left_factor,
)
from pegasos.problem.pairs import (
    LEFT_ROWS,
    TILE,
    Side,
    all_square_norms,
    fill,
    left_rows,
    matrix,
    side,
)

SHARE_OF_BLOCKS = 0.25  # of the memory budget, for what is not kept; the store takes the rest
COLUMNS = 4096  # of the matrix that one thread adds up at a time
SCRATCH_VALUES = 2_000_000  # kernel values computed at a time that will not be kept
SQUARE = 64  # rows and columns that are mirrored together: they fit a cache
LEAST_ROWS = 4  # that a store holds, however small the budget


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

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        """Add sum_j B[j, k] K(x_j, x_i) to Z[i, k]."""
        raise NotImplementedError


class Cross(Kernelized):
    """New rows against the rows of an expansion, or some `columns` of them; nothing is kept."""

    def __init__(self, kernel: Kernel, rows: Rows, others: Rows, columns: Any = None) -> None:
        self.kernel, self.rows, self.others, self.columns = kernel, rows, others, columns
        self.shape = shape(rows)[0], shape(others)[0] if columns is None else len(columns)
        self.precision = np.promote_types(float_type(rows), float_type(others))

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """New rows and those of the expansion, prepared."""
        right = side(self.kernel, self.others)
        return side(self.kernel, self.rows, right), right

    @property
    def rounding(self) -> float:
        return max(part.error for part in self.sides)

    @cached_property
    def diagonal(self) -> FloatArray:  # type: ignore[override]
        return diagonal(self.kernel, self.rows)

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        left, right = self.sides
        used = np.flatnonzero(B.any(axis=1))
        if len(used) == 0:
            return
        columns = None if self.columns is None and len(used) == self.shape[1] else used
        if columns is not None and self.columns is not None:
            columns = self.columns[used]
        n, B = self.shape[0], B[used]
        length = max(1, SCRATCH_VALUES // max(1, len(used)))
        scratch = np.empty((min(n, length), len(used)), dtype=self.precision)
        for first, stop in ranges(n, length):
            places = np.arange(stop - first)
            fill(self.kernel, left, places + first, right, columns, scratch, places)
            Z[first:stop] += scratch[: stop - first] @ B


class Gram(Kernelized):
    """Kernel matrix of `rows`.

    Attributes
    ----------
    store : ndarray of shape (capacity, n)
        Kept rows of the matrix, in the precision of the data.
    slot_of : ndarray of shape (n,)
        Where a row is in the store; -1 if it is not.
    block_rows : int
        Rows whose mutual kernel values (`square_block`) fit the budget beside the store.
    evaluations, hits, misses : int
        Kernel values computed; rows that were asked for and found in the store, or not.
    is_indefinite : bool
        Whether values were met that no positive semi-definite kernel has.
    """

    def __init__(self, kernel: Kernel, rows: Rows, budget: int) -> None:
        self.kernel, self.rows = kernel, rows
        n = self.n = shape(rows)[0]
        self.shape = n, n
        self.precision = float_type(rows)
        self.side = side(kernel, rows)
        self.evaluations = self.hits = self.misses = 0
        self.diagonal = diagonal(kernel, rows)
        self.is_indefinite = bool((self.diagonal < 0.0).any())
        itemsize = self.precision.itemsize
        beside = int(SHARE_OF_BLOCKS * budget / itemsize)  # for a block or a scratch, never both
        self.block_rows = max(2, int(beside**0.5))
        self.scratch_rows = max(1, min(SCRATCH_VALUES, beside) // n)
        gathered = 2 * left_rows(rows) * shape(rows)[1] + 2 * cores() * TILE * LEFT_ROWS
        room = int((1.0 - SHARE_OF_BLOCKS) * budget - gathered * self.side.precision.itemsize)
        room //= max(1, n * itemsize)
        self.capacity = int(max(min(LEAST_ROWS, n), min(n, room)))
        self.store = np.empty((self.capacity, n), dtype=self.precision)  # touched when used
        self.slot_of = np.full(n, -1, dtype=np.int32)
        self.owner = np.full(self.capacity, -1, dtype=np.int32)
        self.last_use = np.zeros(self.capacity, dtype=np.int64)
        self.used = self.clock = 0

    @property
    def rounding(self) -> float:
        return float(self.side.error)

    def values(self, chosen: Any, others: Any | None = None) -> Any:
        """Return kernel values of rows chosen and rows others (None: all), computed anew."""
        out = np.empty(
            (len(chosen), self.n if others is None else len(others)), dtype=self.precision
        )
        self._compute(np.asarray(chosen), others, out, np.arange(len(chosen)))
        return out

    def square_block(self, W: Any) -> Any:
        """Return K[W, W], from the store as far as its rows are there."""
        out = np.empty((len(W), len(W)), dtype=self.precision)
        slots = self.slot_of[W]
        kept, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        parts = ranges(len(kept), SQUARE)
        each(lambda part: gather(self.store, slots, W, kept[slice(*part)], out), parts)
        new, length = W[missing], left_rows(self.rows)
        scratch = np.empty((min(length, len(new)), len(new)), dtype=self.precision)
        for first, stop in ranges(len(new), length):  # one triangle suffices
            part, rest = scratch[: stop - first, : len(new) - first], missing[first:]
            self._compute(new[first:stop], new[first:], part, np.arange(stop - first))
            each(partial(spread, part, rest, out), ranges(stop - first, SQUARE))
        each(lambda some: mirror(kept, missing, out, some), ranges(len(new), SQUARE))
        return out

    def hold(self, chosen: Any) -> Any:
        """Bring `chosen` rows of the matrix into the store; return their slots.

        There may be no more of them than the store holds.
        """
        chosen = np.asarray(chosen)
        self.clock += 1
        slots = self.slot_of[chosen]
        is_kept = slots >= 0
        self.last_use[slots[is_kept]] = self.clock
        missing = chosen[~is_kept]
        self.hits += len(chosen) - len(missing)
        self.misses += len(missing)
        if len(missing):
            places = self._free(len(missing))
            self._compute(missing, None, self.store, places)
            self.owner[places], self.slot_of[missing] = missing, places
            self.last_use[places] = self.clock
            slots = self.slot_of[chosen]
        return slots

    def _free(self, count: int) -> Any:
        """Return slots for so many new rows: unused ones, then those used least recently."""
        fresh = np.arange(self.used, min(self.capacity, self.used + count), dtype=np.int32)
        self.used += len(fresh)
        if len(fresh) == count:
            return fresh
        age = self.last_use[: self.used].copy()
        age[fresh] = self.clock
        rest = count - len(fresh)
        oldest = np.argpartition(age, rest - 1)[:rest].astype(np.int32)
        self.slot_of[self.owner[oldest]] = -1
        self.owner[oldest] = -1
        return np.concatenate([fresh, oldest])

    def _compute(self, chosen: Any, others: Any | None, out: Any, places: Any) -> None:
        fill(self.kernel, self.side, chosen, self.side, others, out, places)
        self.evaluations += len(chosen) * (self.n if others is None else len(others))
        if others is None:
            out[places, chosen] = self.diagonal[
                chosen
            ]  # exact, whatever a product of rows rounds to
        if not is_psd(self.kernel) and not self.is_indefinite:
            self.is_indefinite = self._breaks_cauchy_schwarz(chosen, others, out, places)

    def _breaks_cauchy_schwarz(self, chosen: Any, others: Any, out: Any, places: Any) -> bool:
        """Whether some K(x, z)^2 > K(x, x) K(z, z) by more than rounding."""
        right = np.sqrt(self.diagonal if others is None else self.diagonal[others])
        for i, place in zip(chosen, places, strict=True):
            bound = np.sqrt(self.diagonal[i]) * right
            if np.any(np.abs(out[place]) > bound + 1e-4 * bound.max()):
                return True
        return False

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        """Add sum_j B[j, k] K(x_j, x_i) to Z[i, k]."""
        used = np.flatnonzero(B.any(axis=1))
        slots = self.slot_of[used]
        is_kept = slots >= 0
        self.hits += int(is_kept.sum())
        self.add_kept(slots[is_kept], B[used[is_kept]], Z)
        missing = used[~is_kept]
        self.misses += len(missing)
        length = self.scratch_rows
        scratch = np.empty((min(length, len(missing)), self.n), dtype=self.precision)
        for first, stop in ranges(len(missing), length):
            some, places = missing[first:stop], np.arange(stop - first)
            self._compute(some, None, scratch, places)
            add_weighted(scratch, places, B[some], Z)

    def add_kept(self, slots: Any, coefficients: FloatArray, Z: FloatArray) -> None:
        """Add sum_r coefficients[r, k] store[slots[r], i] to Z[i, k]."""
        add_weighted(self.store, slots, coefficients, Z)


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
            fill(kernel, own, one + i, own, one + i, out[i : i + 1], one)
        return out[:, 0]
    products = left_factor(kernel) * all_square_norms(rows)[:, None]
    finish(kernel, products, None, None)
    return np.asarray(products[:, 0])


def add_weighted(store: Any, slots: Any, coefficients: FloatArray, Z: FloatArray) -> None:
    """Add the weighted sum of some rows of `store` to the columns of Z, on all cores."""
    coefficients = np.ascontiguousarray(coefficients)
    each(lambda p: add_rows(store, slots, coefficients, *p, Z), ranges(len(Z), COLUMNS))


@compiled
def add_rows(store, slots, coefficients, start, stop, Z):  # type: ignore[no-untyped-def]
    """Add coefficients[r, k] store[slots[r], i] to Z[i, k] for start <= i < stop."""
    total, last = np.empty(stop - start), len(slots) - 1
    for k in range(Z.shape[1]):
        total[:] = 0.0
        for r in range(0, len(slots), 4):  # four rows at a time: their sum is read and written once
            a, b, c, d = r, min(r + 1, last), min(r + 2, last), min(r + 3, last)
            p = coefficients[a, k]
            q = coefficients[b, k] if r + 1 <= last else 0.0
            u = coefficients[c, k] if r + 2 <= last else 0.0
            v = coefficients[d, k] if r + 3 <= last else 0.0
            if p != 0.0 or q != 0.0 or u != 0.0 or v != 0.0:
                first, second = store[slots[a], start:stop], store[slots[b], start:stop]
                third, fourth = store[slots[c], start:stop], store[slots[d], start:stop]
                for i in range(len(total)):
                    total[i] += (p * first[i] + q * second[i]) + (u * third[i] + v * fourth[i])
        for i in range(len(total)):
            Z[start + i, k] += total[i]


@compiled
def gather(store, slots, W, kept, out):  # type: ignore[no-untyped-def]
    """Write store[slots[a], W[b]] into out[a, b] for a in `kept`."""
    for a in kept:
        row = store[slots[a]]
        for b in range(len(W)):
            out[a, b] = row[W[b]]


@compiled
def spread(part, missing, out, some):  # type: ignore[no-untyped-def]
    """Write part[r, s], s >= r, into out at missing[r], missing[s] and mirrored, for some r."""
    for corner in range(some[0], len(missing), SQUARE):
        for r in range(some[0], some[1]):
            a = missing[r]
            for s in range(max(r, corner), min(len(missing), corner + SQUARE)):
                out[a, missing[s]] = part[r, s]
                out[missing[s], a] = part[r, s]


@compiled
def mirror(kept, missing, out, some):  # type: ignore[no-untyped-def]
    """Complete some rows of `out` that were not kept with the mirrored values of those kept."""
    for r in range(some[0], some[1]):
        for b in kept:
            out[missing[r], b] = out[b, missing[r]]
