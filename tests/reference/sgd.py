"""SGD-s and SGD-m as a perceptron with a growing margin: each presentation on its own."""

import numpy as np


def sgd(X, y, s, lam, order, times, *, offset=0.0):
    """[PT13]: present each row of `order` so many times; return (a, errors per row, time)."""
    a, errors, N = np.zeros(X.shape[1]), np.zeros(len(X)), 0.0
    for i in order:
        for _ in range(times):
            margin = y[i] * (X[i] @ a)
            threshold = lam * N * (1.0 - y[i] * offset)
            is_error = margin < threshold if N > 0.0 else y[i] * offset < 1.0
            if is_error:                                       # a . y_k < lam t
                a = a + s[i] * y[i] * X[i]                     # a <- a + y_k
                errors[i] += 1
            N += s[i]                                          # t <- t + 1
    return a, errors, N


def presentations(Q, theta, square, times):
    """Present one pattern so many times; return the number of margin errors."""
    errors = 0
    for _ in range(times):
        if Q < 0.0:
            errors += 1
            Q += square - theta
        else:
            Q -= theta
    return errors
