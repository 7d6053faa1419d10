"""Kernel Pegasos on a whole kernel matrix, nothing maintained; time is the weight of rows seen."""

from typing import NamedTuple

import numpy as np


class Path(NamedTuple):
    alpha: np.ndarray    # per row, the sum of the dual numbers it took on: a count, for the hinge
    B: np.ndarray        # the last iterate is sum_j B_j phi(x_j) ...
    b: float             # ... with this bias
    average: np.ndarray  # of the B before each step, weighted by the weight of its batch


def kernel_pegasos(take, K, y, s, lam, epochs, *, scale=0.0, free=False):
    """[SSSC11] Fig. 3, corrected; `epochs` lists the batches of each epoch.

    `scale` is a constant feature; with `free`, the centre it is penalised around moves onto the
    bias after every epoch. `take` is as in `tests.reference.pegasos`.
    """
    n = len(K)
    alpha, total, N, centre, constant = np.zeros(n), np.zeros(n), 0.0, 0.0, 0.0
    for batches in epochs:
        for A in batches:                                      # choose i_t
            s_A = sum(s[i] for i in A)
            if s_A == 0.0:
                continue
            B = s * alpha / (lam * N) if N > 0.0 else np.zeros(n)
            beta = scale**2 * constant / (lam * N) if N > 0.0 else 0.0
            total += s_A * B
            N += s_A
            shrink, growth = 1.0 - s_A / N, s_A / (lam * N)
            a = {}
            for i in A:                                        # 1/(lam (t-1)) sum_j alpha_j K_ij
                z = K[i] @ B + beta
                q = growth * (K[i, i] + scale**2)
                a[i] = take(z, y[i], shrink, q, centre)
            for i in A:
                alpha[i] += a[i]                               # alpha_i <- alpha_i + 1
                constant += s[i] * a[i]
        if free:
            centre, constant = centre + scale**2 * constant / (lam * N), 0.0
    B, b = s * alpha / (lam * N), centre + scale**2 * constant / (lam * N)
    return Path(alpha, B, b, total / N)


def explicit(slope):
    """The step of a loss of bounded slope: a = -slope at the present score."""
    return lambda z, y, shrink, growth, centre: -slope(z + centre, y)


def squared_hinge(z, y, shrink, growth, centre):
    """The slope where the step ends: all but the centre has shrunk by then."""
    return y * 2.0 * max(0.0, 1.0 - y * (shrink * z + centre)) / (1.0 + 2.0 * growth)
