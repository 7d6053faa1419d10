"""Kernel matrices by definition; the optimum of a kernel problem by an independent solver."""

import numpy as np

from tests.reference.certificate import optimum


def kernel_matrix(name, X, Z, gamma=1.0, coef0=0.0, degree=3):
    """K(x_i, z_j) one pair at a time."""
    pairs = {
        "linear": lambda x, z: x @ z,
        "rbf": lambda x, z: np.exp(-gamma * ((x - z) @ (x - z))),
        "poly": lambda x, z: (gamma * (x @ z) + coef0) ** degree,
        "laplacian": lambda x, z: np.exp(-gamma * np.abs(x - z).sum()),
    }
    return np.array([[pairs[name](x, z) for z in Z] for x in X])


def features(K):
    """Rows whose inner products are a positive semi-definite K, up to rounding."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    kept = values > 1e-14 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def kernel_optimum(K, y, s, lam, loss, bias="none", bias_scale=1.0):
    """Return the least objective, and the decision values of the rows at the optimum.

    `loss` is a name that `tests.reference.certificate` knows. The problem is solved in a feature
    space of the rows themselves: cvxpy with Clarabel.
    """
    X = features(K)
    best, w, b = optimum(loss, X, y, s, lam, bias, bias_scale)
    return best, X @ w + b
