"""Passes over scores for any smoothed loss, many rows at a time.

What moves rows adds nothing up, and what adds up stores nothing: loops then vectorise where the
functions of a loss have no jumps. Sums over rows are added up in another order than rows have, the
same for every number of threads.
"""

from __future__ import annotations

from pegasos.dispatch import inlined, reordering_sums
from pegasos.problem.losses import dual_step, gap_term, response, value


@inlined
def move_scores(loss, lines, smoothing, u, span):  # type: ignore[no-untyped-def]
    """Move scores Z to Z + u D and dual numbers A with them; leave the change of A in D.

    `lines` are y, Z, A and D, of shape (n,), `smoothing` are multipliers of that shape and the
    width, `span` the first row and the one after the last.
    """
    (first, last), (y, Z, A, D), (B, q) = span, lines, smoothing
    y, Z, A, D, B = y[first:last], Z[first:last], A[first:last], D[first:last], B[first:last]
    for i in range(len(Z)):
        z = Z[i] + u * D[i]
        c = dual_step(loss, z, B[i], q, y[i])
        Z[i], D[i], A[i] = z, c - A[i], c


@reordering_sums
def sums_at(loss, lines, weights, span):  # type: ignore[no-untyped-def]
    """Return the sums of s_i times gap term, value and a_i."""
    (y, Z, A, _), (s, mask), (first, last) = lines, weights, span
    y, Z, A, s = y[first:last], Z[first:last], A[first:last], s[first & mask :]
    gaps, values, balance = 0.0, 0.0, 0.0
    for i in range(len(Z)):
        gaps += s[i & mask] * gap_term(loss, Z[i], A[i], y[i])
        values += s[i & mask] * value(loss, Z[i], y[i])
        balance += s[i & mask] * A[i]
    return gaps, values, balance


@reordering_sums
def slopes_at(loss, lines, weights, smoothing, u, span):  # type: ignore[no-untyped-def]
    """Return the sums of -s_i a_i d_i and s_i h_i d_i^2 at the scores Z + u D."""
    (y, Z, D), (s, mask), (start, stop), (B, q), first, second = (
        lines, weights, span, smoothing, 0.0, 0.0
    )  # fmt: skip
    y, Z, D, B, s = y[start:stop], Z[start:stop], D[start:stop], B[start:stop], s[start & mask :]
    for i in range(len(Z)):
        d, z = D[i], Z[i] + u * D[i]
        c = dual_step(loss, z, B[i], q, y[i])
        first -= s[i & mask] * c * d
        second += s[i & mask] * response(loss, z, B[i], c, q, y[i]) * d * d
    return first, second
