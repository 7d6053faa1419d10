"""Cutting planes for the hinge loss, written out: planes, a programme by pairs, a line search.

The bias is none, or the weight of a constant column that whoever calls has added to X. With a free
bias, each plane is made at the best bias of its weights.
"""

import numpy as np


def programme(G, e, lam, turns=200_000):
    """Maximise e'alpha - 1/(2 lam) ||G'alpha||^2 over the simplex, two cuts at a time."""
    H = G @ G.T / lam
    alpha = np.zeros(len(e))
    alpha[0] = 1.0
    for _ in range(turns):
        slope = e - H @ alpha
        i = slope.argmax()
        j = np.where(alpha > 0.0, slope, np.inf).argmin()
        if slope[i] - slope[j] <= 1e-13:
            break
        curve = H[i, i] + H[j, j] - 2.0 * H[i, j]
        step = alpha[j] if curve <= 0.0 else min(alpha[j], (slope[i] - slope[j]) / curve)
        alpha[i] += step
        alpha[j] -= step
    return alpha


def best_bias(y, z, s):
    """Return the least of the biases of least loss among the kinks y_i - z_i."""
    kinks = np.unique(y - z)
    return kinks[np.argmin([s @ np.maximum(0.0, 1.0 - y * (z + b)) for b in kinks])]


def plane(X, y, s, w, is_free):
    """Return beta of the plane that touches the mean loss at w."""
    z = X @ w
    if not is_free:
        return (y * z < 1.0).astype(float)
    b = best_bias(y, z, s)
    margin = y * (z + b)
    beta = (margin < 1.0 - 1e-12).astype(float)
    at_kink = np.abs(margin - 1.0) <= 1e-12
    lacking = -(s * y) @ beta                                  # sum s y beta = 0 by the rows at it
    side = at_kink & (y * lacking > 0.0) & (s > 0.0)
    if side.any():
        beta[side] = abs(lacking) / s[side].sum()
    return beta


def objective(X, y, s, lam, w, is_free):
    """Return P(w), at the best bias if it is free."""
    z = X @ w
    b = best_bias(y, z, s) if is_free else 0.0
    return 0.5 * lam * w @ w + s @ np.maximum(0.0, 1.0 - y * (z + b)) / s.sum()


def value(G, e, alpha, lam):
    """Return the value of the programme of lam at alpha."""
    w = -alpha @ G / lam
    return alpha @ e - 0.5 * lam * w @ w


def svm_perf(X, y, s, lam, cuts, is_free=False, lam_1=0.0):
    """[Joa06]: return the reduced solutions and the programmes' values.

    The solutions are of max(lam, lam_1 / t^2), the values of lam.
    """
    n, d = X.shape
    G, e, w, t, there = np.zeros((1, d)), np.zeros(1), np.zeros(d), 0.0, (0.0, np.inf)
    solutions, values = [w], []
    for _ in range(cuts):
        beta = plane(X, y, s, w, is_free)                      # most violated constraint
        G = np.vstack([G, -(s * y * beta) @ X / s.sum()])
        e = np.append(e, s @ beta / s.sum())
        lam_t, dual = there
        if t and lam_t > lam and objective(X, y, s, lam_t, w, is_free) - dual < 1e-4 * dual:
            t *= 1.5                                           # solved at lam_t
        t += 1.0
        lam_t = max(lam, lam_1 / t**2)
        alpha = programme(G, e, lam_t)                         # W <- W + it; solve
        w = -alpha @ G / lam_t
        there = lam_t, value(G, e, alpha, lam_t)
        solutions.append(w)
        values.append(value(G, e, programme(G, e, lam), lam))
    return solutions, values


def first_lam(X, s, is_free):
    """Return a quarter of the mean square length of the rows, from their mean for a free bias."""
    mean = s @ X / s.sum() if is_free else 0.0
    return 0.25 * s @ np.square(X - mean).sum(axis=1) / s.sum()


def ocas(X, y, s, lam, cuts, mu=0.1):
    """[FS08], without a free bias: return the best weights of each line search, and the values."""
    n, d = X.shape
    G, e, w, best = np.zeros((1, d)), np.zeros(1), np.zeros(d), np.zeros(d)
    found, values = [], []
    for _ in range(cuts):
        best = best + line(X, y, s, lam, best, w - best) * (w - best)
        found.append(best)
        beta = plane(X, y, s, (1.0 - mu) * best + mu * w, False)
        G = np.vstack([G, -(s * y * beta) @ X / s.sum()])
        e = np.append(e, s @ beta / s.sum())
        alpha = programme(G, e, lam)
        w = -alpha @ G / lam
        values.append(alpha @ e - 0.5 * lam * w @ w)
    return found, values


def line(X, y, s, lam, w, v):
    """Return u >= 0 of the least P(w + u v): the derivative is followed from kink to kink."""
    if not v.any():
        return 0.0
    z, d = X @ w, X @ v
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = (y - z) / d
    kinks = np.unique(kinks[np.isfinite(kinks) & (kinks > 0.0)])
    low = 0.0
    for high in [*kinks, np.inf]:
        inside = 0.5 * (low + high) if np.isfinite(high) else low + 1.0
        below = y * (z + inside * d) < 1.0
        slope = lam * w @ v - (s * y * d)[below].sum() / s.sum()
        u = -slope / (lam * v @ v)                             # where the derivative is 0
        if u <= high:
            return max(low, u)
        low = high
    return low
