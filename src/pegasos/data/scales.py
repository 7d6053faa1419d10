"""Scales of columns, measured on a sample of rows: how uneven, how large, how far from 0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, Rows, shape, stored_values

SAMPLED_ROWS, SAMPLED_VALUES = 10_000, 500_000
CONSTANT = 1e-7  # spread over mean of a column that does not vary


class Scales(NamedTuple):
    """Column scales of a sample of rows: the extremes and their columns, the rows' mean square.

    `offset` is the largest mean of a column in units of its spread, in column `offset_column`.
    """

    least: float
    most: float
    least_column: int
    most_column: int
    mean_square: float
    offset: float = 0.0
    offset_column: int = 0

    @property
    def ratio(self) -> float:
        """Return how many times the largest scale exceeds the smallest."""
        return self.most / self.least if self.least > 0.0 else 1.0


def column_scales(rows: Rows) -> Scales:
    """Measure the root mean square, and mean and spread, of columns on a sample of rows."""
    means, spreads, squares, mean_square = _column_moments(rows)
    present = np.flatnonzero(squares > 0.0)
    if len(present) == 0:
        return Scales(0.0, 0.0, 0, 0, 0.0)
    order = present[np.argsort(squares[present])]
    # On wide data a few columns always stand out: leave one in a hundred out at either end.
    few = len(order) // 100
    least, most = order[few], order[-1 - few]
    spreads[spreads <= CONSTANT * np.abs(means)] = 0.0
    offsets = np.divide(np.abs(means), spreads, out=np.zeros_like(means), where=spreads > 0.0)
    farthest = int(offsets.argmax())
    return Scales(
        float(np.sqrt(squares[least])),
        float(np.sqrt(squares[most])),
        int(least),
        int(most),
        float(mean_square),
        float(offsets[farthest]),
        farthest,
    )


def _column_moments(rows: Rows) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return means, spreads and mean squares per column, and the rows' mean square, on a sample.

    Of sparse rows, mean squares are of stored values.
    """
    n, d = shape(rows)
    values_per_row = max(1, stored_values(rows) // n)
    step = max(1, n // max(1, min(SAMPLED_ROWS, SAMPLED_VALUES // values_per_row)))
    if not isinstance(rows, CsrRows):
        some = rows.X[::step].astype(np.float64)
        squares = np.square(some).mean(axis=0)
        return some.mean(axis=0), some.std(axis=0), squares, float(squares.sum())
    chosen = np.arange(0, n, step)
    starts, stops = rows.indptr[chosen], rows.indptr[chosen + 1]
    places = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    places = places.astype(np.int64)
    values, columns = rows.data[places].astype(np.float64), rows.indices[places].astype(np.int64)
    count = np.bincount(columns, minlength=d)
    total, squares = (np.bincount(columns, weights=w, minlength=d) for w in (values, values**2))
    means = total / len(chosen)
    spreads = np.sqrt(np.maximum(0.0, squares / len(chosen) - means**2))
    mean_square = float(squares.sum() / len(chosen))
    return means, spreads, squares / np.maximum(1, count), mean_square
