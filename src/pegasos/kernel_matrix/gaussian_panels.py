"""Gaussian kernel values of dense rows, written into place or summed while they are in the cache.

A panel of products comes from BLAS, fits a core's own cache, and is read once: the exponential goes
straight to where values are kept, or is weighted and added up. With few columns this costs less
than to store values and to read them again.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cython_blas  # noqa: F401  what `np.dot` calls: its threads are counted

from pegasos.dispatch import compiled, inlined
from pegasos.problem.gaussian import gaussian

LEFT, RIGHT = 64, 512  # rows of a panel


@compiled
def fill_gaussian(rows, others, left, right, out, places, at):  # type: ignore[no-untyped-def]
    """Write the kernel value of rows[k] and others[c] into out[places[k], at + c]."""
    room = np.empty(LEFT * RIGHT, dtype=rows.dtype)
    for c in range(0, len(others), RIGHT):
        some, of_some = others[c : c + RIGHT], right[c : c + RIGHT]
        for first in range(0, len(rows), LEFT):
            mine = rows[first : first + LEFT]
            panel = room[: len(mine) * len(some)].reshape((len(mine), len(some)))
            np.dot(mine, some.T, panel)
            for k in range(len(mine)):
                row, of_left = panel[k], left[first + k]
                target = out[places[first + k], at + c : at + c + len(some)]
                for i in range(len(row)):
                    target[i] = gaussian(row[i], of_left, of_some[i])


@compiled
def add_gaussian(rows, others, left, right, coefficients, Z):  # type: ignore[no-untyped-def]
    """Add coefficients[k, m] times the kernel value of rows[k] and others[c] to Z[c, m]."""
    K = Z.shape[1]
    room, wide = np.empty(LEFT * RIGHT, dtype=rows.dtype), np.empty(LEFT * RIGHT * (K > 1))
    sums, part = np.empty(K * RIGHT), np.empty(K * RIGHT * (K > 1))
    for c in range(0, len(others), RIGHT):
        some, of_some = others[c : c + RIGHT], right[c : c + RIGHT]
        total = sums[: K * len(some)].reshape((K, len(some)))
        total[:] = 0.0
        for first in range(0, len(rows), LEFT):
            mine = rows[first : first + LEFT]
            panel = room[: len(mine) * len(some)].reshape((len(mine), len(some)))
            np.dot(mine, some.T, panel)
            if K == 1:
                add_panel(panel, left, of_some, first, coefficients, total[0])
            else:
                values = wide[: len(mine) * len(some)].reshape((len(mine), len(some)))
                for k in range(len(mine)):
                    row, to, of_left = panel[k], values[k], left[first + k]
                    for i in range(len(row)):
                        to[i] = gaussian(row[i], of_left, of_some[i])
                more = part[: K * len(some)].reshape((K, len(some)))
                np.dot(coefficients[first : first + LEFT].T, values, more)
                total += more
        for i in range(len(some)):
            for m in range(K):
                Z[c + i, m] += total[m, i]


@inlined
def add_panel(panel, left, right, first, coefficients, total):  # type: ignore[no-untyped-def]
    """Add the weighted kernel values of a panel of products; four rows at a time for one sum."""
    last = len(panel) - 1
    for k in range(0, len(panel), 4):
        a, b, c = min(k + 1, last), min(k + 2, last), min(k + 3, last)
        p = coefficients[first + k, 0]
        q = coefficients[first + a, 0] if k + 1 <= last else 0.0
        u = coefficients[first + b, 0] if k + 2 <= last else 0.0
        v = coefficients[first + c, 0] if k + 3 <= last else 0.0
        row, second, third, fourth = panel[k], panel[a], panel[b], panel[c]
        w, x = left[first + k], left[first + a]
        y, z = left[first + b], left[first + c]
        for i in range(len(total)):
            right_i = right[i]
            pair = p * gaussian(row[i], w, right_i) + q * gaussian(second[i], x, right_i)
            other = u * gaussian(third[i], y, right_i) + v * gaussian(fourth[i], z, right_i)
            total[i] += pair + other
