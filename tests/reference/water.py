"""Water levels by brute force: exact sums of sorted heights, and a linear program."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog


def water_level(c, volume):
    """min_k (volume + the k lowest) / k, exactly: water over any k columns cannot stand higher."""
    total, levels = Fraction(volume), []
    for k, height in enumerate(sorted(c), start=1):
        total += Fraction(height)
        levels.append(total / k)
    return min(levels)


def level_at_bias(c, y, volume, b):
    """The water level over c + y b, exactly."""
    return water_level([Fraction(h) + Fraction(s) * Fraction(b) for h, s in zip(c, y, strict=True)],
                       volume)


def balanced_water_level(c, y, volume):
    """max gamma over xi and the bias, as a linear program in (gamma, b, xi)."""
    n = len(c)
    rows = np.hstack([np.ones((n, 1)), -np.reshape(y, (n, 1)), -np.eye(n)])
    budget = np.concatenate([[0.0, 0.0], np.ones(n)])
    solved = linprog(
        np.concatenate([[-1.0], np.zeros(n + 1)]),             # gamma - y_i b - xi_i <= c_i
        A_ub=np.vstack([rows, budget]),                        # sum_i xi_i <= volume
        b_ub=np.concatenate([c, [volume]]),
        bounds=[(None, None), (None, None)] + [(0.0, None)] * n,
    )
    assert solved.success, solved.message
    return -solved.fun


def value_of_distribution(p, c, volume):
    """p.c + volume max p, exactly: what the adversary pays; its minimum over p is the level."""
    return sum(u * Fraction(h) for u, h in zip(p, c, strict=True)) + Fraction(volume) * max(p)
