"""Dual points of sequence problems: a distribution p_i over label sequences for every sequence.

Whatever form a solver keeps it in, `write_own` writes the marginals of p_i and `share` returns its
share of the gap, which is never negative:

    hinge       max_r (cost + F)(r) - E_p (cost + F)
    logistic    KL(p_i || the model's distribution)

and gap = 1/S sum_i s_i share_i + lam/2 ||w - w(a)||^2. All forms are distributions by the way they
are kept, so that there is nothing to restore. w(a) is summed label by label, which needs no second
copy of the weights and no order but that of the tokens, whatever the number of threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, add
from pegasos.dispatch import by_tag, compiled, inlined
from pegasos.parallel import each, ranges
from pegasos.problem.chain import add_path, expected_score, path_score, write_marginals
from pegasos.problem.objective import weight
from pegasos.problem.sequences import (
    Model,
    Sequences,
    make_work,
    sizes,
    stretches,
    subtract_labels,
)

EPS = float(np.finfo(np.float64).eps)
PARTS = 16
LABELS_AT_ONCE = 8  # of w(a), a cache line of them


class Paths(NamedTuple):
    """A few label sequences each: paths[m, t] for the tokens t, of probability mass[i, m]."""

    paths: Any
    mass: FloatArray


class Counts(NamedTuple):
    """How often labels and transitions were taken in some visits: whole numbers, exact.

    A sequence without a visit stands for its true labels.
    """

    nodes: FloatArray
    edges: FloatArray


class Scored(NamedTuple):
    """Distributions proportional to exp of node scores (T, K) and transitions (n, K, K)."""

    nodes: FloatArray
    edges: FloatArray


class OfModel(NamedTuple):
    """The model's own distribution: for the logistic loss, minus its slope."""


@by_tag
def write_own(dual: Any, problem: Any, i: int, work: Any) -> float:
    """Write the marginals of p_i into work.own; return log Z of what is kept as scores, else 0."""


@by_tag
def share(dual: Any, problem: Any, i: int, V: Any, values: Any, work: Any) -> float:
    """Return the share of p_i in the gap, after `write_own`.

    Rounding of what a dual point keeps is on top, not that of the model's scores. `values` are what
    `respond` and `write_own` returned, at the node scores work.room.z.
    """


@by_tag
def uncertainty(dual: Any, problem: Any, i: int, V: Any, room: float, work: Any) -> float:
    """Return by which part of itself a marginal of p_i may be off, after `write_own`.

    `room` is what rounding may have changed in any score of the model.
    """


@inlined
def _empty(own, L):  # type: ignore[no-untyped-def]
    """Set marginals to 0."""
    K = own.edges.shape[0]
    for t in range(L):
        for k in range(K):
            own.nodes[t, k] = 0.0
    for r in range(K):
        for k in range(K):
            own.edges[r, k] = 0.0


@inlined
def operations(L, K, values):  # type: ignore[no-untyped-def]
    """Return how often the score of L tokens of so many stored values is rounded, at most."""
    return 2.0 * L + 4.0 * K + values + 16.0


@inlined
def _largest(z, T, L):  # type: ignore[no-untyped-def]
    """Return a bound on the sum of the sizes of all that is added up in a score."""
    size = edge = 0.0
    for t in range(L):
        top = 0.0
        for k in range(T.shape[1]):
            top = max(top, abs(z[t, k]))
        size += top
    for r in range(T.shape[0]):
        for k in range(T.shape[1]):
            edge = max(edge, abs(T[r, k]))
    return size + (L - 1) * edge


@inlined
def _of_products(size, L, K):  # type: ignore[no-untyped-def]
    """Return by which part of itself a marginal is off that comes from scores of such a size.

    It is a sum of products of exponentials, one per place and transition: of each the argument is
    rounded and the value off by 2 units; K products are added, and divided by a sum of such.
    """
    return 2.0 * EPS * (2.0 * size + L * (K + 16.0))


@inlined
def total_error(u, K):  # type: ignore[no-untyped-def]
    """Return how much marginals of uncertainty u may be off at one place, added up."""
    return 2.0 * u if u < 1.0 else K * K + 1.0


@inlined
def _whole(mass):  # type: ignore[no-untyped-def]
    """Return the sum of some numbers."""
    total = 0.0
    for m in range(len(mass)):
        total += mass[m]
    return total


@write_own.register(Paths)
def _(dual, problem, i, work):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    whole = _whole(dual.mass[i])
    _empty(work.own, stop - start)
    for m in range(dual.mass.shape[1]):
        if dual.mass[i, m] > 0.0:
            p, path = dual.mass[i, m] / whole, dual.paths[m, start:stop]
            add_path(path, stop - start, p, work.own.nodes, work.own.edges)
    return 0.0


@share.register(Paths)
def _(dual, problem, i, V, values, work):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    total, whole = 0.0, _whole(dual.mass[i])
    for m in range(dual.mass.shape[1]):
        if dual.mass[i, m] > 0.0:
            score = path_score(work.room.z, V, stop - start, dual.paths[m, start:stop])
            total += dual.mass[i, m] / whole * max(0.0, values[0] - score)
    return total * (1.0 + EPS * (len(dual.mass[i]) + 8.0))


@uncertainty.register(Paths)
def _(dual, problem, i, V, room, work):  # type: ignore[no-untyped-def]
    return EPS * (dual.mass.shape[1] + 4.0)


