"""The judge: objective values in float64, from the data and the weights alone.

    P(w, b) = lam/2 (||w||^2 + b^2 if the bias is regularised) + 1/n sum_i loss(y_i (<w, x_i> + b))

One-vs-rest with K classes has weights W of shape (d, K) and P is the sum over its K problems.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench.harness.problem import Floats, Matrix

LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
    "logistic": lambda z: np.logaddexp(0.0, -z),
}


def signs(y: NDArray[np.integer]) -> Floats:
    """Turn labels into signs: shape (n, 1) for -1/+1, shape (n, K) for classes 0..K-1."""
    if set(np.unique(y).tolist()) <= {-1, 1}:
        return y.astype(np.float64)[:, None]
    return np.where(y[:, None] == np.arange(y.max() + 1), 1.0, -1.0)


def objective(
    X: Matrix,
    y: NDArray[np.integer],
    lam: float,
    w: NDArray[np.floating],
    b: float | Floats = 0.0,
    *,
    loss: str = "hinge",
    is_bias_regularised: bool = False,
) -> float:
    """Return P for weights of shape (d,) or (d, K) and a bias of shape () or (K,)."""
    W = np.asarray(w, dtype=np.float64).reshape(X.shape[1], -1)
    Y = signs(y)
    if W.shape[1] != Y.shape[1]:
        raise ValueError(f"w holds {W.shape[1]} models; the labels ask for {Y.shape[1]}.")
    B = np.broadcast_to(np.asarray(b, dtype=np.float64), (W.shape[1],))
    Z = Y * (scores(X, W) + B)
    penalty = np.sum(W * W) + (np.sum(B * B) if is_bias_regularised else 0.0)
    return float(lam / 2 * penalty + LOSSES[loss](Z).mean(axis=0).sum())


def scores(X: Matrix, W: Floats, block: int = 65_536) -> Floats:
    """Return X @ W in float64, block by block: float32 data is never widened as a whole."""
    parts = [X[start : start + block] for start in range(0, X.shape[0], block)]
    return np.concatenate([np.asarray(part.astype(np.float64) @ W) for part in parts])
