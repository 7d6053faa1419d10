"""How good a labeller of sequences is: its objective and a lower bound, from the data, in float64.

    gap = 1/S sum_i s_i share_i + lam/2 ||w - w(a)||^2          (`problem.sequence_duals`)

Both terms are sums of what is never negative; rounding is added, never subtracted. A score is a
sum of at most `operations` roundings in a row, so that it is off by no more than

    r = eps operations size,     size = sum_t max_k sum_j |x_tj U_jk| + ...  (`rounding`)

however much of it cancels: r is on top of every loss, 2 r of every share ([Hig02] Sec. 4.2).

[Hig02]  Higham. Accuracy and stability of numerical algorithms. SIAM, 2nd ed. 2002.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import sizes as write_sizes
from pegasos.dispatch import compiled, inlined
from pegasos.parallel import each
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import (
    EPS,
    operations,
    portions,
    share,
    weights_of,
    write_difference,
    write_own,
)
from pegasos.problem.sequences import (
    Model,
    SequenceHinge,
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
    nodes, parts, beside = np.empty((T, K)), portions(problem, K), _beside(problem, model)
    sums, edges = np.zeros((len(parts), 2)), np.zeros((len(parts), K + 2, K))

    def work(p: int) -> None:
        out = (make_work(problem, K), sums[p], nodes, edges[p])
        add_shares(problem, parts[p], model, dual, beside, out)

    each(work, range(len(parts)))
    losses, shares = sums.sum(axis=0)
    own = weights_of(problem, nodes, edges)
    off = sum(float(np.sum((ours - its) ** 2)) for ours, its in zip(model, own, strict=True))
    primal = 0.5 * problem.lam * square_norm(model) + float(losses) / problem.S
    gap = float(shares) / problem.S + 0.5 * problem.lam * off
    return Evaluation(model, primal, primal - gap, gap)


def _beside(problem: Sequences, model: Model) -> float:
    """Return the most that a token adds to a score, or to log Z, beside its features."""
    is_hinge = isinstance(problem.loss, SequenceHinge)
    more = problem.loss.cost.max() if is_hinge else 1.0 + np.log(model.V.shape[1])
    return float(np.abs(model.V).max() + more)


@inlined
def rounding(problem, i, U, beside, room):  # type: ignore[no-untyped-def]
    """Return what rounding may have changed in any score of sequence i; room.z is lost."""
    start, stop = problem.starts[i], problem.starts[i + 1]
    indptr, size, values = problem.rows.indptr, (stop - start + 1) * beside, 0
    for t in range(start, stop):
        write_sizes(problem.rows, t, U, room.z[0])
        top = 0.0
        for k in range(U.shape[1]):
            top = max(top, room.z[0, k])
        size += top
        values = max(values, indptr[t + 1] - indptr[t])
    return EPS * operations(stop - start, U.shape[1], values) * size


@compiled
def add_shares(problem, span, model, dual, beside, out):  # type: ignore[no-untyped-def]
    """Add s_i loss_i and s_i share_i to sums; write s_i (e_y - p_i) of a range of sequences."""
    work, sums, nodes, edges = out
    for i in range(span[0], span[1]):
        s = weight(problem.weights, i)
        write_scores(problem, i, model, work.room.z)
        top = respond(problem.loss, problem, i, model.V, work.room, work.response)
        log_sum = write_own(dual, problem, i, work)
        room = rounding(problem, i, model.U, beside, work.other)
        sums[0] += s * (loss_value(problem, i, model.V, top, work.room) + room)
        of_gap = share(dual, problem, i, model.V, (top, log_sum), work)
        sums[1] += s * (of_gap + 2.0 * room)
        write_difference(problem, i, work.own, nodes, edges)
