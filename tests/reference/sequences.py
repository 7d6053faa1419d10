"""Small random sequence problems, as numbers for oracles and as kernels see them."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.problem.sequences import SequenceHinge, SequenceLogistic, make_sequences


class Drawn(NamedTuple):
    kind: str
    cost: np.ndarray
    Xs: list
    ys: list
    weights: np.ndarray
    lam: float
    K: int
    problem: object


def draw(kind, seed, *, weighted=False, n=None, K=None):
    """Draw noisy chains of length 1 to 4 over 2 or 3 labels; costs are uneven for odd seeds."""
    rng = np.random.default_rng(seed)
    K, d = K or int(rng.integers(2, 4)), int(rng.integers(1, 5))
    lengths = rng.integers(1, 5, n or int(rng.integers(2, 7)))
    Xs = [np.round(2.0 * rng.standard_normal((L, d))) / 2.0 for L in lengths]
    U = rng.standard_normal((d, K))
    ys = [np.argmax(X @ U + rng.standard_normal((len(X), K)), axis=1) for X in Xs]
    cost = 1.0 - np.eye(K)
    if seed % 2 and kind == "hinge":
        cost *= rng.uniform(0.5, 2.0, (K, K))
    weights = rng.integers(0, 3, len(Xs)) + 0.0 if weighted else np.ones(len(Xs))
    weights[0] = 1.0
    lam = float(10.0 ** rng.uniform(-2, 0))
    return drawn_from(kind, Xs, ys, cost, lam, weights if weighted else None)


def drawn_from(kind, Xs, ys, cost, lam, weights=None):
    """Return a problem of such sequences, labels and costs."""
    rows = as_rows(sparse.csr_array(np.vstack(Xs)))
    starts = np.concatenate([[0], np.cumsum([len(X) for X in Xs])]).astype(np.int64)
    loss = SequenceHinge(cost) if kind == "hinge" else SequenceLogistic()
    labels = np.concatenate(ys).astype(np.uint16)
    problem = make_sequences(loss, rows, starts, labels, weights, lam)
    s = np.ones(len(Xs)) if weights is None else weights
    return Drawn(kind, cost, Xs, ys, s, lam, len(cost), problem)
