"""Primal, dual and w(a), written out row by row for one model."""

import numpy as np


def primal(value, X, y, s, lam, w, b=0.0, bias_scale=0.0):
    """lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i> + b); a regularised bias b adds to the norm."""
    square = w @ w + ((b / bias_scale) ** 2 if bias_scale else 0.0)
    losses = [s_i * value(float(x @ w + b), float(t)) for x, t, s_i in zip(X, y, s, strict=True)]
    return 0.5 * lam * square + sum(losses) / s.sum()


def combination(X, s, lam, a):
    """w(a) = 1/(lam S) sum_i s_i a_i x_i."""
    w = np.zeros(X.shape[1])
    for x, s_i, a_i in zip(X, s, a, strict=True):
        w += s_i * a_i * x
    return w / (lam * s.sum())


def dual(gain, X, y, s, lam, a, bias_scale=0.0):
    """1/S sum_i s_i gain(a_i) - lam/2 ||w(a)||^2, a constant feature included."""
    wide = np.hstack([X, np.full((len(X), 1), bias_scale)])
    w = combination(wide, s, lam, a)
    gains = [s_i * gain(float(a_i), float(t)) for a_i, t, s_i in zip(a, y, s, strict=True)]
    return sum(gains) / s.sum() - 0.5 * lam * (w @ w)
