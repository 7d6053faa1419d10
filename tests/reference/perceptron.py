"""The perceptron over a kernel matrix, keeping every hypothesis that a row was classified with."""

import numpy as np


def perceptron(K, y, s, order, scale=0.0):
    """[CSS12] Sec. 4.5; a hypothesis is the vector of its coefficients over the rows.

    Returns the hypothesis of each visit, its weight, whether it erred, and the last hypothesis.
    A constant feature adds its square to every kernel value.
    """
    B, visits = np.zeros(len(y)), []
    for i in order:
        if s[i] == 0.0:
            continue
        errs = y[i] * ((K[i] + scale**2) @ B) <= 0.0
        visits.append((B.copy(), s[i], errs))
        if errs:
            B[i] += s[i] * y[i]
    hypotheses, weights, errors = map(np.array, zip(*visits, strict=True))
    return hypotheses, weights, errors, B


def average(hypotheses, weights):
    return weights @ hypotheses / weights.sum()


def longest(hypotheses, weights, errors, last):
    """The hypothesis that classified the greatest weight of rows before its error; the first."""
    best, record, age = np.zeros_like(last), 0.0, 0.0
    for h, s, errs in zip(hypotheses, weights, errors, strict=True):
        if not errs:
            age += s
            continue
        if age > record:
            best, record = h, age
        age = 0.0
    return last if age > record else best
