"""Losses: what a row costs, and everything a solver or a certificate asks about it.

A loss is convex in the score z = <w, x> + b and enters kernels as a tag. With the dual number `a`
of a row (w = 1/(lam S) sum_i s_i a_i x_i), every loss answers

    value(loss, z, y)             loss(z)
    slope(loss, z, y)             a sub-gradient of loss at z
    gain(loss, a, y)              -loss*(-a): the row's term of the dual objective
    gap_term(loss, z, a, y)       loss(z) + loss*(-a) + a z >= 0, without cancellation
    dual_step(loss, z, a, q, y)   argmax_c  gain(c) - z (c - a) - q/2 (c - a)^2
    response(loss, z, a, c, q, y)   -dc/dz of that c: how fast it answers a change of the score
    descend(loss, z, z1, q, y)    the dual number a primal step takes on (see `solvers.primal`)
    lower(loss, y), upper(...)    the interval of feasible a

Conventions: y is -1 or +1 for the margin losses, and b = y a. At a kink (y z == 1, abs(z - y) ==
epsilon) the loss counts as satisfied: the slope is 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import by_tag, compiled, distinct, inlined
from pegasos.problem.joint_losses import JointHinge
from pegasos.problem.logarithm import LEAST, log_1_plus, log_up_to_1, quotient

ULP = float(np.finfo(np.float64).eps)


@distinct
class Hinge(NamedTuple):
    """max(0, 1 - y z); feasible b in [0, 1]."""


@distinct
class SquaredHinge(NamedTuple):
    """max(0, 1 - y z)^2; feasible b >= 0."""


@distinct
class Logistic(NamedTuple):
    """log(1 + exp(-y z)); feasible b in [0, 1]."""


@distinct
class EpsilonInsensitive(NamedTuple):
    """max(0, abs(z - y) - epsilon); feasible a in [-1, 1]."""

    epsilon: float


def is_smooth(loss: Any) -> bool:
    """Whether the slope is continuous, as far as known."""
    return not isinstance(loss, Hinge | EpsilonInsensitive | JointHinge)


# What estimators accept, by name. A regression loss is made with the user's epsilon.
MARGIN_LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}
REGRESSION_LOSSES: dict[str, Any] = {"epsilon_insensitive": EpsilonInsensitive}


def is_margin_loss(loss: Any) -> bool:
    """Whether a tag is that of a built-in loss of classification, never negative."""
    return isinstance(loss, tuple(type(known) for known in MARGIN_LOSSES.values()))


def is_regression_loss(loss: Any) -> bool:
    """Whether a tag is that of a built-in loss of regression."""
    return isinstance(loss, tuple(REGRESSION_LOSSES.values()))


@by_tag
def value(loss: Any, z: float, y: float) -> float:
    """Return the loss at score z."""


@by_tag
def slope(loss: Any, z: float, y: float) -> float:
    """Return a sub-gradient of the loss at score z; 0 at a kink."""


@by_tag
def gain(loss: Any, a: float, y: float) -> float:
    """Return -loss*(-a), the dual objective's term."""


@by_tag
def gap_term(loss: Any, z: float, a: float, y: float) -> float:
    """Return loss(z) + loss*(-a) + a z as a sum of non-negative terms."""


@by_tag
def dual_step(loss: Any, z: float, a: float, q: float, y: float) -> float:
    """Return the a that maximises the dual along one row of curvature q >= 0."""


@by_tag
def response(loss: Any, z: float, a: float, c: float, q: float, y: float) -> float:
    """Return -dc/dz >= 0 for c = dual_step(loss, z, a, q, y); 0 where c rests at a bound.

    It is the curvature of the loss's Moreau envelope of width q, or of the loss itself for q = 0.
    """


@by_tag
def descend(loss: Any, z: float, shrunk: float, q: float, y: float) -> float:
    """Return the dual number of a primal step taken at score z.

    Explicit for losses of bounded slope: -slope(z). Implicit for steep ones, whose plain 1/(lam t)
    step overflows at small lam: the slope is taken where the step ends, with `shrunk` the score
    after shrinking and q its growth per unit of a.
    """


@by_tag
def lower(loss: Any, y: float) -> float:
    """Return the least feasible a."""


@by_tag
def upper(loss: Any, y: float) -> float:
    """Return the largest feasible a."""


# ---- hinge


@value.register(Hinge)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return max(0.0, 1.0 - y * z)


@slope.register(Hinge)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return -y if y * z < 1.0 else 0.0


@gain.register(Hinge)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    return y * a


@gap_term.register(Hinge)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    b, u = y * a, 1.0 - y * z
    return (1.0 - b) * u if u > 0.0 else -b * u


