"""One chain of labels: the best sequence, the sum over all, and what each label has of it.

A sequence y of length L over K labels has the score

    F(y) = sum_t z_t(y_t) + sum_t T(y_{t-1}, y_t)

with node scores z (L, K) and transition scores T (K, K); scores of the first and last label are
part of z. `best_path` finds max F, `write_marginals` log sum_y exp F(y) and, of the distribution
proportional to exp F, the probability of every label at every place (nodes) and the expected
number of times that each transition is taken (edges, summed over the places: all that w(a) needs).

Of equally good sequences the one is best that ends in the first label in the order of the classes,
then the one whose label before that is first, and so on backwards.

Probabilities are scaled to sum to 1 at each place. Where transitions differ by more than
SPAN, what underflows could matter, and logarithms are added instead.

[Rab89]  Rabiner. A tutorial on hidden Markov models. Proc. IEEE 77(2), 1989. Sec. III and V.A.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import apart, compiled, contracting, inlined
from pegasos.problem.exponential import exp_up_to_1

SPAN = 300.0  # between transitions: a label lost to underflow then has a probability below 1e-177


class Room(NamedTuple):
    """Where the work on one sequence is done; as long as the longest sequence."""

    z: FloatArray  # (L, K) node scores
    e: FloatArray  # (L, K) their exponentials
    a: FloatArray  # (L, K) forward
    b: FloatArray  # (2, K) backward, at a place and the one before
    c: FloatArray  # (L,) what the places were scaled by
    E: FloatArray  # (K, K) exponentials of transitions
    back: Any  # (L, K) label before, on the best way


def make_room(L: int, K: int) -> Room:
    """Make room for sequences up to length L; of zeros, so that equal runs have equal bits."""
    z, e, a = (np.zeros((L, K)) for _ in range(3))
    back = np.zeros((L, K), dtype=np.uint16)
    return Room(z, e, a, np.zeros((2, K)), np.zeros(L), np.zeros((K, K)), back)


@apart
def best_path(z, T, L, room, path):  # type: ignore[no-untyped-def]
    """Write the best sequence into path[:L]; return its score. `z` is left as it is."""
    K = T.shape[1]
    a, back = room.a, room.back
    for k in range(K):
        a[0, k] = z[0, k]
    for t in range(1, L):  # [Rab89] eq. (33a-b)
        for k in range(K):
            a[t, k] = a[t - 1, 0] + T[0, k]
            back[t, k] = 0
        for r in range(1, K):
            before = a[t - 1, r]
            for k in range(K):
                score = before + T[r, k]
                if score > a[t, k]:
                    a[t, k], back[t, k] = score, r
        for k in range(K):
            a[t, k] += z[t, k]
    last = 0
    for k in range(1, K):
        if a[L - 1, k] > a[L - 1, last]:
            last = k
    best = a[L - 1, last]
    path[L - 1] = last
    for t in range(L - 1, 0, -1):  # [Rab89] eq. (35)
        last = back[t, last]
        path[t - 1] = last
    return best


@inlined
def path_score(z, T, L, path):  # type: ignore[no-untyped-def]
    """Return F(path)."""
    score = z[0, path[0]]
    for t in range(1, L):
        score += z[t, path[t]] + T[path[t - 1], path[t]]
    return score


@inlined
def add_path(path, L, c, nodes, edges):  # type: ignore[no-untyped-def]
    """Add c to the nodes and edges of a sequence, in place."""
    nodes[0, path[0]] += c
    for t in range(1, L):
        nodes[t, path[t]] += c
        edges[path[t - 1], path[t]] += c


@apart
def expected_score(z, T, L, nodes, edges):  # type: ignore[no-untyped-def]
    """Return the expected score of a distribution with these nodes and edges."""
    total = 0.0
    for t in range(L):  # row by row, so that rounding grows with L + K, not with L K
        of_place = 0.0
        for k in range(T.shape[1]):
            of_place += nodes[t, k] * z[t, k]
        total += of_place
    for r in range(T.shape[1]):
        of_label = 0.0
        for k in range(T.shape[1]):
            of_label += edges[r, k] * T[r, k]
        total += of_label
    return total


@apart
def write_marginals(z, T, L, room, nodes, edges):  # type: ignore[no-untyped-def]
    """Write nodes[:L] and edges of the distribution exp(F) / Z; return log Z."""
    low, high = T[0, 0], T[0, 0]
    K = T.shape[1]
    for r in range(K):
        for k in range(K):
            low, high = min(low, T[r, k]), max(high, T[r, k])
            edges[r, k] = 0.0
    if high - low > SPAN:
        return _marginals_by_logarithms(z, T, L, room, nodes, edges)
    for r in range(K):
        for k in range(K):
            room.E[r, k] = exp_up_to_1(T[r, k] - high)
    log_sum = _forward(z, L, room) + high * (L - 1)
    _backward(L, room, nodes, edges)
    return log_sum


@inlined
def _exponentials(z, t, e):  # type: ignore[no-untyped-def]
    """Write exp(z_t - max z_t); return max z_t."""
    top = z[t, 0]
    for k in range(1, e.shape[1]):
        top = max(top, z[t, k])
    for k in range(e.shape[1]):
        e[t, k] = exp_up_to_1(z[t, k] - top)
    return top


@contracting
def _forward(z, L, room):  # type: ignore[no-untyped-def]
    """Write scaled forward probabilities, [Rab89] eq. (91-92); return log Z but for transitions."""
    e, a, c, E = room.e, room.a, room.c, room.E
    K = E.shape[1]
    log_sum = 0.0
    for t in range(L):
        log_sum += _exponentials(z, t, e)
        for k in range(K):
            a[t, k] = 1.0 if t == 0 else 0.0
        if t > 0:
            for r in range(K):
                before = a[t - 1, r]
                for k in range(K):
                    a[t, k] += before * E[r, k]
        total = 0.0
        for k in range(K):
            a[t, k] *= e[t, k]
            total += a[t, k]
        for k in range(K):
            a[t, k] /= total
        c[t] = total
        log_sum += math.log(total)
    return log_sum


@contracting
def _backward(L, room, nodes, edges):  # type: ignore[no-untyped-def]
    """Write nodes and edges from scaled forward and backward probabilities."""
    e, a, b, c, E = room.e, room.a, room.b, room.c, room.E
    K = E.shape[1]
    for k in range(K):
        b[0, k] = 1.0
        nodes[L - 1, k] = a[L - 1, k]
    for t in range(L - 1, 0, -1):
        for k in range(K):
            b[1, k] = e[t, k] * b[0, k] / c[t]
        for r in range(K):
            before, total = a[t - 1, r], 0.0
            for k in range(K):
                onward = E[r, k] * b[1, k]
                edges[r, k] += before * onward
                total += onward
            b[0, r] = total
            nodes[t - 1, r] = before * total


@apart
def _marginals_by_logarithms(z, T, L, room, nodes, edges):  # type: ignore[no-untyped-def]
    """Do what `write_marginals` does, however far apart the transitions are.

    Of scores so large that they are off by more than 1, marginals are at least not above 1.
    """
    a, b, K = room.a, room.b, T.shape[1]
    for k in range(K):
        a[0, k] = z[0, k]
    for t in range(1, L):
        for k in range(K):
            top = -np.inf
            for r in range(K):
                top = max(top, a[t - 1, r] + T[r, k])
            total = 0.0
            for r in range(K):
                total += math.exp(a[t - 1, r] + T[r, k] - top)
            a[t, k] = z[t, k] + top + math.log(total)
    top, total = -np.inf, 0.0
    for k in range(K):
        top = max(top, a[L - 1, k])
        b[0, k] = 0.0
    for k in range(K):
        total += math.exp(a[L - 1, k] - top)
    log_sum = top + math.log(total)
    for t in range(L - 1, -1, -1):
        for k in range(K):
            nodes[t, k] = exp_up_to_1(a[t, k] + b[0, k] - log_sum)
        if t > 0:
            _step_back(z, T, t, room, log_sum, edges)
    return log_sum


@inlined
def _step_back(z, T, t, room, log_sum, edges):  # type: ignore[no-untyped-def]
    """Add the edges into place t; replace b, the logarithm of what follows t, by that of t - 1."""
    a, b, K = room.a, room.b, T.shape[1]
    for r in range(K):
        top, total = -np.inf, 0.0
        for k in range(K):
            onward = T[r, k] + z[t, k] + b[0, k]
            top = max(top, onward)
            edges[r, k] += exp_up_to_1(a[t - 1, r] + onward - log_sum)
        for k in range(K):
            total += math.exp(T[r, k] + z[t, k] + b[0, k] - top)
        b[1, r] = top + math.log(total)
    for k in range(K):
        b[0, k] = b[1, k]


@compiled
def decode(z, T, room, path):  # type: ignore[no-untyped-def]
    """Write the best sequence of one chain; return its score."""
    return best_path(z, T, len(z), room, path)


@compiled
def marginals(z, T, room, nodes, edges):  # type: ignore[no-untyped-def]
    """Write the marginals of one chain; return log Z."""
    return write_marginals(z, T, len(z), room, nodes, edges)


@compiled
def write_best_scores(z, T, room, out):  # type: ignore[no-untyped-def]
    """Write into out[t, k] the score of the best sequence that has label k at place t."""
    L, K = z.shape
    best_path(z, T, L, room, np.empty(L, dtype=np.uint16))
    b = room.b
    for k in range(K):
        b[0, k] = 0.0
        out[L - 1, k] = room.a[L - 1, k]
    for t in range(L - 1, 0, -1):
        for r in range(K):
            b[1, r] = -np.inf
            for k in range(K):
                b[1, r] = max(b[1, r], T[r, k] + z[t, k] + b[0, k])
        for r in range(K):
            b[0, r] = b[1, r]
            out[t - 1, r] = room.a[t - 1, r] + b[0, r]
