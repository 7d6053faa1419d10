"""Dual numbers as a Newton step predicts them: a proof sooner than by the slopes of the loss.

The gap holds lam/2 ||w - w(a)||^2, a square of the gradient over lam. Where lam is small for the
rows' units, as on raw columns, that is large long after the objective is as good as at its minimum.
But a step has dual numbers of its own, linear in the scores as its equations are,

    a_i = c_i - h_i <x~_i, p>,        w(a) = w + p    by    H p = -gradient

with c_i and h_i those where it begins; rows that entered it as they are (`curved`) have the slopes
of their losses there. They belong to the weights w + p, but for the damping and for rows that
would leave the box and are brought back; the step goes to w + u p, which is near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.centre import settle, weight_count
from pegasos.data.rows import FloatArray, shape
from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem.gap import add_gap
from pegasos.problem.losses import dual_step, lower, upper
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.newton.block_products import add_sums
from pegasos.solvers.newton.envelope import BALANCE, ROWS_OF_SUMS
from pegasos.solvers.newton.passes import added, parts_of_products, parts_of_scores


class Predicted(NamedTuple):
    """Feasible dual numbers (n, 1), and v and sums of these as `Place` has them."""

    A: FloatArray
    v: FloatArray
    sums: FloatArray


def predicted(
    problem: Problem, Z: FloatArray, A: FloatArray, D: FloatArray, h: FloatArray, curved: Any
) -> FloatArray:
    """Return the dual numbers of a step from Z, A along D with curvatures h, `curved` apart."""
    F = np.empty_like(A)

    def write(part: tuple[int, int]) -> None:
        write_predicted(problem.costs, A, D, h, part, F)

    each(write, parts_of_scores(problem))
    write_ends(problem.costs, Z, D, curved, F)
    return F


def belonging(
    problem: Problem, Z: FloatArray, A: FloatArray, v: FloatArray, F: FloatArray
) -> Predicted:
    """Return F with its v and its sums at the scores Z; v is that of A."""
    parts = parts_of_products(problem)
    sums = np.zeros((len(parts), ROWS_OF_SUMS, 1))
    changes = np.zeros((len(parts), weight_count(problem.rows), 1))
    D = F - A

    def go(number: int) -> None:
        add_gaps(problem.costs, Z, F, parts[number], sums[number])
        add_sums(problem, parts[number], D, changes[number])

    each(go, range(len(parts)))
    change = settle(problem.rows.centre, added(changes))[: shape(problem.rows)[1]]
    return Predicted(F, v + change / problem.S, added(sums))


@compiled
def write_predicted(costs, A, D, h, span, F):  # type: ignore[no-untyped-def]
    """Write c_i - h_i d_i, brought back to the box, into F; h_i has the weight s_i in it."""
    for i in range(span[0], span[1]):
        s, y, a = weight(costs.weights, i), costs.Y[i, 0], A[i, 0]
        if h[i] > 0.0:
            a = min(max(a - h[i] / s * D[i, 0], lower(costs.loss, y)), upper(costs.loss, y))
        F[i, 0] = a


@compiled
def write_ends(costs, Z, D, chosen, F):  # type: ignore[no-untyped-def]
    """Write minus the slopes of the loss at Z + D into F, for the chosen rows."""
    for i in chosen:
        F[i, 0] = dual_step(costs.loss, Z[i, 0] + D[i, 0], 0.0, 0.0, costs.Y[i, 0])


@compiled
def add_gaps(costs, Z, F, span, sums):  # type: ignore[no-untyped-def]
    """Add gap terms and s_i a_i of the dual numbers F at the scores Z to `sums`."""
    for i in range(span[0], span[1]):
        add_gap(costs, i, 0, Z[i, 0], F[i, 0], sums)
        sums[BALANCE, 0] += weight(costs.weights, i) * F[i, 0]
