"""Weighted sums of rows of a matrix, a strip of columns at a time whose sums stay in registers.

A loop over columns inside a loop over the rows would load and store every sum once per row. A
compiler does not keep that many sums in registers of its own accord, so the vectors are written
out here, in the terms of LLVM, which splits them into what a processor has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.numba_private.register_sums import LINE, LINES

STRIP = LINES * LINE  # bytes
NEAR = 1 << 20  # bytes that a core has in a cache of its own
FEW = 4  # a strip of which one column in so many, or fewer, is used is mostly empty


class Strips(NamedTuple):
    """The columns of a matrix of d rows, all in strips or, if they would take too much, in none.

    Every strip is a matrix of its own, (d, STRIP bytes), and begins where a cache line does. The
    last one is filled up with zeros.
    """

    all: Any
    none: Any


def in_strips(rows: Any, most: int) -> Strips:
    """Return rows as the columns of a matrix, in strips if these have no more columns than most.

    Nor are a few rows put into a strip that is mostly empty and too large for a cache.
    """
    q, d = rows.shape
    kind = rows.dtype
    length, line = STRIP // kind.itemsize, LINE // kind.itemsize
    count = -(-q // length)
    if count * length > most or (FEW * q < length and d * STRIP > NEAR):
        return Strips(np.empty((0, d, length), dtype=kind), np.ascontiguousarray(rows.T))
    room = np.empty(count * d * length + line, dtype=kind)
    skipped = -room.ctypes.data % LINE // kind.itemsize
    strips = room[skipped : skipped + count * d * length].reshape(count, d, length)
    for k in range(count):
        some = rows[k * length : (k + 1) * length]
        strips[k, :, : len(some)] = some.T
        strips[k, :, len(some) :] = 0
    return Strips(strips, np.empty((0, 0), dtype=kind))
