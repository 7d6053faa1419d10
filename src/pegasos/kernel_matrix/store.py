"""A store of rows of a matrix, with fewer places than the matrix has rows.

The row that was used least recently makes room. Loops that read rows take the arrays as they are:
row i is values[slot_of[i]], and last_use[slot_of[i]] = clock marks it as used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.register_sums import add_rows
from pegasos.parallel import each, ranges

COLUMNS = 4096  # of the matrix that one thread adds up at a time
SQUARE = 64  # rows and columns that are gathered together: they fit a cache


class RowStore:
    """Some rows of a matrix of n rows, in `values` of shape (capacity, m).

    Attributes
    ----------
    slot_of : ndarray of shape (n,)
        Where a row is; -1 if it is not kept.
    owner : ndarray of shape (capacity,)
        The row that is kept in a place; -1 if none is.
    last_use : ndarray of shape (capacity,)
        The clock when a place was used last.
    used : int
        Places that are or were taken: the first ones.
    clock : int
        Counts requests, and what else solvers order uses by.
    """

    def __init__(self, n: int, values: Any) -> None:
        self.values, self.capacity = values, len(values)
        self.slot_of = np.full(n, -1, dtype=np.int32)
        self.owner = np.full(self.capacity, -1, dtype=np.int32)
        self.last_use = np.zeros(self.capacity, dtype=np.int64)
        self.used = self.clock = 0

    def has(self, rows: Any) -> Any:
        """Tell of every row whether it is kept."""
        return self.slot_of[rows] >= 0

    def request(self, rows: Any) -> Any:
        """Mark rows as used; return those that are not there."""
        self.clock += 1
        slots = self.slot_of[rows]
        is_kept = slots >= 0
        self.last_use[slots[is_kept]] = self.clock
        return rows[~is_kept]

    def make_room(self, count: int) -> Any:
        """Return places for so many new rows: unused ones, then those used least recently."""
        fresh = np.arange(self.used, min(self.capacity, self.used + count), dtype=np.int32)
        self.used += len(fresh)
        if len(fresh) == count:
            return fresh
        age = self.last_use[: self.used].copy()
        age[fresh] = self.clock
        rest = count - len(fresh)
        oldest = np.argpartition(age, rest - 1)[:rest].astype(np.int32)
        evicted = self.owner[oldest]
        self.slot_of[evicted[evicted >= 0]] = -1  # none, where a row failed to come in
        self.owner[oldest] = -1
        return np.concatenate([fresh, oldest])

    def enter(self, rows: Any, places: Any) -> None:
        """Take note that the values of rows have been written into places."""
        self.owner[places], self.slot_of[rows] = rows, places
        self.last_use[places] = self.clock

    def unused(self) -> Any:
        """Return the part of the values that no row was written into yet, flat."""
        return self.values.reshape(-1)[self.used * self.values.shape[1] :]

    def contents(self) -> dict[str, Any]:
        """Return which rows are kept, and their values, as plain data (`state`)."""
        used = self.used
        return {
            "values": self.values[:used],
            "owner": self.owner[:used],
            "last_use": self.last_use[:used],
            "clock": self.clock,
        }

    def restore(self, contents: dict[str, Any]) -> None:
        """Keep the rows that another store, of the same capacity, kept."""
        owner = contents["owner"]
        used = self.used = len(owner)
        self.values[:used], self.owner[:used] = contents["values"], owner
        self.last_use[:used] = contents["last_use"]
        self.slot_of[:] = -1
        is_taken = owner >= 0  # not where a row failed to come in
        self.slot_of[owner[is_taken]] = np.flatnonzero(is_taken)
        self.clock = contents["clock"]


def add_weighted(store: Any, slots: Any, coefficients: FloatArray, Z: FloatArray) -> None:
    """Add the weighted sum of some rows of `store` to the columns of Z, on all cores."""
    coefficients = np.ascontiguousarray(coefficients)
    each(lambda p: add_rows(store, slots, coefficients, *p, Z), ranges(len(Z), COLUMNS))


@compiled
def gather(store, slots, columns, out):  # type: ignore[no-untyped-def]
    """Write store[slots[a], columns[b]] into out[a, b]."""
    for a in range(len(slots)):
        row = store[slots[a]]
        for b in range(len(columns)):
            out[a, b] = row[columns[b]]
