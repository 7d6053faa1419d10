"""Dense rows as solvers read them quickest: compressed if most values are 0, else row by row."""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import CsrRows, DenseRows, Rows, read_only
from pegasos.dispatch import compiled
from pegasos.parallel import each, ranges

ROWS = 1024  # that one thread reads at a time
SAMPLED = 64  # rows that tell whether a count of all is worth a pass
WIDE = 256  # features from which linear solvers gain: shorter rows are quicker to read whole
SHARE_OF_COPY = 0.25  # of the memory of the rows: more is no gain in speed either
SMALL = 16_000_000  # bytes: rows that lie in memory column by column are copied up to here


def quickest(rows: Rows) -> Rows:
    """Return rows as linear solvers read them quickest: compressed if wide and mostly zeros.

    The copy takes at most a quarter of the memory of the rows themselves. Small ones that lie
    column by column, as those of data frames do, are copied row by row.
    """
    if not isinstance(rows, DenseRows):
        return rows
    if not rows.X.flags.c_contiguous and rows.X.nbytes <= SMALL:
        rows = rows._replace(X=read_only(np.ascontiguousarray(rows.X)))
    if rows.X.shape[1] < WIDE:
        return rows
    shorter = compressed(rows, 1.0, int(SHARE_OF_COPY * rows.X.nbytes))
    return rows if shorter is None else shorter


def compressed(rows: DenseRows, most: float, room: int) -> CsrRows | None:
    """Return a compressed copy of dense rows, on all cores.

    None if more than a share of `most` of the values are not 0, if the copy would take more than
    `room` bytes, or if the rows do not lie one after the other in memory.
    """
    X = rows.X
    n, d = X.shape
    if not X.flags.c_contiguous or d == 0 or d >= 2**31:
        return None
    most = min(most, room / (X.size * (X.itemsize + 4)))
    sample = X[:: max(1, n // SAMPLED)]
    if np.count_nonzero(sample) > 1.5 * most * sample.size:
        return None
    counts, parts = np.zeros(n + 1, dtype=np.int64), ranges(n, ROWS)
    each(lambda part: count_nonzeros(X, *part, counts[1:]), parts)
    indptr = np.cumsum(counts, out=counts)
    stored = int(indptr[-1])
    if stored > most * X.size or stored * (X.itemsize + 4) + 2 * indptr.nbytes > room:
        return None
    kind = np.uint32 if stored < 2**31 else np.uint64  # as SciPy has it
    data, indices = np.empty(stored, dtype=X.dtype), np.empty(stored, dtype=kind)
    each(lambda part: write_nonzeros(X, *part, indptr, data, indices), parts)
    return CsrRows(
        read_only(data), read_only(indices), read_only(indptr.astype(kind)), d, largest=rows.largest
    )


@compiled
def count_nonzeros(X, start, stop, counts):  # type: ignore[no-untyped-def]
    """Write how many values of rows start..stop are not 0."""
    for i in range(start, stop):
        row, count = X[i], 0
        for j in range(len(row)):
            count += row[j] != 0
        counts[i] = count


@compiled
def write_nonzeros(X, start, stop, indptr, data, indices):  # type: ignore[no-untyped-def]
    """Write the values of rows start..stop that are not 0, and where they are."""
    for i in range(start, stop):
        row, p = X[i], indptr[i]
        for j in range(len(row)):
            if row[j] != 0:
                data[p], indices[p] = row[j], j
                p += 1
