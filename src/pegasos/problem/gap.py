"""The gap of a row, and sums of it: the one place where gap terms are added up.

    P(w, b) - D(a) = 1/S sum_i s_i gap_term_i + lam/2 ||w - w(a)||^2

A certificate sums over all rows; a solver's own estimate may sum over those it meets.
"""

from __future__ import annotations

from pegasos.dispatch import inlined
from pegasos.problem.joint_losses import joint_gain, joint_gap
from pegasos.problem.losses import gain, gap_term
from pegasos.problem.objective import weight

GAP, GAIN, WEIGHT = range(3)  # rows of the sums, one column per model


@inlined
def add_gap(costs, i, k, z, a, sums):  # type: ignore[no-untyped-def]
    """Add s_i gap_term, s_i gain and s_i of model k at score z and dual number a to `sums`."""
    s, y = weight(costs.weights, i), costs.Y[i, k]
    sums[GAP, k] += s * gap_term(costs.loss, z, a, y)
    sums[GAIN, k] += s * gain(costs.loss, a, y)
    sums[WEIGHT, k] += s


@inlined
def add_joint_gap(costs, i, z, a, y, sums):  # type: ignore[no-untyped-def]
    """Add the same of the only model of a joint loss, given all scores of a row of class y."""
    s = weight(costs.weights, i)
    sums[GAP, 0] += s * joint_gap(costs.loss, z, a, y)
    sums[GAIN, 0] += s * joint_gain(costs.loss, a, y)
    sums[WEIGHT, 0] += s
