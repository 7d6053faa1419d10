"""The gap of the present state by some of the rows: what large data can afford after every pass.

The gap is a mean over rows, so that some thousands of them tell it within a few percent, whichever
rows the last pass left out. Like a certificate, it takes the best bias for its scores: that of w(a)
is a sum over all dual numbers and moves with every step, while weights move little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import AHEAD, FloatArray, fetch, find, scores, shape
from pegasos.dispatch import compiled
from pegasos.parallel import each, ranges
from pegasos.problem.bias import best_bias, best_regularized_bias
from pegasos.problem.gap import GAIN, GAP, add_gap
from pegasos.problem.objective import Problem, flat
from pegasos.solvers.offsets import part
from pegasos.solvers.sdca.coordinate import DualBias

ROWS, SHARE = 4096, 64  # asked are one in so many, but no fewer than so many
ROWS_PER_PART = 2048  # that one thread takes
CLOSE = 1e-6  # how exact a bias is, in the mean loss


def sampled_gap(
    problem: Problem, A: FloatArray, W: FloatArray, bias: DualBias, place: int
) -> float:
    """Estimate the relative gap of one model from every so many-th row, beginning at `place`."""
    n, d = shape(problem.rows)
    step = max(1, min(n // ROWS, SHARE))
    chosen = np.arange(place % step, n, step)
    few, Z, a = part(problem, chosen), np.empty((len(chosen), 1)), A[chosen]

    def work(ends: tuple[int, int]) -> None:
        some = slice(*ends)
        write_scores_of(problem.rows, chosen[some], flat(W), Z[some])

    each(work, ranges(len(chosen), ROWS_PER_PART))
    b, distance, square = 0.0, 0.0, float(np.einsum("jk,jk->", W[:d], W[:d]))
    if problem.is_free:
        b = best_bias(few, Z, 0, float(bias.offset[0] + bias.scale * bias.beta[0]), CLOSE)
    elif problem.bias_scale > 0.0:
        b = best_regularized_bias(few, Z, 0, float(bias.scale * bias.beta[0]), CLOSE)
        distance = (b / bias.scale - float(bias.beta[0])) ** 2
        square += float(bias.beta[0]) ** 2
    sums = np.zeros((3, 1))
    add_gaps(few.costs, Z, b, a, sums)
    half = 0.5 * problem.lam
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = sums[GAP] / few.S + half * distance
        return float((gap / (sums[GAIN] / few.S - half * square))[0])


@compiled
def write_scores_of(rows: Any, chosen: Any, w: Any, Z: Any) -> None:
    """Write the scores of some rows into Z, (rows, 1)."""
    last = len(chosen) - 1
    for t in range(len(chosen)):
        find(rows, chosen[min(t + 2 * AHEAD, last)])
        fetch(rows, chosen[min(t + AHEAD, last)])
        scores(rows, chosen[t], w, Z[t])


@compiled
def add_gaps(costs: Any, Z: Any, b: float, A: Any, sums: Any) -> None:
    """Add up gap terms, gains and weights of rows with scores Z + b."""
    for i in range(Z.shape[0]):
        add_gap(costs, i, 0, Z[i, 0] + b, A[i, 0], sums)
