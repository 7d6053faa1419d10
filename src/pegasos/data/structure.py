"""The structure of sparse matrices: what describes one, and what compiled code can read safely.

Compiled code checks no bounds and adds to every place that a row names once; the order in which a
row names them is all the same to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import read_only
from pegasos.dispatch import compiled, kernel
from pegasos.errors import InvalidData
from pegasos.parallel import each, ranges


def check_triplets(X: Any) -> None:
    """Refuse a COO matrix whose rows or columns lie outside its shape."""
    for name, places, size in (("row", X.row, X.shape[0]), ("col", X.col, X.shape[1])):
        if len(places) and (int(places.min()) < 0 or int(places.max()) >= size):
            raise InvalidData(
                f"Malformed COO matrix: {name} must lie in [0, {size}); found "
                f"{int(places.min())} to {int(places.max())}."
            )


def check_structure(X: Any) -> bool:
    """Refuse a CSR or CSC matrix whose arrays do not describe one; tell if it is sorted."""
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    name = X.format.upper()
    indptr, indices = X.indptr, X.indices
    if all(a.ndim == 1 and a.dtype in (np.int32, np.int64) for a in (indptr, indices)):
        order = _order(read_only(indptr), read_only(indices), len(X.data), lines, width)
        if order != _MALFORMED:
            return order == _SORTED
    if indptr.ndim != 1 or len(indptr) != lines + 1 or indptr[0] != 0:
        raise InvalidData(
            f"Malformed {name} matrix: indptr must have {lines + 1} entries and start at 0; got "
            f"{len(indptr)} entries. Rebuild the matrix from its triplets."
        )
    if np.any(indptr[1:] < indptr[:-1]):
        raise InvalidData(
            f"Malformed {name} matrix: indptr decreases. Rebuild the matrix from its triplets."
        )
    stored = int(indptr[-1])
    if stored > len(indices) or stored > len(X.data):
        raise InvalidData(
            f"Malformed {name} matrix: indptr announces {stored} values, but there are "
            f"{len(indices)} indices and {len(X.data)} values."
        )
    if stored and (int(indices[:stored].min()) < 0 or int(indices[:stored].max()) >= width):
        raise InvalidData(
            f"Malformed {name} matrix: indices must lie in [0, {width}); found "
            f"{int(indices[:stored].min())} to {int(indices[:stored].max())}."
        )
    return False


_MALFORMED, _UNSORTED, _SORTED = 0, 1, 2
PARTS, INDICES_PER_PART = 16, 1_000_000  # that threads take: at most so many, of no less


def _order(indptr: Any, indices: Any, values: int, lines: int, width: int) -> int:
    """Tell in one pass whether rows are malformed, unsorted, or sorted without repeats."""
    if len(indptr) != lines + 1 or indptr[0] != 0:
        return _MALFORMED
    pieces = max(1, min(PARTS, len(indices) // INDICES_PER_PART))
    found = [_SORTED]

    def work(part: tuple[int, int]) -> None:
        found.append(_order_of_indices(indptr, indices, values, part, width))

    each(work, ranges(lines, max(1, -(-lines // pieces))))
    return min(found)


@kernel
def _order_of_indices(indptr, indices, values, part, width):  # type: ignore[no-untyped-def]
    """Tell the same of some rows, from a first to before a last."""
    first, last = part
    is_sorted, start = True, np.int64(indptr[first])
    if start < 0:
        return _MALFORMED
    for i in range(first, last):
        stop = np.int64(indptr[i + 1])
        if stop < start or stop > len(indices) or stop > values:
            return _MALFORMED
        row, rises = indices[start:stop], True
        for k in range(len(row) - 1):  # without an exit, this vectorises
            rises &= row[k] < row[k + 1]
        if rises:  # the ends of such a row bound the rest of it
            if len(row) and (row[0] < 0 or row[-1] >= width):
                return _MALFORMED
        else:
            is_sorted = False
            for j in row:
                if j < 0 or j >= width:
                    return _MALFORMED
        start = stop
    return _SORTED if is_sorted else _UNSORTED


def has_repeats(X: Any) -> bool:
    """Whether a row of a well-formed CSR matrix names a column more than once."""
    seen = np.zeros(X.shape[1], dtype=np.int64)
    return bool(_repeats(read_only(X.indptr), read_only(X.indices), seen))


@compiled
def _repeats(indptr, indices, seen):  # type: ignore[no-untyped-def]
    """Tell in one pass whether a row repeats an index; `seen` holds the last row with each."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            if seen[indices[p]] == i + 1:
                return True
            seen[indices[p]] = i + 1
    return False
