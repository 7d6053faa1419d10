"""How good a labeller of sequences is: its objective and a lower bound, from the data, in float64.

    gap = 1/S sum_i s_i share_i + lam/2 ||w - w(a)||^2          (`problem.sequence_duals`)

Both terms are sums of what is never negative; rounding is added, never subtracted. A score is a
sum of at most `operations` roundings in a row, so that it is off by no more than

    r = eps operations size,     size = sum_t max_k sum_j |x_tj U_jk| + ...  (`rounding`)

however much of it cancels: r is on top of every loss, 2 r of every share ([Hig02] Sec. 4.2). The
marginals of p_i are off by a part u_i of themselves (`uncertainty`), and w(a), a sum over T tokens,
by no more than `moved`, 1/(lam S) times

    sum_i s_i (u_i (sum_t ||x_t|| + L_i) + T eps sum_t ||x_t|| ||(e_y - p)_t||)

in norm, which is added to ||w - w(a)||. The room of the objective is in the gap twice: the bound is
below the dual value whatever rounding did to either.

[Hig02]  Higham. Accuracy and stability of numerical algorithms. SIAM, 2nd ed. 2002.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import sizes as write_sizes
from pegasos.data.rows import square_norm as row_square
from pegasos.dispatch import compiled, inlined
from pegasos.parallel import each
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import (
    EPS,
    operations,
    portions,
    share,
    total_error,
    uncertainty,
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

SLACK = 1.001  # for the rounding of bounds on rounding


class Evaluation(NamedTuple):
    """A model, its objective, a lower bound on the optimum, and what is proven between them.

    The optimum is within `radius` of the model.
    """

    model: Any
    primal: float
    dual: float
    gap: float
    radius: float


def radius_of(gap: float, lam: float, off: float) -> float:
    """Return how far the optimum is from w at most, which is `off` from w(a) at most.

    ||w - w*||^2 + ||w(a) - w*||^2 <= 2 gap / lam: a ball around the middle of w and w(a).
    """
    return SLACK * (math.sqrt(max(0.0, gap / lam - 0.25 * off**2)) + 0.5 * off)


def evaluate(problem: Sequences, model: Model, dual: Any) -> Evaluation:
    """Certify a model by a dual point, the closer to it the better."""
    _, T, _, _ = sizes(problem)
    K = model.U.shape[1]
    nodes, parts, beside = np.empty((T, K)), portions(problem, K), _beside(problem, model)
    sums, edges = np.zeros((len(parts), 4)), np.zeros((len(parts), K + 2, K))

    def work(p: int) -> None:
        out = (make_work(problem, K), sums[p], nodes, edges[p])
        add_shares(problem, parts[p], model, dual, beside, out)

    each(work, range(len(parts)))
    own = weights_of(problem, nodes, edges)
    return _certified(problem, model, own, sums.sum(axis=0))


def _certified(problem: Sequences, model: Model, own: Model, sums: Any) -> Evaluation:
    """Put sums over the sequences together; `own` is w(a)."""
    losses, rooms, shares, moved = (float(x) for x in sums)
    n, K, half = len(problem.starts) - 1, model.U.shape[1], 0.5 * problem.lam
    of_sums, of_norms = EPS * (n + 64.0), EPS * (K + 64.0)
    square = half * square_norm(model)
    middle = square + losses / problem.S
    room = (rooms + of_sums * (losses + rooms)) / problem.S + of_norms * square + 4.0 * EPS * middle
    off = sum(float(np.sum((ours - its) ** 2)) for ours, its in zip(model, own, strict=True))
    off = (1.0 + of_norms) * math.sqrt(off) + SLACK * moved / (problem.lam * problem.S)
    gap = (1.0 + of_sums) * shares / problem.S + (1.0 + 8.0 * EPS) * half * off**2
    primal = middle + room
    gap += 2.0 * room + 4.0 * EPS * (primal + gap)
    return Evaluation(model, primal, primal - gap, gap, radius_of(gap, problem.lam, off))


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


@inlined
def moved(problem, i, u, nodes):  # type: ignore[no-untyped-def]
    """Return how far rounding may have moved s_i (phi(y) - E phi) and its sum with the others.

    `u` is the uncertainty of the marginals, `nodes` (T, K) are s_i (e_y - p_i).
    """
    start, stop = problem.starts[i], problem.starts[i + 1]
    s, of_sum = weight(problem.weights, i), EPS * (len(nodes) + 64.0)
    u = s * total_error(u, nodes.shape[1])
    total = (stop - start + 1.0) * (u + 2.0 * s * of_sum)
    for t in range(start, stop):
        square = 0.0
        for k in range(nodes.shape[1]):
            square += nodes[t, k] * nodes[t, k]
        total += math.sqrt(row_square(problem.rows, t)) * (u + of_sum * math.sqrt(square))
    return total


@compiled
def add_shares(problem, span, model, dual, beside, out):  # type: ignore[no-untyped-def]
    """Add what sequences of a range have to losses, their rounding, the gap's shares, `moved`.

    Writes s_i (e_y - p_i).
    """
    work, sums, nodes, edges = out
    for i in range(span[0], span[1]):
        s = weight(problem.weights, i)
        write_scores(problem, i, model, work.room.z)
        top = respond(problem.loss, problem, i, model.V, work.room, work.response)
        log_sum = write_own(dual, problem, i, work)
        room = rounding(problem, i, model.U, beside, work.other)
        of_gap = share(dual, problem, i, model.V, (top, log_sum), work)
        u = uncertainty(dual, problem, i, model.V, room, work)
        write_difference(problem, i, work.own, nodes, edges)
        sums[0] += s * loss_value(problem, i, model.V, top, work.room)
        sums[1] += s * room
        sums[2] += s * (of_gap + 2.0 * room)
        sums[3] += moved(problem, i, u, nodes)
