"""Inner products and city-block distances of left rows, side by side, and many right rows."""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import compiled, inlined
from pegasos.numba_private.register_sums import weighted_strip


@compiled
def sparse_products(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write <x_j, left_k> into out[c, k] for j = columns[c]; left is (d, q), in strips or not."""
    at, sums = 0, np.empty(left.all.shape[2], dtype=out.dtype)
    for s in range(len(left.all)):
        strip, length = left.all[s], min(len(sums), out.shape[1] - at)
        for c in range(len(columns)):
            start, stop = rows.indptr[columns[c]], rows.indptr[columns[c] + 1]
            if length == len(sums):
                weighted_strip(strip, rows.data, rows.indices, start, stop, out[c, at:])
            else:
                weighted_strip(strip, rows.data, rows.indices, start, stop, sums)
                for k in range(length):
                    out[c, at + k] = sums[k]
        at += length
    if len(left.none) > 0:
        multiply_plainly(left.none, rows, columns, out)


@inlined
def multiply_plainly(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write <x_j, left_k> into out[c, k]; left is (d, q)."""
    zero = out.dtype.type(0)
    for c in range(len(columns)):
        j = columns[c]
        total, stop = out[c], rows.indptr[j + 1]
        total[:] = zero
        for p in range(rows.indptr[j], stop, 4):  # four at a time: their sum is written once
            p1, p2, p3 = min(p + 1, stop - 1), min(p + 2, stop - 1), min(p + 3, stop - 1)
            x = out.dtype.type(rows.data[p])
            x1 = out.dtype.type(rows.data[p1]) if p + 1 < stop else zero
            x2 = out.dtype.type(rows.data[p2]) if p + 2 < stop else zero
            x3 = out.dtype.type(rows.data[p3]) if p + 3 < stop else zero
            z, z1 = left[rows.indices[p]], left[rows.indices[p1]]
            z2, z3 = left[rows.indices[p2]], left[rows.indices[p3]]
            for k in range(len(total)):
                total[k] += (x * z[k] + x1 * z1[k]) + (x2 * z2[k] + x3 * z3[k])


@compiled
def sparse_distances(left, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write the city-block distance of x_j and left_k into out[c, k]; left is (d, q)."""
    q = left.shape[1]
    norm = np.zeros(q, dtype=left.dtype)
    for feature in range(left.shape[0]):
        for k in range(q):
            norm[k] += abs(left[feature, k])
    for c in range(len(columns)):
        j, total = columns[c], out[c]
        total[:] = norm
        for p in range(rows.indptr[j], rows.indptr[j + 1]):
            x, z = left.dtype.type(rows.data[p]), left[rows.indices[p]]
            for k in range(q):
                total[k] += abs(x - z[k]) - abs(z[k])


@compiled
def dense_distances(left, right, tile):  # type: ignore[no-untyped-def]
    """Write the city-block distance of left_k and right_c into tile[k, c]; left is (q, d)."""
    for c in range(len(right)):
        for k in range(len(left)):
            total = left.dtype.type(0)
            for f in range(left.shape[1]):
                total += abs(left[k, f] - left.dtype.type(right[c, f]))
            tile[k, c] = total
