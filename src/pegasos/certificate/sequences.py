"""How good a labeller of sequences is: its objective and a lower bound, from the data, in float64.

    gap = 1/S sum_i s_i share_i + lam/2 ||w - w(a)||^2          (`problem.sequence_duals`)

Both terms are sums of what is never negative; rounding is added, never subtracted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import (
    portions,
    share,
    weights_of,
    write_difference,
    write_own,
)
from pegasos.problem.sequences import (
    Model,
    Sequences,
    loss_value,
    make_work,
    respond,
    sizes,
    square_norm,
    write_scores,
)


class Evaluation(NamedTuple):
    """A model, its objective, a lower bound on the optimum, and what is proven between them."""

    model: Any
    primal: float
    dual: float
    gap: float


def evaluate(problem: Sequences, model: Model, dual: Any) -> Evaluation:
    """Certify a model by a dual point, the closer to it the better."""
    _, T, _, _ = sizes(problem)
    K = model.U.shape[1]
    nodes, parts = np.empty((T, K)), portions(problem, K)
    sums, edges = np.zeros((len(parts), 2)), np.zeros((len(parts), K + 2, K))

    def work(p: int) -> None:
        out = (make_work(problem, K), sums[p], nodes, edges[p])
        add_shares(problem, parts[p], model, dual, out)

    each(work, range(len(parts)))
    losses, shares = sums.sum(axis=0)
    own = weights_of(problem, nodes, edges)
    off = sum(float(np.sum((ours - its) ** 2)) for ours, its in zip(model, own, strict=True))
    primal = 0.5 * problem.lam * square_norm(model) + float(losses) / problem.S
    gap = float(shares) / problem.S + 0.5 * problem.lam * off
    return Evaluation(model, primal, primal - gap, gap)


@compiled
def add_shares(problem, span, model, dual, out):  # type: ignore[no-untyped-def]
    """Add s_i loss_i and s_i share_i to sums; write s_i (e_y - p_i) of a range of sequences."""
    work, sums, nodes, edges = out
    for i in range(span[0], span[1]):
        s = weight(problem.weights, i)
        write_scores(problem, i, model, work.room.z)
        top = respond(problem.loss, problem, i, model.V, work.room, work.response)
        log_sum = write_own(dual, problem, i, work)
        sums[0] += s * loss_value(problem, i, model.V, top, work.room)
        sums[1] += s * share(dual, problem, i, model.V, (top, log_sum), work)
        write_difference(problem, i, work.own, nodes, edges)
