"""Rows, labels, targets and weights that are meant to hurt."""

import numpy as np
from scipy import sparse


def chance(rng, p):
    return bool(rng.random() < p)


def decades(rng, low, high, size=None):
    return 10.0 ** rng.uniform(low, high, size)


def sizes(rng, *, kernel):
    """n from 2 to a few hundred, d from 1 to 50; mostly small."""
    top = 300 if chance(rng, 0.05) else 90 if kernel else 120
    return int(decades(rng, np.log10(2), np.log10(top))), int(decades(rng, 0, np.log10(50)))


def rows(rng, n, d, *, mild):
    """Rows with offsets, huge and tiny columns, constants, zeros and duplicates."""
    kind = rng.choice(["normal", "sparse", "whole", "signs"], p=[0.5, 0.25, 0.15, 0.1])
    X = rng.standard_normal((n, d))
    if kind == "sparse":
        X *= rng.random((n, d)) < 0.3
    elif kind == "whole":
        X = rng.integers(-3, 4, (n, d)).astype(float)
    elif kind == "signs":
        X = np.where(X > 0, 1.0, -1.0)
    if chance(rng, 0.15):
        X[rng.integers(n)] = 0.0
    if chance(rng, 0.15):
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -7.0, 1e3])
    if chance(rng, 0.2):
        X[rng.integers(n, size=max(1, n // 3))] = X[rng.integers(n)]
    if mild:
        return X
    if chance(rng, 0.25):
        X[:, rng.integers(d)] *= decades(rng, -6, 6)
    if chance(rng, 0.2):
        X[:, rng.integers(d)] += decades(rng, 0, 6)
    if chance(rng, 0.1):
        X += decades(rng, 0, 6)
    if chance(rng, 0.15):
        X *= decades(rng, -4, 4)
    return X


def container(rng, X, *, allow_sparse=True):
    """Dense in either order or CSR, float32 or float64."""
    X = X.astype(np.float32 if chance(rng, 0.4) else np.float64)
    if allow_sparse and chance(rng, 0.35):
        return sparse.csr_array(X)
    return np.asfortranarray(X) if chance(rng, 0.1) else X


def two_classes(rng, X):
    """Labels -1 and +1: random, separable, nearly so, with one rare class, or contradictory."""
    n = len(X)
    kind = rng.choice(["random", "noisy", "separable", "nearly", "rare", "contradictory"])
    centred = X - X.mean(axis=0)
    score = centred @ rng.standard_normal(X.shape[1])
    y = np.where(score > np.median(score), 1, -1)
    if kind == "random":
        y = rng.choice([-1, 1], n)
    elif kind == "noisy":
        y = np.where(score + score.std() * rng.standard_normal(n) > 0, 1, -1)
    elif kind == "nearly":
        y[rng.integers(n)] *= -1
    elif kind == "rare":
        y = np.full(n, -1)
        y[rng.integers(n)] = 1
    elif kind == "contradictory":
        X[n // 2 : 2 * (n // 2)] = X[: n // 2]
        y[n // 2 : 2 * (n // 2)] = -y[: n // 2]
    if len(set(y.tolist())) < 2:
        y[0] = -y[0]
    return y


def labels(rng, X):
    """Two classes, several, or several labels per row."""
    kind = rng.choice(["binary", "multiclass", "multilabel"], p=[0.75, 0.15, 0.1])
    n = len(X)
    if kind == "binary" or n < 4:
        return two_classes(rng, X)
    K = int(rng.integers(3, 5))
    if kind == "multilabel":
        return rng.integers(0, 2, (n, K - 1))
    y = rng.integers(0, K, n)
    y[:3] = range(3)
    return y


def numbers(rng, X):
    """Targets: a line exactly or nearly, noise, a constant; any scale, offsets up to 1e13."""
    n, d = X.shape
    line = (X - X.mean(axis=0)) @ rng.standard_normal(d)
    line /= max(line.std(), 1e-300)
    kind = rng.choice(["line", "noisy", "noise", "constant"], p=[0.25, 0.45, 0.2, 0.1])
    noise = rng.standard_normal(n)
    y = {"line": line, "noisy": line + 0.3 * noise, "noise": noise, "constant": np.ones(n)}[kind]
    if chance(rng, 0.3):
        y = y * decades(rng, -6, 6)
    if chance(rng, 0.3):
        y = y + decades(rng, 0, 6)
    if chance(rng, 0.03):
        y = y + 1e13
    return y


def sample_weights(rng, n):
    """None, whole numbers with zeros, ordinary ones, or over 24 decades."""
    kind = rng.choice(["none", "whole", "ordinary", "decades"], p=[0.55, 0.1, 0.15, 0.2])
    if kind == "none":
        return None
    if kind == "whole":
        s = rng.integers(0, 4, n).astype(float)
        s[: min(n, 3)] = 1.0
        return s
    return rng.uniform(0.1, 3.0, n) if kind == "ordinary" else decades(rng, -12, 12, n)
