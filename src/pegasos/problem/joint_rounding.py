"""What rounding may do to joint losses: to the loss and the gap term of a row.

Scores that are known up to r each move z_k - z_y by no more than 2 r. Dual numbers a = e_y - p are
known up to a few units in the last place of each p_k, k != y, and of a_y, their sum.

    rooms    how much larger the loss and the gap term may be within r of the scores
    size     what the gap term, computed, may lose digits of
    spread   how far apart the classes are: what moving one unit of p may add to a gap term, at most
"""

from __future__ import annotations

import math
from typing import Any

from pegasos.dispatch import by_tag, inlined
from pegasos.problem.joint_losses import (
    JointHinge,
    Softmax,
    for_joint_losses,
    joint_gain,
    joint_gap,
    joint_value,
    log_sum,
    probability,
)

EPS = 2.0**-52
SWITCH = 1e-4  # of p against q: from there, `joint_losses.divergence` is a difference


@by_tag
def joint_rise(loss: Any, z: Any, y: int, r: float) -> float:
    """Return how much larger the loss may be within r of scores z."""


@by_tag
def joint_rooms(loss: Any, z: Any, a: Any, y: int, r: float) -> tuple[float, float]:
    """Return how much larger loss and gap term may be within r of scores z."""


@by_tag
def joint_size(loss: Any, z: Any, a: Any, y: int) -> float:
    """Return what the gap term may lose digits of."""


@by_tag
def joint_spread(loss: Any, z: Any, a: Any, y: int) -> float:
    """Return what moving one unit of p may add to the gap term, at most."""


@for_joint_losses(joint_rooms)
def _(loss, z, a, y, r):  # type: ignore[no-untyped-def]
    # The gap term is loss(z) + <a, z> and more: sum_k |a_k| is 2 a_y, and with the slope at most 2.
    rise = joint_rise(loss, z, y, r)
    return rise, min(2.0 * r, rise + 2.0 * a[y] * r)


# ---- the cost-sensitive hinge


@inlined
def best_margin(loss, z, y):  # type: ignore[no-untyped-def]
    """Return max_r cost[y, r] + z_r - z_y over the other classes."""
    best = -math.inf
    for r in range(len(z)):
        if r != y:
            best = max(best, loss.cost[y, r] + (z[r] - z[y]))
    return best


@joint_rise.register(JointHinge)
def _(loss, z, y, r):  # type: ignore[no-untyped-def]
    margin = best_margin(loss, z, y)
    return max(0.0, margin + 2.0 * r) - max(0.0, margin)


@joint_size.register(JointHinge)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    return joint_value(loss, z, y) + joint_gap(loss, z, a, y)


@joint_spread.register(JointHinge)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    low, high = z[y], z[y]
    for r in range(len(z)):
        low, high = min(low, loss.cost[y, r] + z[r]), max(high, loss.cost[y, r] + z[r])
    return high - low


# ---- softmax


@joint_rise.register(Softmax)
def _(loss, z, y, r):  # type: ignore[no-untyped-def]
    # The slope along the worst direction is 2 (1 - q_y) <= 2 loss, and grows like exp(2 r).
    v = joint_value(loss, z, y)
    return 2.0 * r * min(1.0, 3.0 * v) if r <= 0.5 else 2.0 * r


@joint_size.register(Softmax)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    p = probability(a, y, y)
    q = math.exp(z[y] - log_sum(z))
    total = joint_value(loss, z, y) + 2.0 * joint_gain(loss, a, y) + joint_gap(loss, z, a, y)
    total += a[y] * (1.0 - math.log(max(p, EPS)))
    return total + q if abs(p - q) >= SWITCH * q else total


@joint_spread.register(Softmax)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    low, high = z[0], z[0]
    for r in range(1, len(z)):
        low, high = min(low, z[r]), max(high, z[r])
    return (high - low) + math.log(len(z)) + 2.0 + joint_gain(loss, a, y)
