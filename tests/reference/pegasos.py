"""Pegasos as the paper prints it, one vector w, no scaled sums; time is the weight of rows seen."""

from typing import NamedTuple

import numpy as np


class Path(NamedTuple):
    w: np.ndarray         # the last iterate, its constant feature's weight at the end
    average: np.ndarray   # of the iterates before each step, weighted by the weight of its batch
    sums: np.ndarray      # per row, of the dual numbers it took on (projections included)


def explicit(slope):
    """The step of a loss of bounded slope: a = -slope at the present score."""
    return lambda z, y, shrink, growth: -slope(z, y)


def squared_hinge(z, y, shrink, growth):
    """b = 2 (1 - (1 - 1/t) y z)_+ / (1 + 2 ||x||^2 / (lam t)): the slope where the step ends."""
    return y * 2.0 * max(0.0, 1.0 - shrink * y * z) / (1.0 + 2.0 * growth)


def pegasos(take, X, y, s, lam, batches, *, scale=0.0, radius=np.inf):
    """[SSSC11] Fig. 2; `batches` lists the rows of each step, `scale` is a constant feature."""
    X = np.hstack([X, np.full((len(X), 1), scale)])
    w, total, sums, N = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(len(X)), 0.0
    for A in batches:
        s_A = sum(s[i] for i in A)
        if s_A == 0.0:
            continue
        N += s_A
        total += s_A * w
        eta = 1.0 / (lam * N)                                  # eta_t = 1 / (lam t)
        shrink = 1.0 - s_A / N
        a = {i: take(X[i] @ w, y[i], shrink, s_A * eta * (X[i] @ X[i])) for i in A}
        w = shrink * w                                         # w <- (1 - eta lam) w
        for i in A:
            w = w + eta * s[i] * a[i] * X[i]                   #      + eta/k sum
            sums[i] += a[i]
        length = np.sqrt(w @ w)
        if length > radius:                                    # optional: projection
            w *= radius / length
            sums *= radius / length
    return Path(w, total / N, sums)


def subgradient_descent(slope, X, y, s, lam, steps):
    """The deterministic method: w <- w - 1/(lam t) (lam w + 1/S sum_i s_i slope_i x_i)."""
    w = np.zeros(X.shape[1])
    for t in range(1, steps + 1):
        gradient = lam * w
        for i in range(len(X)):
            gradient = gradient + s[i] * slope(X[i] @ w, y[i]) * X[i] / s.sum()
        w = w - gradient / (lam * t)
    return w


def best_bias(slopes, low, high):
    """Where a non-decreasing sum of slopes passes 0, by bisection."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slopes(middle) < 0.0 else (low, middle)
    return high
