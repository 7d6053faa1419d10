"""Projections onto convex sets by sorting and bisection, and as cvxpy sees them."""

import cvxpy as cp
import numpy as np

from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, Simplex


def projected(within, v, h=None):
    v = np.asarray(v, dtype=float)
    h = np.ones(len(v)) if h is None else np.asarray(h, dtype=float)
    if isinstance(within, Everywhere):
        return v.copy()
    if isinstance(within, Box):
        return np.clip(v, within.low, within.high)
    if isinstance(within, L2Ball):
        return scaled(v, h, within.radius)
    if isinstance(within, L1Ball):
        if np.abs(v).sum() <= within.radius:
            return v.copy()
        return np.sign(v) * cut(np.abs(v), h, within.radius)
    return cut(v, h, within.radius)


def cut(v, h, r):
    """w_j = (v_j - mu/h_j)_+ with sum r: try every number of largest h_j v_j."""
    order = np.argsort(-h * v)
    weight, height = np.cumsum(1.0 / h[order]), np.cumsum(v[order])
    levels = (height - r) / weight
    k = np.flatnonzero((h * v)[order] > levels)[-1]
    return np.maximum(0.0, v - levels[k] / h)


def scaled(v, h, r):
    if np.linalg.norm(v) <= r:
        return v.copy()
    low, high = 0.0, h.max() * np.linalg.norm(v) / r
    for _ in range(200):
        mu = 0.5 * (low + high)
        is_outside = np.linalg.norm(h * v / (h + mu)) > r
        low, high = (mu, high) if is_outside else (low, mu)
    return h * v / (h + high)


def by_cvxpy(within, v, h=None):
    v = np.asarray(v, dtype=float)
    h = np.ones(len(v)) if h is None else np.asarray(h, dtype=float)
    w = cp.Variable(len(v))
    objective = cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(h), w - v)))
    cp.Problem(objective, constraints(within, w)).solve(
        solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    return w.value


def constraints(within, w):
    """The set as cvxpy's constraints on w."""
    if isinstance(within, L2Ball):
        return [cp.norm2(w) <= within.radius]
    if isinstance(within, L1Ball):
        return [cp.norm1(w) <= within.radius]
    if isinstance(within, Simplex):
        return [w >= 0, cp.sum(w) == within.radius]
    if isinstance(within, Box):
        return [w >= within.low, w <= within.high]
    return []
