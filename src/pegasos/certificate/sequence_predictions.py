"""Certified labels: which tokens have at the optimum the label that they have now.

P is lam-strongly convex: the optimum w* is within a radius R of w (`Evaluation.radius`). Let y be
the best labels at w. Other labels r get ahead at w* only if

    <w, phi(y) - phi(r)>  <=  R ||phi(y) - phi(r)||

and the norm is no more than what the places where they differ have one by one: sqrt 2 ||x_t|| for a
token, sqrt 2 for a transition, a first and a last label. With R times that on top of every score
that is not of y, the best labels that differ from y at a token are found as ever, forwards and
backwards; the token's label is certain if even they stay behind, by more than rounding.

All labels of a sequence are certain if, and only if, no other sequence of labels can get ahead.
"""

from __future__ import annotations

import math

import numpy as np

from pegasos.certificate.sequences import rounding
from pegasos.data.rows import square_norm
from pegasos.dispatch import compiled, inlined
from pegasos.problem.chain import best_path, path_score
from pegasos.problem.sequence_duals import EPS, operations
from pegasos.problem.sequences import write_scores

ROOT = math.sqrt(2.0) * (1.0 + 4.0 * EPS)


@inlined
def _write_advantage(problem, i, radius, c):  # type: ignore[no-untyped-def]
    """Write into c[t] what another label at token t may gain; return the sum, transitions too."""
    start, L = problem.starts[i], problem.starts[i + 1] - problem.starts[i]
    total = 0.0
    for t in range(L):
        ends = (1.0 if t == 0 else 0.0) + (1.0 if t == L - 1 else 0.0)
        norm = (1.0 + 1e-9) * math.sqrt(square_norm(problem.rows, start + t))
        c[t] = radius * ROOT * (norm + ends)
        total += c[t] + radius * ROOT
    return total


@inlined
def _onward(V, r, k, z, extra, is_own):  # type: ignore[no-untyped-def]
    """Return the score of going from label r to k, with what other labels may gain."""
    return V[r, k] + z[k] + (0.0 if is_own else extra)


@compiled
def write_leads(z, V, path, c, edge, room, out):  # type: ignore[no-untyped-def]
    """Write by how much `path` stays ahead of the best labels that differ from it at each token.

    Other labels have c[t] on top at token t, other transitions `edge`.
    """
    L, K, a, b = len(out), z.shape[1], room.a, room.b
    for t in range(L):
        for k in range(K):
            z[t, k] += 0.0 if k == path[t] else c[t]
    for k in range(K):
        a[0, k], b[0, k] = z[0, k], 0.0
    for t in range(1, L):
        for k in range(K):
            a[t, k] = -np.inf
            for r in range(K):
                is_own = r == path[t - 1] and k == path[t]
                a[t, k] = max(a[t, k], a[t - 1, r] + _onward(V, r, k, z[t], edge, is_own))
    own = path_score(z, V, L, path)
    for t in range(L - 1, -1, -1):
        best = -np.inf
        for k in range(K):
            if k != path[t]:
                best = max(best, a[t, k] + b[0, k])
        out[t] = own - best
        for r in range(K):
            b[1, r] = -np.inf
            for k in range(K if t > 0 else 0):
                is_own = r == path[t - 1] and k == path[t]
                b[1, r] = max(b[1, r], b[0, k] + _onward(V, r, k, z[t], edge, is_own))
        for r in range(K):
            b[0, r] = b[1, r]


@compiled
def write_certain(problem, span, model, radius, work, out):  # type: ignore[no-untyped-def]
    """Write whether labels are certain, for the tokens of a range of sequences."""
    K, beside = model.U.shape[1], 1.0
    for r in range(K + 2):
        for k in range(K):
            beside = max(beside, 1.0 + abs(model.V[r, k]))
    for i in range(span[0], span[1]):
        start, stop = problem.starts[i], problem.starts[i + 1]
        z, path, c = work.room.z, work.response.path, work.room.c
        values = 0
        for t in range(start, stop):
            values = max(values, problem.rows.indptr[t + 1] - problem.rows.indptr[t])
        gains = _write_advantage(problem, i, radius, c)
        margin = 2.0 * rounding(problem, i, model.U, beside, work.other)
        margin += 4.0 * EPS * operations(stop - start, K, values) * gains
        write_scores(problem, i, model, z)
        best_path(z, model.V, stop - start, work.room, path)
        leads = work.other.c[: stop - start]
        write_leads(z, model.V, path, c, radius * ROOT, work.room, leads)
        for t in range(start, stop):
            out[t] = leads[t - start] > margin