@dual_step.register(Hinge)
def _(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    u = 1.0 - y * z
    if q == 0.0:
        return a if u == 0.0 else (y if u > 0.0 else 0.0)
    return y * min(1.0, max(0.0, y * a + quotient(u, q)))


@response.register(Hinge)
def _(loss, z, a, c, q, y):  # type: ignore[no-untyped-def]
    return quotient(1.0, q) if 0.0 < abs(c) < 1.0 else 0.0


@descend.register(Hinge)
def _(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return y if y * z < 1.0 else 0.0


@lower.register(Hinge)
@lower.register(Logistic)
def _(loss, y):  # type: ignore[no-untyped-def]
    return 0.0 if y > 0.0 else -1.0


@upper.register(Hinge)
@upper.register(Logistic)
def _(loss, y):  # type: ignore[no-untyped-def]
    return 1.0 if y > 0.0 else 0.0


# ---- squared hinge


@value.register(SquaredHinge)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    u = max(0.0, 1.0 - y * z)
    return u * u


@slope.register(SquaredHinge)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return -2.0 * y * max(0.0, 1.0 - y * z)


@gain.register(SquaredHinge)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    b = y * a
    return b - 0.25 * b * b


@gap_term.register(SquaredHinge)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    b, u = y * a, 1.0 - y * z
    rest = max(0.0, u) - 0.5 * b
    return rest * rest + b * max(0.0, -u)


@dual_step.register(SquaredHinge)
def _(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    b = y * a
    return y * max(0.0, b + quotient(1.0 - y * z - 0.5 * b, q + 0.5))


@response.register(SquaredHinge)
def _(loss, z, a, c, q, y):  # type: ignore[no-untyped-def]
    return quotient(1.0, q + 0.5) if c != 0.0 else 0.0


@descend.register(SquaredHinge)
def _(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return y * max(0.0, 1.0 - y * shrunk) / (q + 0.5)


@lower.register(SquaredHinge)
def _(loss, y):  # type: ignore[no-untyped-def]
    return 0.0 if y > 0.0 else -math.inf


@upper.register(SquaredHinge)
def _(loss, y):  # type: ignore[no-untyped-def]
    return math.inf if y > 0.0 else 0.0


# ---- logistic


@compiled
def softplus(t):  # type: ignore[no-untyped-def]
    """Return log(1 + exp(t)) without overflow."""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@compiled
def sigmoid(t):  # type: ignore[no-untyped-def]
    """Return 1 / (1 + exp(-t)) without overflow."""
    e = math.exp(-abs(t))
    return (1.0 if t >= 0.0 else e) / (1.0 + e)


@inlined
def entropy(b):  # type: ignore[no-untyped-def]
    """Return -b log b - (1-b) log(1-b), 0 at both ends.

    With r = b / (1-b), or the inverse of that, it is log(1+r) - b log r.
    """
    least = b if b < 0.5 else 1.0 - b
    if not least >= LEAST:
        return 0.0
    r = quotient(least, 1.0 - least)
    return log_1_plus(r) - least * log_up_to_1(r)


@value.register(Logistic)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return softplus(-y * z)


@slope.register(Logistic)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return -y * sigmoid(-y * z)


@gain.register(Logistic)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    return entropy(y * a)


@gap_term.register(Logistic)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    b, m = y * a, y * z
    least = math.log1p(math.exp(-abs(m)))  # softplus of -|m|; that of |m| has |m| more
    more = b * m if m > 0.0 else (b - 1.0) * m
    return max(0.0, least + more - entropy(b))  # KL(b, sigmoid(-m))


@dual_step.register(Logistic)
def _(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    # With b = sigmoid(t) the optimum is the root of the increasing g(t) = t + y z + q (b(t) - b_0).
    m, start = y * z, y * a
    if q == 0.0:
        return y * sigmoid(-m)
    low, high = -m - q * (1.0 - start), -m + q * start
    t = -m
    for _ in range(100):
        b = sigmoid(t)
        g = t + m + q * (b - start)
        if g > 0.0:
            high = t
        else:
            low = t
        following = t - g / (1.0 + q * b * (1.0 - b))
        if not low < following < high:
            following = 0.5 * (low + high)
        size = abs(t) + abs(m) + q * (b + start)
        if abs(g) <= ULP * size or abs(following - t) <= ULP * abs(t):
            break
        t = following
    return y * sigmoid(t)


@response.register(Logistic)
def _(loss, z, a, c, q, y):  # type: ignore[no-untyped-def]
    b = abs(c)
    return b * (1.0 - b) / (1.0 + q * b * (1.0 - b))


@descend.register(Logistic)
def _(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return y * sigmoid(-y * z)


# ---- epsilon-insensitive


@value.register(EpsilonInsensitive)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    return max(0.0, abs(z - y) - loss.epsilon)


@slope.register(EpsilonInsensitive)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    r = z - y
    return 1.0 if r > loss.epsilon else (-1.0 if r < -loss.epsilon else 0.0)


@gain.register(EpsilonInsensitive)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    return y * a - loss.epsilon * abs(a)


@gap_term.register(EpsilonInsensitive)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    r, size = z - y, abs(a)
    excess = abs(r) - loss.epsilon
    aligned = size * abs(r) + a * r  # 0 when a and r have opposite signs
    return ((1.0 - size) * excess if excess > 0.0 else -size * excess) + aligned


@dual_step.register(EpsilonInsensitive)
def _(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    r = y - z
    if q == 0.0:
        if abs(r) == loss.epsilon:  # flat on one side of 0
            return max(0.0, a) if r > 0.0 else min(0.0, a)
        return 0.0 if abs(r) < loss.epsilon else (1.0 if r > 0.0 else -1.0)
    centre, dead = a + quotient(r, q), quotient(loss.epsilon, q)
    c = max(0.0, abs(centre) - dead)
    return math.copysign(min(1.0, c), centre)


@response.register(EpsilonInsensitive)
def _(loss, z, a, c, q, y):  # type: ignore[no-untyped-def]
    return quotient(1.0, q) if 0.0 < abs(c) < 1.0 else 0.0


@descend.register(EpsilonInsensitive)
def _(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return -slope(loss, z, y)


@lower.register(EpsilonInsensitive)
def _(loss, y):  # type: ignore[no-untyped-def]
    return -1.0


@upper.register(EpsilonInsensitive)
def _(loss, y):  # type: ignore[no-untyped-def]
    return 1.0
