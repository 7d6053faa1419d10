"""The optimum by an independent solver: cvxpy with Clarabel."""

import cvxpy as cp
import numpy as np


def losses(name, z, y):
    """The losses of all rows as a cvxpy expression in the scores z."""
    u = 1.0 - cp.multiply(y, z)
    if name == "hinge":
        return cp.pos(u)
    if name == "squared_hinge":
        return cp.square(cp.pos(u))
    if name == "logistic":
        return cp.logistic(-cp.multiply(y, z))
    if name == "epsilon_insensitive":
        return cp.pos(cp.abs(z - y) - 0.1)
    if name == "smoothed_hinge":  # 1/2 huber(u_+), the Huber function with threshold 1
        return 0.5 * cp.huber(cp.pos(u), 1.0)
    raise ValueError(name)


def optimum(name, X, y, s, lam, bias="none", bias_scale=1.0):
    """Return the least objective, weights and bias."""
    n, d = X.shape
    w, beta = cp.Variable(d), cp.Variable()
    b = {"none": 0.0, "regularized": bias_scale * beta, "free": beta}[bias]
    square = cp.sum_squares(w) + (cp.square(beta) if bias == "regularized" else 0.0)
    objective = 0.5 * lam * square + s @ losses(name, X @ w + b, y) / s.sum()
    problem = cp.Problem(cp.Minimize(objective))
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver=cp.CLARABEL, **tight)
    offset = 0.0 if bias == "none" else float(beta.value) * (bias_scale if bias != "free" else 1.0)
    return float(problem.value), np.asarray(w.value), offset
