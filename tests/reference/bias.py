"""The free bias by brute force."""

import numpy as np

from tests.reference.losses import lowest


def mean_loss(value, z, y, s, b):
    return sum(
        s_i * value(float(t + b), float(u)) for t, u, s_i in zip(z, y, s, strict=True)
    ) / s.sum()


def best_bias(value, z, y, s, reach=50.0):
    """Return the least mean loss over the bias, and a bias that attains it."""
    return lowest(lambda b: mean_loss(value, z, y, s, b), -reach, reach)


def flat_stretch(slope_sum, low=-60.0, high=60.0):
    """Return both ends of the interval on which a non-decreasing function is 0, by bisection."""
    ends = []
    for is_left in (True, False):
        a, b = low, high
        for _ in range(200):
            m = 0.5 * (a + b)
            rises = slope_sum(m) >= -1e-9 if is_left else slope_sum(m) > 1e-9
            a, b = (a, m) if rises else (m, b)
        ends.append(0.5 * (a + b))
    return ends


def projected(a, s, low, high):
    """Return the point of the box nearest to a (in the norm weighted by s) with sum s_i a_i = 0."""
    left, right = float((a - high).min()), float((a - low).max())
    for _ in range(300):
        theta = 0.5 * (left + right)
        total = float(s @ np.clip(a - theta, low, high))
        left, right = (theta, right) if total > 0.0 else (left, theta)
    return np.clip(a - 0.5 * (left + right), low, high)
