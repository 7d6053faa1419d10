"""The weights of a dual point and the scores of weights near them, in one pass over the rows.

A solver that maintains w(a) knows it but for rounding, before any certificate. The scores of what
it knows need not wait for the sum w(a) = 1/(lam S) sum_i s_i a_i x_i, which is still computed from
the data: each row is read once, for its score and for its part of the sum. What is judged then is a
w of its own, and lam/2 ||w - w(a)||^2 part of its gap (`gap`): however wrong the solver's weights
are, nothing false is claimed.
"""

from __future__ import annotations

import numpy as np

from pegasos.certificate.offer import DualWeights, Means, Offer
from pegasos.data.rows import PER_LINE, FloatArray, add, scores
from pegasos.dispatch import kernel
from pegasos.parallel import each
from pegasos.problem.bias import untouched, write_feasible_row
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_losses import lengths
from pegasos.problem.objective import Problem, flat, parts, sum_places, weight
from pegasos.problem.scores import Scores, with_bounds

SUM, SIZE = range(2)  # sums of s_i a_i and of |s_i a_i|
APART = 2 * PER_LINE  # numbers from those that a thread writes to others


def weights_and_scores(
    problem: Problem, offer: Offer, W: FloatArray, means: Means
) -> tuple[DualWeights, Scores]:
    """Return w(a) of an offer and the scores of weights W (d, K), for rows of features.

    The bias is not free: dual numbers are feasible as soon as they are clipped.
    """
    rows, (d, K) = problem.rows, W.shape
    Z, balance, pieces = means.scratch, untouched(K, offer.scale), parts(rows, K)
    places = sum_places(rows, d, K)
    V, totals = np.zeros((places, d, K)), np.zeros((places, 2, K))

    def work(p: int) -> None:
        own = np.zeros((5, K + APART))  # threads that write to one line wait for each other
        sums, room = own[:2], tuple(own[2:, :K])
        for span in pieces[p * len(pieces) // places : (p + 1) * len(pieces) // places]:
            add_and_score(problem, span, (offer.A, balance), (flat(W), flat(V[p])), sums, Z, room)
        totals[p] = sums[:, :K]

    each(work, range(places))
    for p in range(1, places):
        V[0] += V[p]
        totals[0] += totals[p]
    total = V[0].copy() / (problem.lam * problem.S)
    beta = problem.bias_scale * totals[0, SUM] / (problem.lam * problem.S)
    error = geometry(rows).weights_error(problem, total, totals[0, SIZE], means.extent)
    longest = float(np.sqrt(means.extent.values) * means.extent.largest)
    error = lengths(problem.costs.loss, error)
    return DualWeights(total, beta, balance, error, longest), with_bounds(W, Z, means.extent)


@kernel
def add_and_score(problem, span, point, weights, totals, Z, room):  # type: ignore[no-untyped-def]
    """Of rows span[0] <= i < span[1], write scores of W into Z, and add s_i a_i x_i to V."""
    (A, balance), (W, V), (z, a, c) = point, weights, room
    costs, rows = problem.costs, problem.rows
    for i in range(span[0], span[1]):
        scores(rows, i, W, z)
        write_feasible_row(costs.loss, costs, A, i, balance, a)
        s, some = weight(costs.weights, i), False
        for k in range(len(z)):
            Z[i, k], c[k] = z[k], s * a[k]
            totals[SUM, k] += c[k]
            totals[SIZE, k] += abs(c[k])
            some |= c[k] != 0.0
        if some:
            add(rows, i, c, V)
