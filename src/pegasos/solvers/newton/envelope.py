"""A loss smoothed: Moreau envelopes of width q around multipliers beta, row by row.

    e(z) = max_c  gain(c) - z c - q/2 (c - beta)^2,      c = dual_step(loss, z, beta, q, y)

Its slope in z is -c, its curvature `response` (docs/mathematics.md, section 15). The c of every row
is feasible for the true loss: each step of the method has a true certificate. With q = 0, for
losses that are smooth already, e is the loss itself and c minus its slope.

All arrays of rows are (n, 1): one model. Passes are those of `row_passes`; the logistic loss itself
has quicker ones (`logistic_rows`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled, inlined
from pegasos.problem.joint_losses import JointHinge
from pegasos.problem.losses import Logistic, dual_step, response
from pegasos.problem.objective import weight
from pegasos.solvers.newton import logistic_rows, row_passes

GAP, _, _, VALUE, BALANCE = range(5)  # rows of the sums of `move`: those of `add_gap`, then ours
ROWS_OF_SUMS = 5


class Smoothing(NamedTuple):
    """Multipliers B (n, 1) and the width q."""

    B: FloatArray
    q: float


@compiled
def slopes_along(costs, smoothing, Z, D, u, span):  # type: ignore[no-untyped-def]
    """Return the sums of -s_i c_i d_i and s_i h_i d_i^2 at the scores Z + u D."""
    n = Z.size
    lines = costs.Y.reshape(n), Z.reshape(n), D.reshape(n)
    return slopes_of(costs.loss, costs, smoothing, lines, u, span)


@compiled
def move(costs, smoothing, Z, A, D, u, span, sums):  # type: ignore[no-untyped-def]
    """Move scores to Z + u D and dual numbers A with them; leave the change of A in D.

    Adds gap terms, values of the loss and s_i a_i to `sums`.
    """
    n = Z.size
    lines = costs.Y.reshape(n), Z.reshape(n), A.reshape(n), D.reshape(n)
    move_with(costs.loss, costs, smoothing, lines, u, span, sums)


@by_tag
def slopes_of(loss: Any, costs: Any, smoothing: Any, lines: Any, u: float, span: Any) -> Any:
    """Do what `slopes_along` does; `lines` are y, Z and D, of shape (n,)."""


@by_tag
def move_with(
    loss: Any, costs: Any, smoothing: Any, lines: Any, u: float, span: Any, sums: Any
) -> None:
    """Do what `move` does; `lines` are y, Z, A and D, of shape (n,)."""


@slopes_of.otherwise
def _slopes_of_any(loss, costs, smoothing, lines, u, span):  # type: ignore[no-untyped-def]
    B = smoothing.B.reshape(smoothing.B.size)
    return row_passes.slopes_at(loss, lines, costs.weights, (B, smoothing.q), u, span)


@move_with.otherwise
def _move_with_any(loss, costs, smoothing, lines, u, span, sums):  # type: ignore[no-untyped-def]
    B = smoothing.B.reshape(smoothing.B.size)
    row_passes.move_scores(loss, lines, (B, smoothing.q), u, span)
    gaps, values, balance = row_passes.sums_at(loss, lines, costs.weights, span)
    if smoothing.q > 0.0:  # at the slope of the loss itself gap terms are 0
        sums[GAP, 0] += gaps
    sums[VALUE, 0] += values
    sums[BALANCE, 0] += balance


slopes_of_any, move_with_any = inlined(_slopes_of_any), inlined(_move_with_any)


@slopes_of.register(Logistic)
def _slopes_of_logistic(loss, costs, smoothing, lines, u, span):  # type: ignore[no-untyped-def]
    if smoothing.q > 0.0:
        return slopes_of_any(loss, costs, smoothing, lines, u, span)
    return logistic_rows.slopes_at(lines, costs.weights, u, span)


@move_with.register(Logistic)
def _move_with_logistic(loss, costs, smoothing, lines, u, span, sums):  # type: ignore[no-untyped-def]
    if smoothing.q > 0.0:
        move_with_any(loss, costs, smoothing, lines, u, span, sums)
    else:
        logistic_rows.move_scores(lines, u, span)
        values, balance = logistic_rows.sums_at(lines, costs.weights, span)
        sums[VALUE, 0] += values
        sums[BALANCE, 0] += balance


@compiled
def curvatures(costs, smoothing, Z, A, span, h):  # type: ignore[no-untyped-def]
    """Write s_i times the curvature at row i into h[i]."""
    B, q = smoothing
    for i in range(span[0], span[1]):
        s, y = weight(costs.weights, i), costs.Y[i, 0]
        h[i] = 0.0
        if s > 0.0:
            h[i] = s * response(costs.loss, Z[i, 0], B[i, 0], A[i, 0], q, y)


@compiled
def secants(costs, smoothing, Z, A, D, u, span, h):  # type: ignore[no-untyped-def]
    """Write s_i times the mean curvature between the scores Z and Z + u D into h[i]."""
    B, q = smoothing
    for i in range(span[0], span[1]):
        s, y, d = weight(costs.weights, i), costs.Y[i, 0], u * D[i, 0]
        h[i] = 0.0
        if s > 0.0:
            if abs(d) > 1e-6 * q:
                c = dual_step(costs.loss, Z[i, 0] + d, B[i, 0], q, y)
                h[i] = s * max(0.0, A[i, 0] - c) / d if d > 0.0 else s * max(0.0, c - A[i, 0]) / -d
            else:
                h[i] = s * response(costs.loss, Z[i, 0], B[i, 0], A[i, 0], q, y)


def is_margin(y: FloatArray) -> bool:
    """Whether all targets are -1 or +1."""
    return bool(np.all(np.abs(y) == 1.0))


def unit_of(y: FloatArray, loss: Any = None) -> float:
    """Return the scale of the targets, or of the costs of a joint loss, for widths."""
    if isinstance(loss, JointHinge):
        return float(loss.cost.mean()) * len(loss.cost) / (len(loss.cost) - 1) or 1.0
    spread = 1.0 if is_margin(y) else float(np.mean(np.abs(y - np.median(y))))
    return spread or 1.0
