"""Weighted sums of rows of a matrix, a strip of columns at a time whose sums stay in registers.

A loop over columns inside a loop over the rows would load and store every sum once per row. A
compiler does not keep that many sums in registers of its own accord, so the vectors are written out
in the terms of LLVM (`numba_private.register_sums`), which splits them into what a processor has.

Rows of kernel values are added up four at a time, for the same reason: in double precision,
whatever the values are stored in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import compiled, reordering_sums
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
def add_products(values, coefficients, Z):  # type: ignore[no-untyped-def]
    """Add sum_r values[i, r] coefficients[r, k] to Z[i, k]."""
    for k in range(Z.shape[1]):
        c = coefficients[:, k].copy()
        for i in range(len(values)):
            Z[i, k] += inner_product(values[i], c)


@reordering_sums
def inner_product(x, c):  # type: ignore[no-untyped-def]
    """Return <x, c>."""
    total = 0.0
    for r in range(len(c)):
        total += x[r] * c[r]
    return total
