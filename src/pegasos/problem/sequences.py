"""The problem of labelling sequences: P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss_i(w).

The score of labels y for a sequence x of L tokens is

    F(x, y) = sum_t <U_{y_t}, x_t> + sum_t V(y_{t-1}, y_t) + first(y_1) + last(y_L)

with emissions U (d, K) and, in one array V (K + 2, K), transitions, then the scores of the first
and of the last label. All of them are penalised. The losses are

    hinge       max_r  cost(y, r) + F(x, r) - F(x, y),     cost(y, r) = sum_t cost(y_t, r_t)
    logistic    log sum_r exp(F(x, r) - F(x, y))

A dual point is a distribution p_i over the label sequences of each i, known by its marginals:
w(a) = 1/(lam S) sum_i s_i (phi(x_i, y_i) - E_p phi(x_i, y)).

[TGK03]  Taskar, Guestrin, Koller. Max-margin Markov networks. NIPS 2003.
[LMP01]  Lafferty, McCallum, Pereira. Conditional random fields. ICML 2001.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, scores, shape, stored_values
from pegasos.dispatch import apart, by_tag, compiled, inlined
from pegasos.problem.chain import (
    Room,
    add_path,
    best_path,
    make_room,
    path_score,
    write_best_scores,
    write_marginals,
)
from pegasos.problem.objective import VALUES_PER_CALL, Weights


class SequenceHinge(NamedTuple):
    """The structured hinge; `cost` (K, K) has the true label first and a diagonal of 0."""

    cost: FloatArray


class SequenceLogistic(NamedTuple):
    """The log-loss of a conditional random field."""


class Model(NamedTuple):
    """Weights: emissions U (d, K); transitions, first and last label V (K + 2, K)."""

    U: FloatArray
    V: FloatArray


class Features(NamedTuple):
    """The features that occur in each sequence, each once, and where a stored value finds its own.

    Those of sequence i are names[starts[i] : starts[i + 1]]; value p of its rows belongs to the
    one at places[p].
    """

    names: Any
    starts: Any
    places: Any


class Sequences(NamedTuple):
    """What is minimised, as kernels see it; sequence i has tokens starts[i] to starts[i + 1]."""

    loss: Any
    rows: CsrRows
    starts: Any
    labels: Any
    weights: Weights
    features: Features
    S: float
    lam: float


EQUAL = Weights(np.ones(1), 0)


def make_sequences(
    loss: Any, rows: CsrRows, starts: Any, labels: Any, sample_weight: FloatArray | None, lam: float
) -> Sequences:
    """Assemble a problem from validated parts."""
    n = len(starts) - 1
    if sample_weight is None:
        weights, S = EQUAL, float(n)
    else:
        weights, S = Weights(sample_weight, -1), float(sample_weight.sum())
    return Sequences(loss, rows, starts, labels, weights, features_of(rows, starts), S, float(lam))


def features_of(rows: CsrRows, starts: Any) -> Features:
    """Find the features of each sequence."""
    counts = np.zeros(len(starts), dtype=np.int64)
    places = np.empty(len(rows.data), dtype=np.uint32)
    number = np.full(rows.width, -1, dtype=np.int64)
    names = np.empty(len(rows.data), dtype=np.uint32)
    size = _number_features(rows.indices, rows.indptr, starts, number, (names, counts, places))
    return Features(names[:size].copy(), counts, places)


@compiled
def _number_features(indices, indptr, starts, number, out):  # type: ignore[no-untyped-def]
    """Give the features of each sequence numbers as they occur; `number` is -1 to begin with."""
    names, ends, places = out
    size = 0
    for i in range(len(starts) - 1):
        begin = size
        for p in range(indptr[starts[i]], indptr[starts[i + 1]]):
            j = indices[p]
            if number[j] < begin:
                number[j] = size
                names[size] = j
                size += 1
            places[p] = number[j] - begin
        ends[i + 1] = size
    return size


def sizes(problem: Sequences) -> tuple[int, int, int, int]:
    """Return the numbers of sequences, tokens, features and the length of the longest sequence."""
    T, d = shape(problem.rows)
    return len(problem.starts) - 1, T, d, int(np.diff(problem.starts).max())


def most_features(problem: Sequences) -> int:
    """Return the largest number of features that a sequence has."""
    return int(np.diff(problem.features.starts).max())


def stretches(problem: Sequences, K: int, values: int = VALUES_PER_CALL) -> int:
    """Return how many sequences one call of a kernel may visit."""
    n, T, _, _ = sizes(problem)
    work = (stored_values(problem.rows) + T * K) * K
    return max(1, int(values * n / work))


@apart
def write_scores(problem, i, model, z):  # type: ignore[no-untyped-def]
    """Write the node scores of sequence i, those of its first and last label included."""
    start, stop = problem.starts[i], problem.starts[i + 1]
    K = z.shape[1]
    for t in range(start, stop):
        scores(problem.rows, t, model.U, z[t - start])
    for k in range(K):
        z[0, k] += model.V[K, k]
        z[stop - start - 1, k] += model.V[K + 1, k]


@inlined
def add_costs(loss, labels, start, L, z):  # type: ignore[no-untyped-def]
    """Add the cost of every label to its node score."""
    for t in range(L):
        for k in range(z.shape[1]):
            z[t, k] += loss.cost[labels[start + t], k]


@by_tag
def respond(loss: Any, problem: Any, i: int, V: Any, room: Any, out: Any) -> float:
    """Find the p that the loss of sequence i has at node scores room.z; return the value there.

    That is the largest score, costs included, or log Z: the loss and the score of the true labels
    together. The marginals of p are written into `out`, for the hinge its one sequence as well, and
    costs are added to room.z.
    """


@respond.register(SequenceHinge)
def _(loss, problem, i, V, room, out):  # type: ignore[no-untyped-def]
    start, L = problem.starts[i], problem.starts[i + 1] - problem.starts[i]
    add_costs(loss, problem.labels, start, L, room.z)
    top = best_path(room.z, V, L, room, out.path)
    for t in range(L):
        for k in range(out.nodes.shape[1]):
            out.nodes[t, k] = 0.0
    for r in range(out.edges.shape[0]):
        for k in range(out.edges.shape[1]):
            out.edges[r, k] = 0.0
    add_path(out.path, L, 1.0, out.nodes, out.edges)
    return top


@respond.register(SequenceLogistic)
def _(loss, problem, i, V, room, out):  # type: ignore[no-untyped-def]
    L = problem.starts[i + 1] - problem.starts[i]
    return write_marginals(room.z, V, L, room, out.nodes, out.edges)


@inlined
def loss_value(problem, i, V, top, room):  # type: ignore[no-untyped-def]
    """Return the loss of sequence i, given what `respond` returned."""
    start, stop = problem.starts[i], problem.starts[i + 1]
    return max(0.0, top - path_score(room.z, V, stop - start, problem.labels[start:stop]))


class Response(NamedTuple):
    """Marginals of a sequence, as long as the longest; `path` is the sequence of a hinge."""

    nodes: FloatArray
    edges: FloatArray
    path: Any


def make_response(L: int, K: int) -> Response:
    """Make room for the marginals of sequences up to length L."""
    return Response(np.zeros((L, K)), np.zeros((K, K)), np.zeros(L, dtype=np.uint16))


class Work(NamedTuple):
    """Where the work on one sequence is done: two rooms, what the loss responds, and p_i."""

    room: Room
    other: Room
    response: Response
    own: Response


def make_work(problem: Sequences, K: int) -> Work:
    """Make room for work on any one sequence."""
    _, _, _, L = sizes(problem)
    return Work(make_room(L, K), make_room(L, K), make_response(L, K), make_response(L, K))


class Block(NamedTuple):
    """A change of the weights by one sequence: of its features M and of V."""

    M: FloatArray
    V: FloatArray


def make_block(problem: Sequences, K: int) -> Block:
    """Make room for the change that a sequence makes."""
    return Block(np.zeros((most_features(problem), K)), np.zeros((K + 2, K)))


@inlined
def _gather(problem, i, nodes, M):  # type: ignore[no-untyped-def]
    """Write sum_t x_t nodes_t into the rows of M, one per feature; return how many there are."""
    rows, features, start = problem.rows, problem.features, problem.starts[i]
    size, K = features.starts[i + 1] - features.starts[i], M.shape[1]
    for j in range(size):
        for k in range(K):
            M[j, k] = 0.0
    for t in range(start, problem.starts[i + 1]):
        for p in range(rows.indptr[t], rows.indptr[t + 1]):
            x, j = rows.data[p], features.places[p]
            for k in range(K):
                M[j, k] += x * nodes[t - start, k]
    return size


@apart
def write_block(problem, i, nodes, edges, block):  # type: ignore[no-untyped-def]
    """Write E phi of these marginals (or differences of such); return its squared norm."""
    M, V, K = block.M, block.V, edges.shape[0]
    last = problem.starts[i + 1] - problem.starts[i] - 1
    size = _gather(problem, i, nodes, M)
    square = 0.0
    for j in range(size):
        for k in range(K):
            square += M[j, k] * M[j, k]
    for k in range(K):
        for r in range(K):
            V[r, k] = edges[r, k]
        V[K, k], V[K + 1, k] = nodes[0, k], nodes[last, k]
        for r in range(K + 2):
            square += V[r, k] * V[r, k]
    return square


@apart
def add_block(problem, i, c, block, model):  # type: ignore[no-untyped-def]
    """Add c times a block of sequence i to the weights, in place."""
    K, names, first = block.V.shape[1], problem.features.names, problem.features.starts[i]
    for j in range(problem.features.starts[i + 1] - first):
        f = names[first + j]
        for k in range(K):
            model.U[f, k] += c * block.M[j, k]
    for r in range(K + 2):
        for k in range(K):
            model.V[r, k] += c * block.V[r, k]


@inlined
def subtract_labels(problem, i, nodes, edges):  # type: ignore[no-untyped-def]
    """Subtract the marginals of the true labels of sequence i, in place."""
    start, L = problem.starts[i], problem.starts[i + 1] - problem.starts[i]
    add_path(problem.labels[start : start + L], L, -1.0, nodes, edges)


def square_norm(model: Model) -> float:
    """Return ||w||^2, summed row by row, then pairwise: rounding grows with K, hardly with d."""
    return sum(float(np.einsum("jk,jk->j", part, part).sum()) for part in model)


def unlabelled(rows: CsrRows, starts: Any) -> Sequences:
    """Return sequences to be labelled: kernels see them as they see those of training."""
    labels, none = np.zeros(int(starts[-1]), dtype=np.uint16), np.empty(0, dtype=np.uint32)
    features = Features(none, np.zeros(len(starts), dtype=np.int64), none)
    return Sequences(SequenceLogistic(), rows, starts, labels, EQUAL, features, 1.0, 1.0)


@compiled
def write_paths(problem, span, model, work, out):  # type: ignore[no-untyped-def]
    """Write the best labels of the tokens of a range of sequences into `out` (T,)."""
    for i in range(span[0], span[1]):
        start, stop = problem.starts[i], problem.starts[i + 1]
        write_scores(problem, i, model, work.room.z)
        best_path(work.room.z, model.V, stop - start, work.room, out[start:stop])


@compiled
def write_label_scores(problem, span, model, work, out):  # type: ignore[no-untyped-def]
    """Write into out[t, k] the score of the best labels that have k at token t."""
    for i in range(span[0], span[1]):
        start, stop = problem.starts[i], problem.starts[i + 1]
        write_scores(problem, i, model, work.room.z)
        write_best_scores(work.room.z[: stop - start], model.V, work.room, out[start:stop])


@compiled
def write_probabilities(problem, span, model, work, out):  # type: ignore[no-untyped-def]
    """Write into out[t, k] the probability of label k at token t."""
    for i in range(span[0], span[1]):
        start, stop = problem.starts[i], problem.starts[i + 1]
        write_scores(problem, i, model, work.room.z)
        nodes, edges = out[start:stop], work.own.edges
        write_marginals(work.room.z, model.V, stop - start, work.room, nodes, edges)
