"""The margin perceptron with unlearning, a row at a time; the bias is the last column's weight."""

import numpy as np


def mpu(X, y, s, lam, h, orders, near=None, offset=0.0):
    """Unit steps of h, one list of rows per pass; return (beta, w, h after each pass).

    `near` is the part of the bound on a fixed point's gap below which h is halved; None: never.
    """
    n, S, beta, sizes = len(y), s.sum(), np.zeros(len(y)), []
    w = np.zeros(X.shape[1])
    for order in orders:
        steps, gap = 0, 0.0
        for i in order:
            u = 1.0 - y[i] * (X[i] @ w + offset)
            q = s[i] * X[i] @ X[i] / (lam * S)
            gap += s[i] * ((1.0 - beta[i]) * max(0.0, u) + beta[i] * max(0.0, -u)) / S
            change = 0.0
            if u > h * q / 2.0 and beta[i] < 1.0:              # learn
                change = h
            elif u < -h * q / 2.0 and beta[i] > 0.0:           # unlearn
                change = -h
            beta[i] += change
            w = w + s[i] * y[i] * change * X[i] / (lam * S)
            steps += change != 0.0
        bound = h / 2.0 * sum(s[i] ** 2 * X[i] @ X[i] for i in range(n)) / (lam * S**2)
        if near is not None and (steps == 0 or gap <= near * bound):
            h /= 2.0
        sizes.append(h)
    return beta, w, sizes
