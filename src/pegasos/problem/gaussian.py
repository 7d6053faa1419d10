"""Gaussian kernel values, elementwise, from inner products of rows and their square norms."""

from __future__ import annotations

from pegasos.dispatch import compiled, inlined
from pegasos.problem.exponential import exp_up_to_1


@inlined
def gaussian(product, left, right):  # type: ignore[no-untyped-def]
    """Return exp(2 gamma <x, z> - gamma ||x||^2 - gamma ||z||^2), of its three parts.

    A distance that rounding made negative counts as 0, and so does what is not a number.
    """
    return exp_up_to_1(product + left + right)


@compiled
def to_gaussian(block, left, right):  # type: ignore[no-untyped-def]
    """Turn block[k, c], products of rows, into kernel values in place."""
    for k in range(block.shape[0]):
        row, of_left = block[k], left[k]
        for c in range(len(row)):
            row[c] = gaussian(row[c], of_left, right[c])
