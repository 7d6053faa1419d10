"""The optimum of a joint loss by an independent solver: cvxpy with Clarabel."""

import cvxpy as cp
import numpy as np


def optimum(cost, X, y, s, lam, bias="none", bias_scale=1.0):
    """Return the least objective, weights (d, K) and biases (K,).

    `cost` is (K, K), or K itself for softmax.
    """
    K = cost if np.isscalar(cost) else len(cost)
    n, W, beta = len(X), cp.Variable((X.shape[1], K)), cp.Variable(K)
    b = {"none": np.zeros(K), "regularized": bias_scale * beta, "free": beta}[bias]
    Z = X @ W + np.ones((n, 1)) @ cp.reshape(b, (1, K), order="C")
    own = cp.sum(cp.multiply(Z, np.eye(K)[y]), axis=1)
    reached = cp.log_sum_exp(Z, axis=1) if np.isscalar(cost) else cp.max(Z + cost[y], axis=1)
    square = cp.sum_squares(W) + (cp.sum_squares(beta) if bias == "regularized" else 0.0)
    problem = cp.Problem(cp.Minimize(0.5 * lam * square + s @ (reached - own) / s.sum()))
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver=cp.CLARABEL, **tight)
    b = b if bias == "none" else (1.0 if bias == "free" else bias_scale) * beta.value
    return float(problem.value), np.asarray(W.value), b
