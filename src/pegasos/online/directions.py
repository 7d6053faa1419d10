"""Newton's equations of a smoothed problem (`newton`), solved in the units of the columns.

    H p = g,      H = X~' diag(rows) X~ + diag(columns) + side side',      X~ = X / scale

by the products of all columns and a Cholesky factor, or by conjugate gradients, which need nothing
but two passes over the rows each: for more columns than their products are affordable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.online.saddle import Saddle
from pegasos.online.tally import inner
from pegasos.solvers.newton.columns import spread
from pegasos.solvers.newton.equations import solved
from pegasos.solvers.newton.hessian import hessian

DAMPING = 1e-12  # of the largest curvature
REACH = 16.0  # units that one weight alone may go in a step, where neither rows nor set answer
ENOUGH = 0.03  # of the first residual, in the norm of the preconditioner: where a direction is good
MOST = 200  # conjugate directions; their sum is a descent direction wherever it ends


class Curvature(NamedTuple):
    """What H is made of: numbers of shape (n,), (d,) and (d,)."""

    rows: FloatArray
    columns: FloatArray
    side: FloatArray


def by_products(saddle: Saddle, curved: Curvature, g: FloatArray) -> FloatArray:
    """Return the solution, from all of H."""
    d = len(g)
    H = hessian(saddle.problem, saddle.columns, curved.rows)[:d, :d].copy()
    H += np.outer(curved.side, curved.side)
    H.flat[:: d + 1] += curved.columns
    lacking = np.maximum(0.0, np.abs(g) / REACH - H.diagonal())
    return solved(H, g, lacking, DAMPING * float(H.diagonal().max()))


def by_conjugate_gradients(saddle: Saddle, curved: Curvature, g: FloatArray) -> FloatArray:
    """Return nearly the solution, by conjugate gradients with the diagonal as preconditioner."""
    diagonal = _diagonal(saddle, curved)
    more = np.maximum(0.0, np.abs(g) / REACH - diagonal) + DAMPING * float(diagonal.max())
    diagonal += more
    more += curved.columns
    p, r = np.zeros(len(g)), g.copy()
    along = r / diagonal
    square = first = inner(r, along)
    for _ in range(MOST):
        answer = saddle.sum_of(curved.rows * saddle.scores(along / saddle.scale)) / saddle.scale
        answer += more * along + inner(curved.side, along) * curved.side
        bend = inner(along, answer)
        if not bend > 0.0:  # nothing but rounding is left
            break
        p += square / bend * along
        r -= square / bend * answer
        z = r / diagonal
        last, square = square, inner(r, z)
        if square <= ENOUGH**2 * first:
            break
        along = z + square / last * along
    return p


def _diagonal(saddle: Saddle, curved: Curvature) -> FloatArray:
    """Return the diagonal of H."""
    costs, (m, scale, _) = saddle.costs, saddle.columns
    sums = tuple(np.zeros(len(m)) for _ in range(4))
    add_squares(costs.rows, curved.rows, np.zeros(len(m)), sums)
    of_rows = sums[0] / scale**2
    if costs.constant:
        of_rows = np.append(of_rows, costs.constant**2 * curved.rows.sum())
    diagonal: FloatArray = of_rows + curved.columns + curved.side**2
    return diagonal


@compiled
def add_squares(rows, h, m, sums):  # type: ignore[no-untyped-def]
    """Add h_i (x_ij - m_j)^2 to the first of the sums; see `columns.spread`."""
    for i in range(len(h)):
        if h[i] > 0.0:
            spread(rows, i, h[i], m, sums)
