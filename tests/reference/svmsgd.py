"""SVMSGD and SGD-QN for one model, a row at a time; the bias is the last column's weight."""

import numpy as np

LONG = 0.25  # lam eta times the rows since the last shrinking: more is too coarse


def svmsgd(X, y, s, lam, t0, skip, orders, offset=0.0):
    """[Bot07]: one list of rows per epoch; return (w, dual numbers of each epoch)."""
    n, d = X.shape
    w, t, since, count, taken = np.zeros(d), 0.0, 0.0, 0, []
    for order in orders:
        a = np.zeros(n)
        for i in order:
            r = s[i] * n / s.sum()
            if r == 0.0:
                continue
            eta = 1.0 / (lam * (t + t0))
            if y[i] * (X[i] @ w + offset) < 1.0:
                a[i] = y[i]
                w = w + eta * r * y[i] * X[i]
            t, since, count = t + r, since + r, count + 1
            if count == skip or lam * eta * since > LONG:
                w, since, count = max(0.0, 1.0 - lam * eta * since) * w, 0.0, 0
        taken.append(a)
    return w, taken


def sgd_qn(X, y, s, lam, t0, skip, orders, most=10.0):
    """[BBG09] with added curvatures: return (w, gains, dual numbers of each epoch)."""
    n, d = X.shape
    w, v, inverse = np.zeros(d), None, np.full(d, lam * t0)
    t, since, count, measured, changed, taken = 0.0, 0.0, 0, 0.0, 0.0, []
    for order in orders:
        a = np.zeros(n)
        for i in order:
            r = s[i] * n / s.sum()
            if r == 0.0:
                continue
            is_below = y[i] * (X[i] @ w) < 1.0
            if v is not None:                                  # the row after a shrinking
                was_below = y[i] * (X[i] @ v) < 1.0
                change = -y[i] * (float(is_below) - float(was_below)) * X[i]
                inverse, measured = inverse + (t - measured) * lam, t
                if is_below != was_below:
                    more = np.zeros(d)
                    for j in range(d):
                        if change[j] != 0.0 and w[j] != v[j]:
                            more[j] = np.clip(change[j] / (w[j] - v[j]), 0.0, (most - 1.0) * lam)
                    inverse, changed = inverse + (t - changed) * more, t
                v = None
            if is_below:
                a[i] = y[i]
                w = w + r * y[i] * X[i] / inverse
            t, since, count = t + r, since + r, count + 1
            if count == skip or since / (t + t0) > LONG:
                v, w = w, np.maximum(0.0, 1.0 - since * lam / inverse) * w
                since, count = 0.0, 0
        taken.append(a)
        v = None
    return w, 1.0 / inverse, taken
