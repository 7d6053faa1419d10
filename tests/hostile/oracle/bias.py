"""The best free bias for given scores: one of them, the least or the largest."""

import numpy as np

from tests.hostile.oracle.losses import slope

HALVINGS = 400


def breakpoints(loss, f, y, s, epsilon):
    """Kinks in b of sum_i s_i loss(f_i + b), what each adds to the slope, and where it is 0."""
    if loss == "hinge":
        return y - f, s, s[y > 0].sum()
    return np.concatenate([y - f - epsilon, y - f + epsilon]), np.concatenate([s, s]), s.sum()


def best_bias(loss, f, y, s, epsilon, side=0):
    """A minimiser of sum_i s_i loss(f_i + b): the least (-1), the largest (+1) or any (0).

    Where rounding leaves it open which of two it is, the one further out.
    """
    if loss in ("hinge", "epsilon_insensitive"):
        kinks, rise, target = breakpoints(loss, f, y, s, epsilon)
        order = np.argsort(kinks)
        total = np.cumsum(rise[order])
        target = target + side * 4 * len(f) * np.finfo(f.dtype).eps * s.sum()
        place = np.searchsorted(total, target, side="left" if side <= 0 else "right")
        if (place == 0 and target <= 0) or place >= len(kinks):  # one class: no least or largest
            return f.dtype.type(np.inf * side) if side else kinks[order[-1 if place else 0]]
        return kinks[order[place]]
    return root(lambda b: (s * slope(loss, f + b, y, epsilon)).sum(), (s.sum(), f), side)


def root(rise, size, side):
    """Where an increasing function is 0; `side` pushes it outwards by what rounding may hide."""
    total, f = size
    allowance = side * 4 * len(f) * np.finfo(f.dtype).eps * total
    reach = f.dtype.type(1 + np.abs(f).max())
    low, high = -reach, reach
    for _ in range(60):
        if rise(low) - allowance <= 0:
            break
        low *= 4
    for _ in range(60):
        if rise(high) - allowance >= 0:
            break
        high *= 4
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if rise(middle) - allowance < 0 else (low, middle)
    return high if side > 0 else low
