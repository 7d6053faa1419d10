"""Weights as w = f s v: what makes a step of the Euclidean methods cost the nonzeros of its row.

Shrinking changes the number s. A lazy learner keeps the sum of gradients as s v and plays it times
f = -eta_t, shortened to the ball; an eager one has f = 1 and shortens s itself.

The sum of iterates costs no more: it is sigma v - behind, plus what was multiplied out before. When
c x is added to v, sigma v would count it for all steps so far; `behind` takes sigma c x away again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import add, scores
from pegasos.dispatch import by_tag, inlined
from pegasos.online.rules import Lazy, Mirror
from pegasos.online.sets import Everywhere, L2Ball
from pegasos.online.steps import size
from pegasos.online.tally import EPS

# Numbers that change from step to step.
S = 0
SIGMA = 1  # sum of f s over the steps since v was last multiplied out
SQUARE = 2  # ||v||^2, updated
DOUBT = 3  # by how much rounding may have moved it
TINY = 1e-100  # a scale below this is multiplied out


@by_tag
def reach_of(within: Any) -> float:
    """Return the radius of the ball, infinity for none."""


@by_tag
def is_lazy(rule: Any) -> bool:
    """Whether s v stands for the sum of gradients; else for the weights."""


@by_tag
def factor(rule: Any, t: float, reach: float, norm: float) -> float:
    """Return f with w_t = f s v, given ||s v||."""


@by_tag
def change(rule: Any, t: float, lam: float, f: float) -> tuple[float, float, float]:
    """Return eta_t, and (shrink, push): s v becomes shrink s v + push a x."""


@by_tag
def kept(rule: Any, reach: float, norm: float) -> float:
    """Return the share of s v that an eager learner's projection leaves."""


@reach_of.register(Everywhere)
def _(within):  # type: ignore[no-untyped-def]
    return np.inf


@reach_of.register(L2Ball)
def _(within):  # type: ignore[no-untyped-def]
    return within.radius


@is_lazy.register(Mirror)
def _(rule):  # type: ignore[no-untyped-def]
    return False


@is_lazy.register(Lazy)
def _(rule):  # type: ignore[no-untyped-def]
    return True


@factor.register(Mirror)
def _(rule, t, reach, norm):  # type: ignore[no-untyped-def]
    return 1.0


@factor.register(Lazy)
def _(rule, t, reach, norm):  # type: ignore[no-untyped-def]
    eta = size(rule.step, t)
    return -reach / norm if eta * norm > reach else -eta


@change.register(Mirror)
def _(rule, t, lam, f):  # type: ignore[no-untyped-def]
    eta = size(rule.step, t)
    return eta, 1.0 - eta * lam, -eta  # w <- (1 - eta lam) w - eta a x


@change.register(Lazy)
def _(rule, t, lam, f):  # type: ignore[no-untyped-def]
    return size(rule.step, t), 1.0 + lam * f, 1.0  # G <- G + lam w + a x, w = f G


@kept.register(Mirror)
def _(rule, reach, norm):  # type: ignore[no-untyped-def]
    return reach / norm if norm > reach else 1.0


@kept.register(Lazy)
def _(rule, reach, norm):  # type: ignore[no-untyped-def]
    return 1.0


@inlined
def score(rows, i, constant, w, z):  # type: ignore[no-untyped-def]
    """Return <w, x_i>, the constant feature included; z is room for one number."""
    if constant == 0.0:
        scores(rows, i, w, z)
        return z[0]
    scores(rows, i, w[: len(w) - 1], z)
    return z[0] + constant * w[len(w) - 1]


@inlined
def increase(rows, i, constant, c, w):  # type: ignore[no-untyped-def]
    """Add c[0] x_i to w, the constant feature included."""
    if constant == 0.0:
        add(rows, i, c, w)
    else:
        add(rows, i, c, w[: len(w) - 1])
        w[len(w) - 1] += c[0] * constant


@inlined
def multiply_out(v, total, behind, numbers):  # type: ignore[no-untyped-def]
    """Book the sum of iterates, write s v into v, and start again from s = 1."""
    s, sigma, square = numbers[S], numbers[SIGMA], 0.0
    for j in range(len(v)):
        total[j] += sigma * v[j] - behind[j]
        behind[j] = 0.0
        v[j] *= s
        square += v[j] * v[j]
    numbers[S], numbers[SIGMA] = 1.0, 0.0
    numbers[SQUARE], numbers[DOUBT] = square, (len(v) + 16.0) * EPS * square


@inlined
def extend(product, x_square, c, values, numbers):  # type: ignore[no-untyped-def]
    """Update ||v||^2 for v + c x, <v, x> = product, and the bound on its error."""
    square = numbers[SQUARE]
    cross, own = 2.0 * c * product, c * c * x_square
    size_of_cross = 2.0 * abs(c) * np.sqrt((square + numbers[DOUBT]) * x_square)
    numbers[DOUBT] += (values + 16.0) * EPS * size_of_cross
    numbers[DOUBT] += 8.0 * EPS * (square + size_of_cross + own)
    numbers[SQUARE] = max(0.0, square + cross + own)
