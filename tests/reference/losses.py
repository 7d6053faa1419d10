"""Losses as a textbook writes them; their conjugates as a supremum, their steps as a search.

Slow and obvious: what `pegasos.problem.losses` and `custom_loss` are tested against.
"""

import math

import numpy as np


def hinge(z, y):
    return max(0.0, 1.0 - y * z)


def squared_hinge(z, y):
    return max(0.0, 1.0 - y * z) ** 2


def logistic(z, y):
    return float(np.logaddexp(0.0, -y * z))


def epsilon_insensitive(z, y, epsilon=0.1):
    return max(0.0, abs(z - y) - epsilon)


def lowest(function, low, high):
    """Minimise a convex function over [low, high] by zooming into the best of 33 points."""
    best = math.inf, 0.0
    for _ in range(80):
        points = np.linspace(low, high, 33)
        values = [function(point) for point in points.tolist()]
        best = min(best, *zip(values, points.tolist(), strict=True))
        i = int(np.argmin(values))
        low, high = float(points[max(0, i - 1)]), float(points[min(32, i + 1)])
        if high - low < 1e-15 * max(1.0, abs(low)):
            break
    return best


def gain(value, a, y, reach=200.0):
    """-loss*(-a) = min over z of loss(z) + a z."""
    return lowest(lambda z: value(z, y) + a * z, -reach, reach)[0]


def dual_step(gain, z, a, q, box):
    """The c in the box that maximises gain(c) - z (c - a) - q/2 (c - a)^2."""
    return lowest(lambda c: z * (c - a) + 0.5 * q * (c - a) ** 2 - gain(c), *box)[1]


# ---- losses as users write them: value and slope, nothing else


def my_hinge(z, y):
    return max(0.0, 1.0 - y * z)


def my_hinge_slope(z, y):
    return -y if y * z < 1.0 else 0.0


def my_logistic(z, y):
    m = y * z
    return max(0.0, -m) + math.log1p(math.exp(-abs(m)))


def my_logistic_slope(z, y):
    m = y * z
    e = math.exp(-abs(m))
    return -y * (e if m >= 0.0 else 1.0) / (1.0 + e)


def modified_huber(z, y):
    m = y * z
    if m >= 1.0:
        return 0.0
    return (1.0 - m) ** 2 if m >= -1.0 else -4.0 * m


def modified_huber_slope(z, y):
    m = y * z
    if m >= 1.0:
        return 0.0
    return -2.0 * y * (1.0 - m) if m >= -1.0 else -4.0 * y


def smoothed_hinge(z, y):
    u = 1.0 - y * z
    if u <= 0.0:
        return 0.0
    return 0.5 * u * u if u < 1.0 else u - 0.5


def smoothed_hinge_slope(z, y):
    return -y * min(1.0, max(0.0, 1.0 - y * z))


def squared(z, y):
    return (z - y) ** 2


def squared_slope(z, y):
    return 2 * (z - y)


def pinball(z, y):
    return 0.75 * (y - z) if y > z else 0.25 * (z - y)


def pinball_slope(z, y):
    return -0.75 if y > z else 0.25


def distance_weighted(z, y):
    """Falls to 0 but never reaches it: its slope vanishes only at infinity."""
    m = y * z
    return 1.0 - m if m <= 0.5 else 0.25 / m


def distance_weighted_slope(z, y):
    m = y * z
    return -y if m <= 0.5 else -y * 0.25 / (m * m)


CUSTOM = {
    "modified_huber": (modified_huber, modified_huber_slope, (-1.0, 1.0)),
    "smoothed_hinge": (smoothed_hinge, smoothed_hinge_slope, (-1.0, 1.0)),
    "distance_weighted": (distance_weighted, distance_weighted_slope, (-1.0, 1.0)),
    "squared": (squared, squared_slope, (-2.0, 0.3, 40.0)),
    "pinball": (pinball, pinball_slope, (-2.0, 0.3, 40.0)),
}
