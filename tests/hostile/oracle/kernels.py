"""Kernel values by their definitions, a column of differences or products at a time."""

import numpy as np
from scipy import sparse

WIDE = np.longdouble


def exactly(X, precision=WIDE):
    """Rows as they were given, every value exact in the wider type."""
    return (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(precision)


def kernel_matrix(kernel, X, Z, gamma=1.0, coef0=0.0, degree=3, precision=WIDE):
    """K(x_i, z_j); `kernel` a name or a function of two matrices."""
    if callable(kernel):
        return np.asarray(kernel(X, Z)).astype(precision)
    X, Z = exactly(X, precision), exactly(Z, precision)
    if kernel == "precomputed":
        return X
    g, c = precision(gamma), precision(coef0)
    if kernel in ("rbf", "laplacian"):
        D = np.zeros((len(X), len(Z)), dtype=precision)
        for x, z in zip(X.T, Z.T, strict=True):
            step = x[:, None] - z
            D += step * step if kernel == "rbf" else np.abs(step)
        return np.exp(-g * D)
    P = X @ Z.T
    if kernel == "linear":
        return P
    if kernel == "poly":
        return (g * P + c) ** precision(degree)
    return np.tanh(g * P + c)


def diagonal(kernel, X, gamma=1.0, coef0=0.0, degree=3, precision=WIDE):
    """K(x_i, x_i)."""
    if callable(kernel):
        return np.array([kernel(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))], WIDE)
    if kernel in ("rbf", "laplacian"):
        return np.ones(X.shape[0], dtype=precision)
    X = exactly(X, precision)
    if kernel == "precomputed":
        return X.diagonal().copy()
    P = (X * X).sum(axis=1)
    if kernel == "linear":
        return P
    return (precision(gamma) * P + precision(coef0)) ** precision(degree)