@write_own.register(Counts)
def _(dual, problem, i, work):  # type: ignore[no-untyped-def]
    start, stop, own = problem.starts[i], problem.starts[i + 1], work.own
    K, visits = dual.nodes.shape[1], _whole(dual.nodes[start])
    if visits == 0.0:
        _empty(own, stop - start)
        add_path(problem.labels[start:stop], stop - start, 1.0, own.nodes, own.edges)
        return 0.0
    for t in range(stop - start):
        for k in range(K):
            own.nodes[t, k] = dual.nodes[start + t, k] / visits
    for r in range(K):
        for k in range(K):
            own.edges[r, k] = dual.edges[i, r, k] / visits
    return 0.0


@share.register(Counts)
def _(dual, problem, i, V, values, work):  # type: ignore[no-untyped-def]
    L, top = problem.starts[i + 1] - problem.starts[i], values[0]
    expected = expected_score(work.room.z, V, L, work.own.nodes, work.own.edges)
    return max(0.0, top - expected)


@uncertainty.register(Counts)
def _(dual, problem, i, V, room, work):  # type: ignore[no-untyped-def]
    return 4.0 * EPS


@write_own.register(Scored)
def _(dual, problem, i, work):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    own = work.own
    return write_marginals(
        dual.nodes[start:stop], dual.edges[i], stop - start, work.other, own.nodes, own.edges
    )


@share.register(Scored)
def _(dual, problem, i, V, values, work):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    own, L = work.own, stop - start
    theirs = values[0] - expected_score(work.room.z, V, L, own.nodes, own.edges)
    theta = dual.nodes[start:stop]
    ours = values[1] - expected_score(theta, dual.edges[i], L, own.nodes, own.edges)
    K = V.shape[1]
    size = _largest(theta, dual.edges[i], L) + L * (1.0 + math.log(K))
    room = 2.0 * EPS * operations(L, K, 0) * size
    room += total_error(_of_products(size, L, K), K) * (size + _largest(work.room.z, V, L))
    return max(0.0, theirs - ours) + room


@uncertainty.register(Scored)
def _(dual, problem, i, V, room, work):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    size = _largest(dual.nodes[start:stop], dual.edges[i], stop - start)
    return _of_products(size, stop - start, V.shape[1])


@write_own.register(OfModel)
def _(dual, problem, i, work):  # type: ignore[no-untyped-def]
    L, K = problem.starts[i + 1] - problem.starts[i], work.own.edges.shape[0]
    for t in range(L):
        for k in range(K):
            work.own.nodes[t, k] = work.response.nodes[t, k]
    for r in range(K):
        for k in range(K):
            work.own.edges[r, k] = work.response.edges[r, k]
    return 0.0


@share.register(OfModel)
def _(dual, problem, i, V, values, work):  # type: ignore[no-untyped-def]
    return 0.0


@uncertainty.register(OfModel)
def _(dual, problem, i, V, room, work):  # type: ignore[no-untyped-def]
    L = problem.starts[i + 1] - problem.starts[i]
    return 2.0 * room + _of_products(_largest(work.room.z, V, L), L, V.shape[1])


def combination(problem: Sequences, dual: Any, K: int) -> Model:
    """Return w(a) of a dual point that is not the model's own."""
    n, T, _, _ = sizes(problem)
    nodes, parts = np.empty((T, K)), portions(problem, K)
    edges = np.zeros((len(parts), K + 2, K))

    def work(p: int) -> None:
        write_differences(problem, parts[p], dual, make_work(problem, K), (nodes, edges[p]))

    each(work, range(len(parts)))
    return weights_of(problem, nodes, edges)


def portions(problem: Sequences, K: int) -> list[tuple[int, int]]:
    """Split the sequences in ranges that threads may take, the same for any number of threads."""
    n = len(problem.starts) - 1
    return ranges(n, max(1, min(-(-n // PARTS), stretches(problem, K))))


def weights_of(problem: Sequences, nodes: FloatArray, edges: FloatArray) -> Model:
    """Return w(a) from s_i (e_y - p_i): nodes (T, K), and edges of parts of the sequences."""
    _, _, d, _ = sizes(problem)
    K = nodes.shape[1]
    U, V = np.zeros((d, K)), edges.sum(axis=0)

    def add_up(columns: tuple[int, int]) -> None:
        own = np.zeros((d, columns[1] - columns[0]))
        add_tokens(problem.rows, np.ascontiguousarray(nodes[:, slice(*columns)]), own)
        U[:, slice(*columns)] = own

    each(add_up, ranges(K, LABELS_AT_ONCE))
    U /= problem.lam * problem.S
    V /= problem.lam * problem.S
    return Model(U, V)


@inlined
def write_difference(problem, i, own, nodes, edges):  # type: ignore[no-untyped-def]
    """Write s_i (e_y - p_i) into nodes and add it to edges; `own` is lost."""
    s, start, K = weight(problem.weights, i), problem.starts[i], nodes.shape[1]
    L = problem.starts[i + 1] - start
    subtract_labels(problem, i, own.nodes, own.edges)
    for k in range(K):
        for t in range(L):
            nodes[start + t, k] = -s * own.nodes[t, k]
        for r in range(K):
            edges[r, k] -= s * own.edges[r, k]
        edges[K, k] -= s * own.nodes[0, k]
        edges[K + 1, k] -= s * own.nodes[L - 1, k]


@compiled
def write_differences(problem, span, dual, work, out):  # type: ignore[no-untyped-def]
    """Write s_i (e_y - p_i) of the sequences of a range."""
    for i in range(span[0], span[1]):
        write_own(dual, problem, i, work)
        write_difference(problem, i, work.own, out[0], out[1])


@compiled
def add_tokens(rows, A, U):  # type: ignore[no-untyped-def]
    """Add sum_t A_t x_t to U, in place."""
    for t in range(len(A)):
        add(rows, t, A[t], U)
