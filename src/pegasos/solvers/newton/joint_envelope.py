"""Joint losses smoothed: `envelope` for rows with one score per class.

    e(z) = max_c  gain(c) - <z, c> - q/2 ||c - beta||^2,      c = e_y - p, p in the simplex

Its slope in z is -c. Its curvature, for every joint loss, is

    diag(t) - t t' / sum(t),     t_r = 1/q on the support of p (hinge), p_r / (1 + q p_r) (softmax)

so that a row in whose p one class is alone does not answer. With q = 0, for softmax, e is the loss
itself. All arrays of rows are (n, K): one model with K outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.dispatch import by_tag, compiled, inlined, kernel, reordering_sums
from pegasos.problem.gap import add_joint_gap
from pegasos.problem.joint_losses import (
    JointHinge,
    Softmax,
    joint_value,
    own_class,
    probability,
    write_joint_slope,
    write_joint_step,
)
from pegasos.problem.objective import weight
from pegasos.solvers.newton.envelope import BALANCE, VALUE


@by_tag
def write_curvature(loss: Any, a: Any, q: float, y: int, t: Any) -> None:
    """Write t of the curvature diag(t) - t t' / sum(t) at dual numbers a."""


@write_curvature.register(JointHinge)
def _(loss, a, q, y, t):  # type: ignore[no-untyped-def]
    inverse = 1.0 / q
    for r in range(len(a)):
        t[r] = inverse if a[r] < 0.0 else 0.0
    t[y] = inverse if probability(a, y, y) > 0.0 else 0.0


@write_curvature.register(Softmax)
def _(loss, a, q, y, t):  # type: ignore[no-untyped-def]
    for r in range(len(a)):
        p = max(0.0, probability(a, y, r))  # rounding may have made a_y more than 1
        t[r] = p / (1.0 + q * p)


@inlined
def write_answer(loss, z, b, q, y, c):  # type: ignore[no-untyped-def]
    """Write the dual numbers at scores z, with multipliers b."""
    if q > 0.0:
        write_joint_step(loss, z, b, q, y, c)
    else:
        write_joint_slope(loss, z, y, c)


@reordering_sums
def bend(t, d):  # type: ignore[no-untyped-def]
    """Return d' (diag(t) - t t' / sum(t)) d."""
    total, first, second = 0.0, 0.0, 0.0
    for r in range(len(t)):
        total += t[r]
        first += t[r] * d[r]
        second += t[r] * d[r] * d[r]
    return max(0.0, second - first * first / total)


@reordering_sums
def product(c, d):  # type: ignore[no-untyped-def]
    """Return <c, d>."""
    total = 0.0
    for r in range(len(c)):
        total += c[r] * d[r]
    return total


def slopes_along(  # noqa: PLR0913
    costs: Any, smoothing: Any, Z: Any, D: Any, u: float, span: tuple[int, int]
) -> tuple[float, float]:
    """Return the sums of -s_i <c_i, d_i> and of s_i times the curvature along d_i at Z + u D."""
    first, second = sums_along(costs, smoothing, (Z, D), u, span, np.empty((3, Z.shape[1])))
    return first, second


@kernel
def sums_along(costs, smoothing, line, u, span, room):  # type: ignore[no-untyped-def]
    """Return what `slopes_along` does; `room` is (3, K)."""
    (B, q), (Z, D), first, second = smoothing, line, 0.0, 0.0
    z, c, t = room[0], room[1], room[2]
    for i in range(span[0], span[1]):
        s, y, d = weight(costs.weights, i), own_class(costs.Y, i), D[i]
        for k in range(len(z)):
            z[k] = Z[i, k] + u * d[k]
        write_answer(costs.loss, z, B[i], q, y, c)
        if c[y] > 0.0:  # else it is satisfied, and alone
            write_curvature(costs.loss, c, q, y, t)
            first -= s * product(c, d)
            second += s * bend(t, d)
    return first, second


def move(  # noqa: PLR0913
    costs: Any, smoothing: Any, Z: Any, A: Any, D: Any, u: float, span: tuple[int, int], sums: Any
) -> None:
    """Move scores to Z + u D and dual numbers A with them; leave the change of A in D.

    Adds gap terms and values of the loss to the first column of `sums`, and s_i a_i.
    """
    move_each(costs, smoothing, (Z, A, D), u, span, sums, np.empty(Z.shape[1]))


@kernel
def move_each(costs, smoothing, numbers, u, span, sums, c):  # type: ignore[no-untyped-def]
    """Do what `move` does; `c` (K,) is room."""
    (B, q), (Z, A, D) = smoothing, numbers
    for i in range(span[0], span[1]):
        s, y = weight(costs.weights, i), own_class(costs.Y, i)
        for k in range(len(c)):
            Z[i, k] += u * D[i, k]
        write_answer(costs.loss, Z[i], B[i], q, y, c)
        for k in range(len(c)):
            D[i, k], A[i, k] = c[k] - A[i, k], c[k]
            sums[BALANCE, k] += s * c[k]
        if c[y] > 0.0:  # else it is satisfied
            if q > 0.0:  # at the slope of the loss itself the gap term is 0
                add_joint_gap(costs, i, Z[i], c, y, sums)
            sums[VALUE, 0] += s * joint_value(costs.loss, Z[i], y)


@kernel
def curvatures(costs, smoothing, A, span, T):  # type: ignore[no-untyped-def]
    """Write s_i t_i into T[i]."""
    _, q = smoothing
    for i in range(span[0], span[1]):
        s = weight(costs.weights, i)
        write_curvature(costs.loss, A[i], q, own_class(costs.Y, i), T[i])
        for k in range(T.shape[1]):
            T[i, k] *= s


@compiled
def add_curvatures_onward(costs, smoothing, Z, D, u, span, T):  # type: ignore[no-untyped-def]
    """Make T[i] the mean of itself and of s_i t_i at the scores Z + u D."""
    B, q = smoothing
    z, c, t = np.empty((3, Z.shape[1]))
    for i in range(span[0], span[1]):
        s, y = weight(costs.weights, i), own_class(costs.Y, i)
        for k in range(len(z)):
            z[k] = Z[i, k] + u * D[i, k]
        write_answer(costs.loss, z, B[i], q, y, c)
        write_curvature(costs.loss, c, q, y, t)
        for k in range(len(z)):
            T[i, k] = 0.5 * (T[i, k] + s * t[k])
