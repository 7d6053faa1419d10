"""A loss added by the recipe of CONTRIBUTING.md, steps 1 to 3: the hinge with its kink rounded off.

value   0 for u <= 0,  u^2 / (2 width) for u <= width,  u - width/2 beyond;    u = 1 - y z
gain    b - width/2 b^2,    b = y a in [0, 1]
"""

from typing import NamedTuple

from pegasos.dispatch import distinct
from pegasos.problem.losses import (
    MARGIN_LOSSES,
    descend,
    dual_step,
    gain,
    gap_term,
    lower,
    response,
    slope,
    upper,
    value,
)


@distinct
class SmoothHinge(NamedTuple):
    """The hinge, rounded off over a width; feasible b in [0, 1]."""

    width: float


MARGIN_LOSSES["smooth_hinge"] = SmoothHinge(0.5)


@value.register(SmoothHinge)
def _(loss, z, y):
    u = 1.0 - y * z
    if u <= 0.0:
        return 0.0
    return u * u / (2.0 * loss.width) if u <= loss.width else u - 0.5 * loss.width


@slope.register(SmoothHinge)
def _(loss, z, y):
    return -y * min(1.0, max(0.0, (1.0 - y * z) / loss.width))


@gain.register(SmoothHinge)
def _(loss, a, y):
    b = y * a
    return b - 0.5 * loss.width * b * b


@gap_term.register(SmoothHinge)
def _(loss, z, a, y):
    b, u, width = y * a, 1.0 - y * z, loss.width
    if u <= 0.0:
        return -b * u + 0.5 * width * b * b
    if u <= width:
        return (u - width * b) * (u - width * b) / (2.0 * width)
    return (1.0 - b) * (u - width) + 0.5 * width * (1.0 - b) * (1.0 - b)


@dual_step.register(SmoothHinge)
def _(loss, z, a, q, y):
    return y * min(1.0, max(0.0, (1.0 - y * z + q * y * a) / (loss.width + q)))


@response.register(SmoothHinge)
def _(loss, z, a, c, q, y):
    return 1.0 / (loss.width + q) if 0.0 < abs(c) < 1.0 else 0.0


@descend.register(SmoothHinge)
def _(loss, z, shrunk, q, y):
    return y * min(1.0, max(0.0, (1.0 - y * z) / loss.width))


@lower.register(SmoothHinge)
def _(loss, y):
    return 0.0 if y > 0.0 else -1.0


@upper.register(SmoothHinge)
def _(loss, y):
    return 1.0 if y > 0.0 else 0.0
