"""Sums over all rows, with a constant feature of weight w[-1] where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.dispatch import compiled
from pegasos.online.scaled import increase, score
from pegasos.problem.losses import slope, value


@compiled
def _write_scores(rows, constant, w, z):  # type: ignore[no-untyped-def]
    room = np.empty(1)
    for i in range(len(z)):
        z[i] = score(rows, i, constant, w, room)


def scores_of(rows: Rows, constant: float, w: FloatArray) -> FloatArray:
    """Return <w, x_i> of every row."""
    z = np.empty(shape(rows)[0])
    _write_scores(rows, constant, w, z)
    return z


@compiled
def _write_losses(loss, z, y, out):  # type: ignore[no-untyped-def]
    for i in range(len(z)):
        out[i] = value(loss, z[i], y[i])


def each_loss(loss: Any, z: FloatArray, y: FloatArray) -> FloatArray:
    """Return loss(z_i, y_i) of every row."""
    out = np.empty(len(z))
    _write_losses(loss, z, y, out)
    return out


@compiled
def add_rows(rows, constant, weights, g):  # type: ignore[no-untyped-def]
    """Add sum_i weights[i] x_i to g, in place."""
    c = np.empty(1)
    for i in range(len(weights)):
        if weights[i] != 0.0:
            c[0] = weights[i]
            increase(rows, i, constant, c, g)


@compiled
def write_slopes(loss, z, y, out):  # type: ignore[no-untyped-def]
    """Write a slope of every row's loss."""
    for i in range(len(z)):
        out[i] = slope(loss, z[i], y[i])


def add_slopes(
    loss: Any, rows: Rows, y: FloatArray, constant: float, z: FloatArray, g: FloatArray
) -> None:
    """Add sum_i slope(z_i, y_i) x_i to g, in place."""
    slopes = np.empty(len(z))
    write_slopes(loss, z, y, slopes)
    add_rows(rows, constant, slopes, g)
