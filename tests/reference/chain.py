"""Every label sequence written out: the oracle of everything about chains."""

import itertools

import numpy as np


def paths(L, K):
    """Return all sequences, the first being the best of equals: compared from the last label on."""
    found = [path[::-1] for path in itertools.product(range(K), repeat=L)]
    return np.array(found, dtype=np.int64).reshape(-1, L)


def score(z, T, path):
    return sum(z[t, r] for t, r in enumerate(path)) + sum(
        T[r, k] for r, k in itertools.pairwise(path)
    )


def best(z, T):
    """Return the best sequence and its score."""
    every = paths(*z.shape)
    scores = np.array([score(z, T, path) for path in every])
    at = int(np.argmax(scores))
    return every[at], scores[at]


def counts(path, K):
    """Return the nodes (L, K) and edges (K, K) of one sequence."""
    nodes, edges = np.zeros((len(path), K)), np.zeros((K, K))
    for t, r in enumerate(path):
        nodes[t, r] += 1.0
    for r, k in itertools.pairwise(path):
        edges[r, k] += 1.0
    return nodes, edges


def marginals(z, T):
    """Return log Z, nodes and edges of the distribution proportional to exp(score)."""
    every = paths(*z.shape)
    scores = np.array([score(z, T, path) for path in every])
    top = scores.max()
    weights = np.exp(scores - top)
    log_sum = top + np.log(weights.sum())
    nodes, edges = np.zeros(z.shape), np.zeros(T.shape)
    for path, p in zip(every, weights / weights.sum(), strict=True):
        own_nodes, own_edges = counts(path, len(T))
        nodes += p * own_nodes
        edges += p * own_edges
    return log_sum, nodes, edges


def phi(X, path, K):
    """Return the joint features of a sequence: emissions (d, K), then transitions, first, last."""
    nodes, edges = counts(path, K)
    return np.vstack([X.T @ nodes, edges, nodes[:1], nodes[-1:]])


def loss(kind, cost, X, y, W):
    """Return the loss of one sequence at weights W (d + K + 2, K)."""
    K = W.shape[1]
    truth = np.sum(W * phi(X, y, K))
    margins = np.array([
        np.sum(W * phi(X, path, K)) - truth + (cost[y, path].sum() if kind == "hinge" else 0.0)
        for path in paths(len(X), K)
    ])
    if kind == "hinge":
        return margins.max()
    top = margins.max()
    return top + np.log(np.exp(margins - top).sum())


def objective(kind, cost, Xs, ys, weights, lam, W):
    losses = [loss(kind, cost, X, y, W) for X, y in zip(Xs, ys, strict=True)]
    return 0.5 * lam * np.sum(W * W) + np.dot(weights, losses) / np.sum(weights)


def optimum(kind, cost, Xs, ys, weights, lam):
    """Return the optimal value by cvxpy and Clarabel."""
    import cvxpy

    K, d = len(cost), Xs[0].shape[1]
    w = cvxpy.Variable((d + K + 2) * K)
    total = 0.0
    for X, y, s in zip(Xs, ys, weights, strict=True):
        every = paths(len(X), K)
        F = np.array([(phi(X, p, K) - phi(X, y, K)).ravel() for p in every])
        if kind == "hinge":
            total += s * cvxpy.max(F @ w + np.array([cost[y, p].sum() for p in every]))
        else:
            total += s * cvxpy.log_sum_exp(F @ w)
    problem = cvxpy.Problem(
        cvxpy.Minimize(0.5 * lam * cvxpy.sum_squares(w) + total / np.sum(weights))
    )
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value, w.value.reshape(d + K + 2, K)
