"""The kernel matrix of the training rows, of which no more is computed or kept than needed.

Whole rows of the matrix are kept in a store with a memory budget (`store`). Every kernel value that
is computed is counted: the papers' unit of cost.

To whoever certifies or predicts, a Gram matrix is a container of rows (`kernelized`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, float_type, shape, stored_bytes, stored_values
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.blocks import TILE_VALUES, TILES, Filled, add_sums, fill
from pegasos.kernel_matrix.kept_property import kept_property
from pegasos.kernel_matrix.kernelized import SCRATCH_VALUES, Kernelized, diagonal
from pegasos.kernel_matrix.memory import note_store
from pegasos.kernel_matrix.register_sums import add_products
from pegasos.kernel_matrix.side import Side, is_narrow, left_rows, quickest, side
from pegasos.kernel_matrix.store import SQUARE, RowStore, add_weighted, gather
from pegasos.parallel import each, ranges
from pegasos.problem.kernels import Custom, Kernel, Precomputed, is_of_distance, is_psd

SHARE_OF_COPY = 0.1  # of the memory budget, for rows in compressed form
SHARE_OF_BLOCKS = 0.25  # of the memory budget, for what is not kept; the store takes the rest
SHARE_OF_TILES = 0.125  # for tiles that are computed at a time; more cores than tiles wait
VALUES_AT_A_TIME = 64_000_000  # computed before anybody looks up
SHORT = 200  # values of a row of the data: so many products cost as much as to touch new memory
ENOUGH = 256  # places of an expansion that stand for all of them
LEAST_ROWS = 4  # that a store holds, however small the budget


class Gram(Kernelized):
    """Kernel matrix of `rows`.

    Attributes
    ----------
    side : Side
        The rows as they are multiplied: compressed, if they are dense and mostly zeros.
    kept : RowStore
        Kept rows of the matrix, in the precision of the data.
    block_rows : int
        Rows whose mutual kernel values (`square_block`) fit the budget beside the store.
    evaluations, hits, misses : int
        Kernel values computed; rows that were asked for and found in the store, or not.
    is_indefinite : bool
        Whether values were met that no positive semi-definite kernel has.
    noise : float
        With this on its diagonal the matrix is positive semi-definite, as far as was tested.

    `known` is the diagonal, if it is known.
    """

    parts: Any = None  # blocks that rows are put together from, where all values are there already

    def __init__(self, kernel: Kernel, rows: Rows, budget: int, known: Any = None) -> None:
        self.kernel, self.rows, self.budget = kernel, rows, budget
        self.n = shape(rows)[0]
        self.shape = self.n, self.n
        self.evaluations = self.hits = self.misses = 0
        self.noise = 0.0
        self.diagonal = diagonal(kernel, rows) if known is None else known
        self.is_indefinite = bool((self.diagonal < 0.0).any())
        self._set_up(side(kernel, rows), float_type(rows))

    def _set_up(self, own: Side, precision: Any) -> None:
        """Divide the memory budget between the store and what is beside it; keep nothing yet."""
        n, rows, budget, self.precision = self.n, self.rows, self.budget, precision
        self.side = quickest(self.kernel, own, int(SHARE_OF_COPY * budget))
        itemsize = precision.itemsize
        beside = int(SHARE_OF_BLOCKS * budget / itemsize)  # for a block or a scratch
        self.block_rows = max(2, int(beside**0.5))
        self.scratch_rows = max(1, min(SCRATCH_VALUES, beside) // n)
        of_tile = 2 * TILE_VALUES * self.side.precision.itemsize
        self.tiles = int(min(TILES, max(1, SHARE_OF_TILES * budget / of_tile)))
        gathered = 2 * left_rows(self.side.rows) * shape(rows)[1] * self.side.precision.itemsize
        copied = 0 if self.side.rows is rows else stored_bytes(self.side.rows)
        room = int((1.0 - SHARE_OF_BLOCKS) * budget) - gathered - self.tiles * of_tile - copied
        room //= max(1, n * itemsize)
        capacity = int(max(min(LEAST_ROWS, n), min(n, room)))
        values = np.empty((capacity, n), dtype=self.precision)  # touched when used
        note_store(self, values.nbytes)
        self.kept = RowStore(n, values)

    @property
    def store(self) -> Any:
        """Values of the kept rows, (capacity, n)."""
        return self.kept.values

    @property
    def slot_of(self) -> Any:
        """Where a row is in the store, (n,); -1 if it is not."""
        return self.kept.slot_of

    @property
    def last_use(self) -> Any:
        """When the places of the store were used last, (capacity,)."""
        return self.kept.last_use

    @property
    def clock(self) -> int:
        """What uses of rows are marked with."""
        return self.kept.clock

    @property
    def capacity(self) -> int:
        """Rows that the store holds at most."""
        return self.kept.capacity

    @property
    def rounding(self) -> float:
        return float(self.side.error)

    @property
    def can_be_wider(self) -> bool:
        """Whether values in double precision would be more exact than those kept."""
        return self.in_double.error < self.rounding

    def widen(self) -> None:
        """From now on compute and keep kernel values in double precision; forget all others."""
        self.kept = RowStore(self.n, np.empty((0, self.n)))  # before the new one takes its place
        self._set_up(self.in_double, np.dtype(np.float64))

    def values(self, chosen: Any, others: Any | None = None) -> Any:
        """Return kernel values of rows chosen and rows others (None: all), computed anew."""
        out = np.empty(
            (len(chosen), self.n if others is None else len(others)), dtype=self.precision
        )
        self._compute(np.asarray(chosen), others, out, np.arange(len(chosen)))
        return out

    def at_hand(self, coefficients: Any) -> Any:
        kept = coefficients[self.kept.has(coefficients)]
        return kept if len(kept) >= min(ENOUGH, len(coefficients)) else coefficients

    def kept_first(self, rows: Any) -> Any:
        """Return the rows in another order: those in the store come first."""
        is_kept = self.kept.has(rows)
        return np.concatenate([rows[is_kept], rows[~is_kept]])

    def spare(self, m: int) -> Any:
        """Return room for m x m values; in the unused part of the store, until rows need it."""
        unused = self.kept.unused()
        room = unused if len(unused) >= m * m else np.empty(m * m, dtype=self.precision)
        return room[: m * m].reshape(m, m)

    def square_block(self, W: Any, out: Any | None = None) -> Any:
        """Return K[W, W], from the store as far as its rows are there; see `kept_first`."""
        m, slots = len(W), self.slot_of[W]
        out = np.empty((m, m), dtype=self.precision) if out is None else out
        kept = int(np.argmax(slots < 0)) if (slots < 0).any() else m
        each(
            lambda part: gather(self.store, slots[slice(*part)], W, out[slice(*part)]),
            ranges(kept, SQUARE),
        )
        length = left_rows(self.side.rows)
        for first, stop in ranges(m - kept, length):  # one triangle suffices
            a, b = kept + first, kept + stop
            self._compute(W[a:b], W[a:], out, np.arange(a, b), a)
        each(lambda part: mirror(out, kept, part), ranges(m, SQUARE))
        return out

    def hold(self, chosen: Any) -> Any:
        """Bring `chosen` rows of the matrix into the store; return their slots.

        There may be no more of them than the store holds.
        """
        chosen = np.asarray(chosen)
        missing = self.kept.request(chosen)
        self.hits += len(chosen) - len(missing)
        self.misses += len(missing)
        if len(missing):
            places = self.kept.make_room(len(missing))
            self._compute(missing, None, self.store, places)
            self.kept.enter(missing, places)
        return self.slot_of[chosen]

    def held(self) -> dict[str, Any]:
        """Return which rows are held, and their values, as plain data (`state`)."""
        return {
            "budget": self.budget,
            "precision": self.precision.str,
            "kept": self.kept.contents(),
            "counts": (self.evaluations, self.hits, self.misses),
            "noise": self.noise,
            "is_indefinite": self.is_indefinite,
        }

    def hold_again(self, held: dict[str, Any]) -> None:
        """Hold the rows that another matrix of the same rows held; take on its memory budget."""
        is_wider = held["precision"] != self.precision.str
        if is_wider or held["budget"] != self.budget:
            self.budget = held["budget"]
            self.kept = RowStore(self.n, np.empty((0, self.n)))
            own = self.in_double if is_wider else side(self.kernel, self.rows)
            self._set_up(own, np.dtype(held["precision"]))
        self.kept.restore(held["kept"])
        self.evaluations, self.hits, self.misses = held["counts"]
        self.noise, self.is_indefinite = held["noise"], held["is_indefinite"]

    def batches(self, rows: Any) -> list[Any]:
        """Split rows into parts that fit the store and have a limited number of new ones each.

        Between parts is time to obey Ctrl-C.
        """
        most = max(1, min(self.capacity, int(self._values_at_a_time() // self.n)))
        new, place = np.cumsum(self.slot_of[rows] < 0), np.arange(len(rows))
        part = new // most + place // self.capacity
        return np.split(rows, np.flatnonzero(np.diff(part)) + 1) if len(rows) else []

    def _values_at_a_time(self) -> float:
        """Return the kernel values that take a fraction of a second."""
        if isinstance(self.kernel, Custom):
            return SCRATCH_VALUES
        width = stored_values(self.side.rows) / self.n
        return VALUES_AT_A_TIME / max(1.0, width / (50 if is_of_distance(self.kernel) else 800))

    def _compute(self, chosen: Any, others: Any | None, out: Any, places: Any, at: int = 0) -> None:
        """Write kernel values into out[places], from column `at` on."""
        into = Filled(out, places, at)
        fill(self.kernel, self.side, chosen, self.side, others, into, self.tiles)
        self.evaluations += len(chosen) * (self.n if others is None else len(others))
        if others is None:  # exact, whatever a product of rows rounds to
            out[places, chosen] = self.diagonal[chosen]
        if not is_psd(self.kernel) and not self.is_indefinite:
            self.is_indefinite = self._breaks_cauchy_schwarz(chosen, others, out[:, at:], places)

    def _breaks_cauchy_schwarz(self, chosen: Any, others: Any, out: Any, places: Any) -> bool:
        """Whether some K(x, z)^2 > K(x, x) K(z, z) by more than rounding."""
        right = np.sqrt(self.diagonal if others is None else self.diagonal[others])
        for i, place in zip(chosen, places, strict=True):
            bound = np.sqrt(self.diagonal[i]) * right
            if np.any(np.abs(out[place]) > bound + 1e-4 * bound.max()):
                return True
        return False

    @property
    def is_fleeting(self) -> bool:
        """Whether computing a kernel value again costs less than storing it and reading it back."""
        return is_narrow(self.kernel, self.side.rows)

    @property
    def is_cheap(self) -> bool:
        """Whether rows are so short that computing kernel values costs hardly more than keeping."""
        is_ours = not isinstance(self.kernel, Precomputed | Custom)
        return is_ours and stored_values(self.side.rows) <= SHORT * self.n

    def add_scores(self, B: FloatArray, Z: FloatArray) -> None:
        """Add sum_j B[j, k] K(x_j, x_i) to Z[i, k]; values in the store are used."""
        used = np.flatnonzero(B.any(axis=1))
        is_kept = self.kept.has(used)
        self.hits += int(is_kept.sum())
        add_weighted(self.store, self.slot_of[used[is_kept]], B[used[is_kept]], Z)
        for some in self.batches(used[~is_kept]):
            self.add_passing(some, B[some], Z)

    def values_lacking(self, B: FloatArray) -> int:
        """Return how many kernel values scores of an expansion need that are not in the store."""
        return int(np.count_nonzero(self.slot_of[B.any(axis=1)] < 0)) * self.n

    @kept_property
    def in_double(self) -> Side:
        """The rows as they are multiplied where kernel values are wanted in double precision."""
        return side(self.kernel, self.rows, precision=np.float64)

    def exact_scores(self, chosen: Any, B: FloatArray) -> FloatArray:
        """Return the scores of some rows, (len(chosen), K), from values in double precision."""
        used = np.flatnonzero(B.any(axis=1))
        out = np.zeros((len(chosen), B.shape[1]))
        places = np.arange(len(chosen))
        for first, stop in ranges(len(used), max(1, SCRATCH_VALUES // max(1, len(chosen)))):
            some = used[first:stop]
            values = np.empty((len(chosen), len(some)))
            into = Filled(values, places)
            fill(self.kernel, self.in_double, chosen, self.in_double, some, into)
            is_own = chosen[:, None] == some  # exact, whatever a product of rows rounds to
            values[is_own] = np.broadcast_to(self.diagonal[some], values.shape)[is_own]
            add_products(values, np.ascontiguousarray(B[some]), out)
        self.evaluations += len(chosen) * len(used)
        return out

    def add_held(self, chosen: Any, coefficients: FloatArray, Z: FloatArray) -> None:
        """Add sum_r coefficients[r, k] K(x_chosen[r], x_i) to Z[i, k]; keep the rows."""
        add_weighted(self.store, self.hold(chosen), coefficients, Z)

    def add_passing(self, chosen: Any, coefficients: FloatArray, Z: FloatArray) -> None:
        """Add the same; keep nothing. Values on the diagonal are as good as any, not exact."""
        if is_psd(self.kernel):
            add_sums(self.kernel, self.side, chosen, self.side, coefficients, Z, self.tiles)
            self.evaluations += len(chosen) * self.n
        else:  # values are looked at
            scratch = np.empty((min(self.scratch_rows, len(chosen)), self.n), self.precision)
            for first, stop in ranges(len(chosen), self.scratch_rows):
                places = np.arange(stop - first)
                self._compute(chosen[first:stop], None, scratch, places)
                add_weighted(scratch, places, coefficients[first:stop], Z)
        self.misses += len(chosen)


@compiled
def mirror(out, kept, rows):  # type: ignore[no-untyped-def]
    """Copy what is known of some rows of a square block to the other side of its diagonal.

    Of the first `kept` rows everything is known, of the others what lies right of the diagonal.
    """
    for corner in range(0, rows[1], SQUARE):
        for a in range(max(kept, rows[0]), rows[1]):
            for b in range(corner, min(a, corner + SQUARE)):
                out[a, b] = out[b, a]
