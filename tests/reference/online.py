"""Online learners, step by step in plain NumPy, dense, with every iterate kept."""

import numpy as np

from pegasos.online import AdaGrad, Entropy, Euclidean, L1Ball, Lazy, Mirror
from pegasos.problem import losses
from tests.reference.projections import projected


def size(step, t):
    return step.scale / t**step.power


def mirrored(mirror_map, within, theta):
    """argmin of psi(w) - <theta, w>: the Euclidean and the entropic case."""
    if isinstance(mirror_map, Euclidean):
        return projected(within, theta)
    assert isinstance(mirror_map, Entropy)
    both = np.concatenate([theta, -theta]) if isinstance(within, L1Ball) else theta
    both = within.radius * both
    p = np.exp(both - both.max())
    p *= within.radius / p.sum()
    return p[: len(theta)] - p[len(theta) :] if isinstance(within, L1Ball) else p


def iterates(rule, gradient, T, d):
    """Return w_1, ..., w_{T+1}, given gradient(t, w)."""
    G, squares, theta = np.zeros(d), np.zeros(d), np.zeros(d)
    if isinstance(rule, AdaGrad):
        played = [projected(rule.within, np.zeros(d))]
    else:
        played = [mirrored(rule.mirror_map, rule.within, np.zeros(d))]
    for t in range(1, T + 1):
        w = played[-1]
        g = gradient(t, w)
        if isinstance(rule, AdaGrad):
            squares = squares + g * g
            h = rule.delta + np.sqrt(squares)
            w = projected(rule.within, w - rule.eta * g / h, h)
        elif isinstance(rule, Lazy):
            G = G + g
            w = mirrored(rule.mirror_map, rule.within, -size(rule.step, t + 1) * G)
        else:
            assert isinstance(rule, Mirror)
            theta = w if isinstance(rule.mirror_map, Euclidean) else theta
            theta = theta - size(rule.step, t) * g
            w = mirrored(rule.mirror_map, rule.within, theta)
        played.append(w)
    return np.array(played)


def on_rows(rule, X, y, loss, lam, order):
    """Return the iterates and the costs paid on rows of a dense X."""

    def gradient(t, w):
        i = order[t - 1]
        return losses.slope(loss, X[i] @ w, y[i]) * X[i] + lam * w

    played = iterates(rule, gradient, len(order), X.shape[1])
    paid = [
        losses.value(loss, X[i] @ w, y[i]) + lam / 2 * w @ w
        for i, w in zip(order, played, strict=False)
    ]
    return played, np.array(paid)
