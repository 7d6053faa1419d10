"""Newton's equations H p = -gradient in standardised columns, and their solution.

The unknowns are the directions of w~ (`columns`) and of the bias b for centred rows. A regularised
bias is penalised as it is for rows as they are, b - <m, w>.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, reordering_sums
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.envelope import BALANCE

REACH = 16.0  # change of scores that one column alone may cause in a step


class Terms(NamedTuple):
    """What of the objective is not of single rows, and the targets' scale."""

    S: float
    lam: float
    bias_scale: float
    is_free: bool
    unit: float


class Place(NamedTuple):
    """Weights w (d, K) and biases b (K,), v = sum_i s_i a_i (x_i - m) / S, the sums of `move`.

    K is 1, or the number of classes for a joint loss.
    """

    w: FloatArray
    b: FloatArray
    v: FloatArray
    sums: FloatArray


def terms_of(problem: Problem, unit: float) -> Terms:
    """Return what of the objective is not of single rows."""
    return Terms(problem.S, problem.lam, problem.bias_scale, problem.is_free, unit)


@compiled
def write_gradient(terms, columns, place, G):  # type: ignore[no-untyped-def]
    """Write the gradient in w~ and b into G (d + 1, K)."""
    m, scale, _ = columns
    d, lam, c = len(m), terms.lam, terms.bias_scale
    for k in range(G.shape[1]):
        for j in range(d):
            G[j, k] = (lam * place.w[j, k] - place.v[j, k]) / scale[j]
        G[d, k] = -place.sums[BALANCE, k] / terms.S
    if c > 0.0:
        b = bias(place.w, place.b, m)
        for k in range(G.shape[1]):
            for j in range(d):
                G[j, k] += lam * b[k] / c**2 * (-m[j] / scale[j])
            G[d, k] += lam * b[k] / c**2


@compiled
def add_penalty(terms, columns, H):  # type: ignore[no-untyped-def]
    """Make H (d + 1, d + 1), a sum over rows, that of the objective."""
    m, scale, _ = columns
    d, lam, c = len(m), terms.lam, terms.bias_scale
    for j in range(d + 1):
        for k in range(d + 1):
            H[j, k] /= terms.S
    for j in range(d):
        H[j, j] += lam / scale[j] ** 2
    if c > 0.0:  # the bias as it is, of w~ and b, has the coefficients e
        e = np.ones(d + 1)
        for j in range(d):
            e[j] = -m[j] / scale[j]
        for j in range(d + 1):
            for k in range(d + 1):
                H[j, k] += lam * (e[j] / c) * (e[k] / c)


@compiled
def lacking_of(terms, columns, diagonal, G):  # type: ignore[no-untyped-def]
    """Return what a diagonal lacks for a column alone to cause a change of at most REACH.

    Both it and the diagonal are (d + 1, K), as the gradient G.
    """
    d, lacking = len(columns.m), np.empty(G.shape)
    for j in range(d + 1):
        within = columns.reach[j] if j < d else 1.0
        for k in range(G.shape[1]):
            steep = abs(G[j, k]) * within / (REACH * terms.unit)
            lacking[j, k] = max(0.0, steep - diagonal[j, k])
    return lacking


def solved(H: FloatArray, g: FloatArray, lacking: FloatArray, damping: float) -> FloatArray:
    """Solve (H + diag(lacking + damping)) p = g; rounding may ask for more damping."""
    return factored(H, g, lacking, damping)[1]


def factored(
    H: FloatArray, g: FloatArray, lacking: FloatArray, damping: float
) -> tuple[FloatArray, FloatArray]:
    """Return the same and, before it, the Cholesky factor of the matrix, as LAPACK has it.

    Where H or g is not finite there is no direction, p = 0.
    """
    diagonal = H.diagonal() + lacking
    most = 1e-290 + 100.0 * (damping + len(H) * float(np.abs(H).max(initial=0.0)))
    while damping <= most < np.inf:  # no more is needed; nothing is at most NaN
        M = H.copy()
        M.flat[:: len(M) + 1] = diagonal + damping
        factor, p, info = dposv(M.T, g, lower=1, overwrite_a=1)
        if info == 0 and np.isfinite(p).all():
            return factor, np.asarray(p)
        damping = 10.0 * max(damping, 1e-16 * float(H.diagonal().max()), 1e-300)
    return np.eye(len(H)), np.zeros_like(g)


@compiled
def bias(w, b, m):  # type: ignore[no-untyped-def]
    """Return the biases (K,) for rows as they are: b are those for centred rows."""
    out = b.copy()
    for k in range(len(out)):
        for j in range(len(m)):
            out[k] -= m[j] * w[j, k]
    return out


@compiled
def rest_and_square(terms, m, place):  # type: ignore[no-untyped-def]
    """Return lam/2 ||w - w(a)||^2, with what balance a free bias lacks, and ||w||^2.

    A regularised bias is one more coordinate of w.
    """
    lam, distance, square, rest = terms.lam, 0.0, 0.0, 0.0
    for k in range(place.w.shape[1]):
        balance = place.sums[BALANCE, k] / terms.S
        for j in range(len(m)):
            gradient = lam * place.w[j, k] - place.v[j, k]
            if not terms.is_free:
                gradient -= balance * m[j]
            distance += gradient * gradient
            square += place.w[j, k] * place.w[j, k]
        if terms.is_free:
            rest += terms.unit * abs(balance)
    rest += distance / (2.0 * lam)
    if terms.bias_scale > 0.0:
        b = bias(place.w, place.b, m)
        for k in range(len(b)):
            beta, balance = b[k] / terms.bias_scale, place.sums[BALANCE, k] / terms.S
            rest += 0.5 * lam * (beta - terms.bias_scale * balance / lam) ** 2
            square += beta * beta
    return rest, square


@compiled
def penalty_along(terms, m, place, p, c):  # type: ignore[no-untyped-def]
    """Return the penalty's slope along directions of w and b, where they begin, and its rise."""
    across, along = inner(place.w, p), inner(p, p)
    if terms.bias_scale > 0.0:
        b, change = bias(place.w, place.b, m), bias(p, c, m)
        for k in range(len(b)):
            across += b[k] * change[k] / terms.bias_scale**2
            along += change[k] * change[k] / terms.bias_scale**2
    return terms.lam * across, terms.lam * along


@compiled
def slope_along(terms, m, place, p, c):  # type: ignore[no-untyped-def]
    """Return the slope of the smoothed objective along directions of w and b where they begin."""
    slope, _ = penalty_along(terms, m, place, p, c)
    slope -= inner(place.v, p)
    for k in range(len(c)):
        slope -= place.sums[BALANCE, k] * c[k] / terms.S
    return slope


@reordering_sums
def inner(V, W):  # type: ignore[no-untyped-def]
    """Return sum_jk V_jk W_jk."""
    total = 0.0
    for j in range(V.shape[0]):
        for k in range(V.shape[1]):
            total += V[j, k] * W[j, k]
    return total
