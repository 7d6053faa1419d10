"""The batch perceptron by definition: sorted columns, the whole kernel matrix, no state kept."""

import numpy as np


def columns(c, y, free):
    """Heights that water stands over, ascending, and how often each counts."""
    if not free:
        return np.sort(c), 1
    plus, minus = np.sort(c[y > 0]), np.sort(c[y < 0])
    m = min(len(plus), len(minus))
    return (plus[:m] + minus[:m]) / 2, 2


def hinges(c, y, free, s):
    """Sum of the hinge losses of s w, at the best bias if that is free."""
    h, times = columns(c, y, free)
    return times * np.maximum(0.0, 1.0 - s * h).sum()


def gamma_for_nu(c, y, free, nu):
    """The water level: water over the k lowest columns cannot stand higher than over them alone."""
    h, times = columns(c, y, free)
    return np.min((len(c) * nu / times + np.cumsum(h)) / np.arange(1, len(h) + 1))


def gamma_for_lam(c, y, free, lam, square):
    """1/s for the s of least lam/2 s^2 ||w||^2 + mean hinge: a kink, or where a parabola ends."""
    h, times = columns(c, y, free)
    kinks = 1.0 / h[h > 0]
    ends = times * np.cumsum(h) / (len(c) * lam * square) if square > 0 else []
    some = np.concatenate([[0.0], kinks, np.maximum(0.0, ends)])
    values = [lam / 2 * s**2 * square + hinges(c, y, free, s) / len(c) for s in some]
    s = some[np.argmin(values)]
    return 1.0 / s if s > 0 else np.inf


def adversary(c, y, free, gamma, lam_of=None):
    """p*: mass on the rows under water, 1/2 for each class if the bias is free; ties share evenly.

    Given lam, a column at the level counts in part: so that sum_i b_i c_i = n lam ||w||^2 / gamma.
    `lam_of` is (lam, ||w||^2).
    """
    n, (h, times) = len(c), columns(c, y, free)
    edge = gamma + 1e-12 * abs(gamma) if np.isfinite(gamma) else gamma
    rows = float(max(1, np.sum(h <= edge)))                    # of each class, if free
    if lam_of is not None and np.isfinite(gamma):
        asked = n * lam_of[0] * lam_of[1] / (times * gamma)
        below = h < gamma - 1e-12 * abs(gamma)
        rows = min(rows, np.sum(below) + max(0.0, (asked - h[below].sum()) / gamma))
    p = np.zeros(n)
    for some in ([y > 0, y < 0] if free else [y != 0]):
        some = np.flatnonzero(some)
        rest = rows
        for height in np.unique(c[some]):
            tied = some[c[some] == height]
            p[tied] = min(1.0, rest / len(tied)) / (rows * times)
            rest -= min(rest, len(tied))
    return p


def batch_perceptron(K, y, choices, nu=None, lam=None, free=False, curved=False):
    """[CSS12] Algorithm 1 along given choices; each must be one that p* puts mass on.

    Returns alpha, its sum over the steps, the sum of the p*, and the p* of the next step.
    """
    n = len(y)
    eta_0 = 1.0 / np.sqrt(K.diagonal().max())                  # line 1
    alpha, alpha_sum, p_sum = np.zeros(n), np.zeros(n), np.zeros(n)  # line 2
    for t in range(1, len(choices) + 2):                       # line 3
        c = y * (K @ (y * alpha))
        square = alpha @ c
        gamma = (                                              # line 5
            gamma_for_lam(c, y, free, lam, square) if nu is None else gamma_for_nu(c, y, free, nu)
        )
        p = adversary(c, y, free, gamma, (lam, square) if nu is None else None)
        if t > len(choices):
            return alpha, alpha_sum, p_sum, p
        p_sum += p
        i = choices[t - 1]                                     # line 6
        assert p[i] > 0.0
        eta = eta_0 / np.sqrt(t)                               # line 4
        r = n * lam * square * p.max() / gamma if nu is None else gamma - n * nu * p.max()
        if curved and r > 0.0:
            eta = min(eta, 1.0 / (r * t))
        alpha[i] += eta                                        # line 7
        norm = np.sqrt(alpha @ (y * (K @ (y * alpha))))        # line 8
        alpha /= max(1.0, norm)                                # lines 11, 12
        alpha_sum += alpha                                     # line 13
