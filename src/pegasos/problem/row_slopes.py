"""Minus the slopes of a row: the dual numbers that its scores suggest."""

from __future__ import annotations

from typing import Any

from pegasos.dispatch import by_tag
from pegasos.problem.joint_losses import for_joint_losses, own_class, write_joint_slope
from pegasos.problem.losses import slope


@by_tag
def write_minus_slopes(loss: Any, costs: Any, i: int, z: Any, out: Any) -> None:
    """Write minus the slopes at scores z (K,) of row i into `out`, which may be z itself."""


@write_minus_slopes.otherwise
def _(loss, costs, i, z, out):  # type: ignore[no-untyped-def]
    for k in range(len(z)):
        out[k] = -slope(loss, z[k], costs.Y[i, k])


@for_joint_losses(write_minus_slopes)
def _(loss, costs, i, z, out):  # type: ignore[no-untyped-def]
    write_joint_slope(loss, z, own_class(costs.Y, i), out)
