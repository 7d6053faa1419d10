"""Passes over scores for the logistic loss itself, many rows at a time.

With e = exp(-|y z|), which one exponential gives (`exponential`), a row has

    value = max(0, -y z) + log(1 + e),    y a = 1 / (1 + e) or e / (1 + e),    h = e / (1 + e)^2

Sums over rows are added up in another order than rows have, the same for every number of threads.
"""

from __future__ import annotations

from pegasos.dispatch import inlined, reordering_sums
from pegasos.problem.exponential import exp_up_to_1
from pegasos.problem.logarithm import log_1_plus, quotient


@inlined
def move_scores(lines, u, span):  # type: ignore[no-untyped-def]
    """Move scores Z to Z + u D and dual numbers A with them; leave the change of A in D.

    `lines` are y, Z, A and D, of shape (n,); `span` are the first row and the one after the last.
    """
    first, last = span
    y, Z, A, D = lines
    y, Z, A, D = y[first:last], Z[first:last], A[first:last], D[first:last]
    for i in range(len(Z)):
        z = Z[i] + u * D[i]
        e = exp_up_to_1(-abs(z))
        c = y[i] * quotient(e if y[i] * z >= 0.0 else 1.0, 1.0 + e)
        Z[i], D[i], A[i] = z, c - A[i], c


@reordering_sums
def sums_at(lines, weights, span):  # type: ignore[no-untyped-def]
    """Return the sums of s_i value and s_i a_i: without stores, weights do not keep it scalar."""
    (y, Z, A, _), (s, mask), (first, last), values, balance = lines, weights, span, 0.0, 0.0
    y, Z, A, s = y[first:last], Z[first:last], A[first:last], s[first & mask :]
    for i in range(len(Z)):
        m = y[i] * Z[i]
        values += s[i & mask] * ((0.0 if m >= 0.0 else -m) + log_1_plus(exp_up_to_1(-abs(m))))
        balance += s[i & mask] * A[i]
    return values, balance


@reordering_sums
def slopes_at(lines, weights, u, span):  # type: ignore[no-untyped-def]
    """Return the sums of -s_i a_i d_i and s_i h_i d_i^2 at the scores Z + u D."""
    (y, Z, D), (s, mask), (start, stop), first, second = lines, weights, span, 0.0, 0.0
    y, Z, D, s = y[start:stop], Z[start:stop], D[start:stop], s[start & mask :]
    for i in range(len(Z)):
        d, m = D[i], y[i] * (Z[i] + u * D[i])
        e = exp_up_to_1(-abs(m))
        r = quotient(1.0, 1.0 + e)
        first -= s[i & mask] * y[i] * d * (r * e if m >= 0.0 else r)
        second += s[i & mask] * (e * r * r) * d * d
    return first, second
