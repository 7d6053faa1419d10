"""Newton's equations H p = -gradient in standardised columns, and their solution.

The unknowns are the directions of w~ (`columns`) and of the bias b for centred rows. A regularised
bias is penalised as it is for rows as they are, b - <m, w>.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
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
    """Weights w (d, 1) and bias b, v = sum_i s_i a_i (x_i - m) / S, and the sums of `move`."""

    w: FloatArray
    b: float
    v: FloatArray
    sums: FloatArray


def terms_of(problem: Problem, unit: float) -> Terms:
    """Return what of the objective is not of single rows."""
    return Terms(problem.S, problem.lam, problem.bias_scale, problem.is_free, unit)


@compiled
def write_equations(terms, columns, place, H, g, lacking):  # type: ignore[no-untyped-def]
    """Make H, a sum over rows, that of the objective; write the gradient g.

    `lacking` is what the diagonal lacks for a column alone to cause a change of at most REACH.
    """
    m, scale, reach = columns
    d, lam, c = len(m), terms.lam, terms.bias_scale
    for j in range(d + 1):
        for k in range(d + 1):
            H[j, k] /= terms.S
    for j in range(d):
        H[j, j] += lam / scale[j] ** 2
        g[j] = (lam * place.w[j, 0] - place.v[j, 0]) / scale[j]
    g[d] = -place.sums[BALANCE] / terms.S
    if c > 0.0:  # the bias as it is, of w~ and b, has the coefficients e
        e, b = np.ones(d + 1), bias(place.w, place.b, m)
        for j in range(d):
            e[j] = -m[j] / scale[j]
        for j in range(d + 1):
            g[j] += lam * b / c**2 * e[j]
            for k in range(d + 1):
                H[j, k] += lam * (e[j] / c) * (e[k] / c)
    for j in range(d + 1):
        within = reach[j] if j < d else 1.0
        lacking[j] = max(0.0, abs(g[j]) * within / (REACH * terms.unit) - H[j, j])


def solved(H: FloatArray, g: FloatArray, lacking: FloatArray, damping: float) -> FloatArray:
    """Solve (H + diag(lacking + damping)) p = g; rounding may ask for more damping."""
    diagonal = H.diagonal() + lacking
    while True:
        M = H.copy()
        M.flat[:: len(M) + 1] = diagonal + damping
        _, p, info = dposv(M.T, g, lower=1, overwrite_a=1)
        if info == 0 and np.isfinite(p).all():
            return np.asarray(p)
        damping = 10.0 * max(damping, 1e-16 * float(H.diagonal().max()), 1e-300)


@compiled
def bias(w, b, m):  # type: ignore[no-untyped-def]
    """Return the bias for rows as they are: b is the one for centred rows."""
    for j in range(len(m)):
        b -= m[j] * w[j, 0]
    return b


@compiled
def rest_and_square(terms, m, place):  # type: ignore[no-untyped-def]
    """Return lam/2 ||w - w(a)||^2, with what balance a free bias lacks, and ||w||^2.

    A regularised bias is one more coordinate of w.
    """
    lam, balance, distance, square = terms.lam, place.sums[BALANCE] / terms.S, 0.0, 0.0
    for j in range(len(m)):
        gradient = lam * place.w[j, 0] - place.v[j, 0]
        if not terms.is_free:
            gradient -= balance * m[j]
        distance += gradient * gradient
        square += place.w[j, 0] * place.w[j, 0]
    rest = distance / (2.0 * lam)
    if terms.is_free:
        rest += terms.unit * abs(balance)
    elif terms.bias_scale > 0.0:
        beta = bias(place.w, place.b, m) / terms.bias_scale
        rest += 0.5 * lam * (beta - terms.bias_scale * balance / lam) ** 2
        square += beta * beta
    return rest, square
