"""SGD with step sizes as functions of t, one vector w; projected where there is a ball."""

import numpy as np


def scheduled(take, X, y, s, order, eta, *, lam=0.0, radius=np.inf, scale=0.0):
    """[SSSC11] Sec. 7.6, [CSS12] Sec. 4.2: return the last w and the mean of those before steps.

    `take` is as in `tests.reference.pegasos`; `eta` a function of t; `scale` a constant feature.
    """
    X = np.hstack([X, np.full((len(X), 1), scale)])
    w, total, t = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    mean = s.sum() / np.count_nonzero(s)
    for i in order:
        if s[i] == 0.0:
            continue
        t += 1
        total += w
        step, shrink = eta(t) * s[i] / mean, 1.0 - eta(t) * lam
        a = take(X[i] @ w, y[i], shrink, step * (X[i] @ X[i]))
        w = shrink * w + step * a * X[i]                       # w <- (1 - eta lam) w + eta a x
        length = np.sqrt(w @ w)
        if length > radius:
            w = w * (radius / length)
    return w, total / t
