"""SIMBA, one round written out for one model; rows are of length 1 at most, y in them."""

import numpy as np


def simba(X, nu, T, steps, draws):
    """[HKS11]: the first steps of T; return (p, u, sum of p, sum of w).

    `draws` are the random numbers in [0, 1) that choose i and j in turn.
    """
    n, d = X.shape
    eta = np.sqrt(np.log(n) / T)
    u, p, p_sum, w_sum = np.zeros(d), np.full(n, 1.0 / n), np.zeros(n), np.zeros(d)
    for t in range(steps):
        i = np.searchsorted(np.cumsum(p), draws[2 * t], side="right")       # i ~ p
        u = u + X[i] / np.sqrt(2.0 * T)
        w = u / max(1.0, np.linalg.norm(u))
        w_sum += w
        xi = slack(p, n * nu)                                               # argmax p'xi
        squares = np.cumsum(w**2) / (w @ w)
        j = np.searchsorted(squares, draws[2 * t + 1], side="right")        # j ~ w_j^2/||w||^2
        v = np.clip(X[:, j] * (w @ w) / w[j] + xi, -1.0 / eta, 1.0 / eta)
        p = p * (1.0 - eta * v + eta**2 * v**2)
        p = p / p.sum()
        p_sum += p
    return p, u, p_sum, w_sum


def slack(p, total):
    """Return xi in [0, 2] of the largest p'xi with sum xi <= total; equal p share alike."""
    xi, left = np.zeros(len(p)), total
    for level in np.unique(p)[::-1]:
        at = p == level
        xi[at] = min(2.0, left / at.sum())
        left -= xi[at].sum()
    return xi
