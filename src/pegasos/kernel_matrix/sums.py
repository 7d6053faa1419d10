"""Weighted sums of rows of kernel values, in double precision whatever the values are stored in."""

from __future__ import annotations

import numpy as np

from pegasos.dispatch import compiled, reordering_sums


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
