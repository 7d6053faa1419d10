"""Dual coordinate ascent on a whole kernel matrix, one row at a time, each step a search."""

import numpy as np

from tests.reference.losses import dual_step


def kernel_sdca(gain, box, K, y, s, lam, epochs, *, scale=0.0, free=False):
    """[HCLKS08] Alg. 3 for any loss; returns the duals after one step per index of each epoch.

    `scale` is a constant feature; with `free`, the centre it is penalised around moves onto the
    bias after every epoch.
    """
    K = K + scale**2
    a, S, centre = np.zeros(len(K)), s.sum(), 0.0
    for order in epochs:
        for i in order:
            z = K[i] @ (s * a) / (lam * S) + centre
            q = s[i] * K[i, i] / (lam * S)
            a[i] = dual_step(lambda c, i=i: gain(c, y[i]), z, a[i], q, box(y[i]))
        if free:
            centre += scale**2 * (s @ a) / (lam * S)
    return a
