"""The solvers of label sequences as their papers have them: every label sequence written out.

Each takes a drawn problem (`tests.reference.sequences`) and the orders of its epochs, and returns
the weights (d + K + 2, K) and the distribution of every sequence after them.
"""

import numpy as np

from tests.reference import chain

FIRST_ROOM, FULL = 4, 0.1
HALVINGS, RELAXATION, CERTAIN = 8, 1.7, 40.0
STEP, EASY, ENOUGH = 3.0, 30.0, 0.1


def node_scores(X, W):
    """Return node scores (L, K) and transitions (K, K) of weights W."""
    d, K = X.shape[1], W.shape[1]
    z = X @ W[:d]
    z[0] += W[d + K]
    z[-1] += W[d + K + 1]
    return z, W[d : d + K]


def expected_features(X, nodes, edges):
    return np.vstack([X.T @ nodes, edges, nodes[:1], nodes[-1:]])


def zero_weights(drawn):
    return np.zeros((drawn.Xs[0].shape[1] + drawn.K + 2, drawn.K))


def frank_wolfe(drawn, orders, room=FIRST_ROOM):
    """Block-coordinate Frank-Wolfe with pairwise steps; room for so many paths per sequence."""
    W, C = zero_weights(drawn), 1.0 / (drawn.lam * drawn.weights.sum())
    corners = [{tuple(y): 1.0} for y in drawn.ys]
    for order in orders:
        gaps = gaps_without_room = 0.0
        for i in order:
            X, y, s, mass = drawn.Xs[i], drawn.ys[i], drawn.weights[i], corners[i]
            if s == 0.0:
                continue
            z, T = node_scores(X, W)
            z = z + drawn.cost[y]
            best, top = chain.best(z, T)
            best = tuple(best)
            value = {path: chain.score(z, T, path) for path in mass}
            gap = s * sum(m * (top - value[path]) for path, m in mass.items())
            gaps += gap
            if best not in mass and len(mass) == room:
                gaps_without_room += gap
                continue
            worst = min(value, key=value.get)
            if best == worst or top <= value[worst]:
                continue
            change = chain.phi(X, worst, drawn.K) - chain.phi(X, best, drawn.K)
            step = min(mass[worst], (top - value[worst]) / (C * s * np.sum(change**2)))
            mass[best] = mass.get(best, 0.0) + step
            mass[worst] -= step
            if mass[worst] <= 0.0:
                del mass[worst]
            W = W + C * s * step * change
        room *= 2 if gaps_without_room > FULL * gaps else 1
    return W, corners


def entropy_and_features(X, theta, edges):
    """Return log Z, marginals and expected features of the distribution exp(scores) / Z."""
    log_sum, nodes, pairs = chain.marginals(theta, edges)
    return log_sum, nodes, pairs, expected_features(X, nodes, pairs)


def divergence(z, T, top, theta, edges, p):
    """Return KL(p || q): p has scores theta, edges; q has scores z, T and log Z `top`."""
    log_sum, nodes, pairs, _ = p
    theirs = top - np.sum(nodes * z) - np.sum(pairs * T)
    return theirs - (log_sum - np.sum(nodes * theta) - np.sum(pairs * edges))


def first_goal(X, y, c, z):
    """Return z, and more for the true labels: B = c L ||x||^2 (1 - p) at the p it leads to."""
    goal, K = z.copy(), z.shape[1]
    for t in range(len(X)):
        norm = c * len(X) * np.sum(X[t] ** 2)
        low, high = 0.0, norm
        for _ in range(20):
            B = 0.5 * (low + high)
            rest = (K - 1) * np.exp(-B)
            low, high = (B, high) if norm * rest / (1.0 + rest) > B else (low, B)
        goal[t, y[t]] += high
    return goal


def sdca(drawn, orders):
    """Dual ascent for the log-loss, along the scores that stand for each distribution."""
    W, S = zero_weights(drawn), drawn.weights.sum()
    square = np.mean([x @ x for X in drawn.Xs for x in X])
    lam = max(drawn.lam, square / (EASY * len(drawn.Xs)))
    thetas = [CERTAIN * np.eye(drawn.K)[y] for y in drawn.ys]
    every_edges = [np.zeros((drawn.K, drawn.K)) for _ in drawn.ys]
    new = set(range(len(drawn.ys)))
    for order in orders:
        gap = loss = 0.0
        for i in order:
            X, y, s = drawn.Xs[i], drawn.ys[i], drawn.weights[i]
            c = s / (lam * S)
            if c == 0.0:
                continue
            theta, edges = thetas[i], every_edges[i]
            z, T = node_scores(X, W)
            q, p = entropy_and_features(X, z, T), entropy_and_features(X, theta, edges)
            away = divergence(z, T, q[0], theta, edges, p)
            gap += s / S * away
            loss += s / S * (q[0] - chain.score(z, T, y))
            goal, eta = first_goal(X, y, c, z), 1.0
            if i not in new:
                goal = z
                J = np.sum((q[1] - p[1]) * (z - theta)) + np.sum((q[2] - p[2]) * (T - edges))
                square = c * np.sum((q[3] - p[3]) ** 2)
                eta = min(1.0, RELAXATION * J / (J + square)) if J > 0.0 else 0.0
            for _ in range(HALVINGS):
                trial = theta + eta * (goal - theta), edges + eta * (T - edges)
                new_p = entropy_and_features(X, *trial)
                left = divergence(z, T, q[0], *trial, new_p)
                change = new_p[3] - p[3]
                if away - left - 0.5 * c * np.sum(change**2) >= 0.0:
                    thetas[i], every_edges[i] = trial
                    W = W - c * change
                    new.discard(i)
                    break
                eta *= 0.5
        lower = loss + 0.5 * lam * np.sum(W**2) - gap
        if lower > 0.0 and gap / lower <= ENOUGH:
            smaller = max(drawn.lam, lam / STEP)
            W, lam = W * lam / smaller, smaller
    return W, list(zip(thetas, every_edges, strict=True))


def pegasos(drawn, orders):
    """Stochastic sub-gradient descent; the marginals taken since the epochs last doubled."""
    W, N, tail_began = zero_weights(drawn), 0.0, 0
    taken = [[] for _ in drawn.ys]
    for epoch, order in enumerate(orders):
        if epoch >= 2 * tail_began and epoch > 0:
            tail_began, taken = epoch, [[] for _ in drawn.ys]
        for i in order:
            X, y, s = drawn.Xs[i], drawn.ys[i], drawn.weights[i]
            z, T = node_scores(X, W)
            if drawn.kind == "hinge":
                nodes, edges = chain.counts(chain.best(z + drawn.cost[y], T)[0], drawn.K)
            else:
                _, nodes, edges = chain.marginals(z, T)
            taken[i].append((nodes, edges))
            if s == 0.0:
                continue
            N += s
            slope = expected_features(X, nodes, edges) - chain.phi(X, y, drawn.K)
            W = (1.0 - s / N) * W - s / (drawn.lam * N) * slope
    means = [tuple(np.mean(parts, axis=0) for parts in zip(*one, strict=True)) for one in taken]
    return W, means
