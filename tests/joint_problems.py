"""Small random problems of joint losses."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import JointHinge, Softmax, zero_one
from pegasos.problem.objective import make_problem

BIASES = ("none", "regularized", "free")
LOSSES = ("joint hinge", "cost", "softmax")


class JointDrawn(NamedTuple):
    """A problem as numbers for oracles, and as kernels see it; `cost` as in `reference.joint`."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    cost: object
    problem: object

    def given(self, bias):
        """Return what `reference.joint.optimum` takes."""
        return self.cost, self.X, self.y, self.weights, self.problem.lam, bias, 1.5


def targets(y, K):
    """Return -1 and +1 of shape (n, K)."""
    return np.where(y[:, None] == np.arange(K), 1.0, -1.0)


def random_cost(rng, K):
    """Return costs from 0 to 2 of taking one class for another."""
    cost = rng.uniform(0.0, 2.0, (K, K))
    np.fill_diagonal(cost, 0.0)
    return cost


def draw_joint(name, seed=0, bias="none", *, n=None, d=None, K=None, kind="dense",
               dtype=np.float64, weighted=False, lam=None):  # fmt: skip
    """Draw a problem whose classes overlap; what is not given is drawn, too."""
    rng = np.random.default_rng(seed)
    K, n = K or int(rng.integers(3, 6)), n or int(rng.integers(12, 40))
    d, lam = d or int(rng.integers(1, 6)), lam or float(10.0 ** rng.uniform(-2, 0))
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    X = rng.standard_normal((n, d))
    X[:, 0] += 0.7 * y
    if kind == "csr":
        X *= rng.random((n, d)) < 0.6
    X = X.astype(dtype)
    weights = rng.integers(0, 3, n) * rng.uniform(0.5, 1.5) if weighted else None
    if weighted:
        weights[:K] = 1.0
    cost = {"joint hinge": zero_one(K), "cost": random_cost(rng, K), "softmax": K}[name]
    loss = Softmax() if name == "softmax" else JointHinge(cost)
    rows = as_rows(sparse.csr_array(X) if kind == "csr" else X)
    problem = make_problem(loss, rows, targets(y, K), weights, lam, bias, 1.5)
    s = np.ones(n) if weights is None else weights
    return JointDrawn(X.astype(np.float64), y, s, cost, problem)
