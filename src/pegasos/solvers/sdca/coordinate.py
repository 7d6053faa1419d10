"""One coordinate of the dual: the numbers a_i of a row, moved to where they are best.

Models side by side have one number each, and each is best on its own. The numbers of a joint loss
are moved together: onto the simplex (`problem.joint_losses`).

[SZ13]  Shalev-Shwartz, Zhang. Stochastic dual coordinate ascent methods for regularized loss
        minimization. JMLR 14, 2013.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pegasos.data.rows import PER_LINE, FloatArray, find
from pegasos.dispatch import by_tag, inlined
from pegasos.numba_private.intrinsics import prefetch
from pegasos.problem.gap import add_gap, add_joint_gap
from pegasos.problem.joint_losses import (
    for_joint_losses,
    own_class,
    write_joint_slope,
    write_joint_step,
)
from pegasos.problem.losses import dual_step, lower, upper

TINY = 1e-280  # curvature below which a row does not answer its own dual numbers


class DualBias(NamedTuple):
    """The bias, offset + scale * beta: beta is the weight of a feature that is always `scale`."""

    scale: float
    beta: FloatArray
    offset: FloatArray


class Room(NamedTuple):
    """Sums over the sampled rows of a pass, (3, models): gap terms, gains, weights; two rows' room.

    `z` and `step`, of shape (K,), are overwritten with every row.
    """

    met: FloatArray
    z: FloatArray
    step: FloatArray


class Visit(NamedTuple):
    """Row i, its weight s, curvature q, 1/(lam S), and whether to add up its part of the gap."""

    i: int
    s: float
    q: float
    inverse: float
    is_sampled: bool


@by_tag
def maximise(loss: Any, costs: Any, visit: Visit, A: Any, bias: DualBias, room: Room) -> Any:
    """Maximise over A[i]; write the steps of w(a) into room.step.

    room.z holds the scores without bias. Return whether any number moves, and whether all rest at
    a bound.
    """


@maximise.otherwise
def _(loss, costs, visit, A, bias, room):  # type: ignore[no-untyped-def]
    i, s, q, inverse, is_sampled = visit
    met, z, step = room
    scale, beta, offset = bias
    moves, rests = False, True
    for k in range(len(z)):
        y, a = costs.Y[i, k], A[i, k]
        score = z[k] + offset[k] + scale * beta[k]
        if is_sampled:
            add_gap(costs, i, k, score, a, met)
        c = dual_step(loss, score, a, q, y)  # [SZ13]: argmax along coordinate i
        step[k] = s * (c - a) * inverse
        moves |= step[k] != 0.0
        rests &= c == a and (a == lower(loss, y) or a == upper(loss, y))
        A[i, k] = c
    return moves, rests


@for_joint_losses(maximise)
def _(loss, costs, visit, A, bias, room):  # type: ignore[no-untyped-def]
    i, s, q, inverse, is_sampled = visit
    met, z, step = room
    scale, beta, offset = bias
    y, a = own_class(costs.Y, i), A[i]
    for k in range(len(z)):
        z[k] += offset[k] + scale * beta[k]
    if is_sampled:
        add_joint_gap(costs, i, z, a, y, met)
    if q > TINY:
        write_joint_step(loss, z, a, q, y, step)  # all of them at once
    else:
        write_joint_slope(loss, z, y, step)
    moves, rests = False, True
    for k in range(len(z)):
        c = step[k]
        step[k] = s * (c - a[k]) * inverse
        moves |= step[k] != 0.0
        rests &= c == a[k] and (c == 0.0 or abs(c) == 1.0)
        a[k] = c
    return moves, rests


@inlined
def expect(problem, i, square_norms, A, idle):  # type: ignore[no-untyped-def]
    """Hint that row i will be fetched and visited soon: where it lies, and its numbers."""
    K = A.shape[1]
    find(problem.rows, i)
    prefetch(square_norms, i)
    prefetch(idle, i)
    for k in range(0, K, PER_LINE):
        prefetch(A, i * K + k)
        prefetch(problem.costs.Y, i * K + k)
