"""Newton's equations of a joint loss where few rows answer: as many unknowns as pairs of classes.

In a row that answers, let l be the class of the largest t, and a any other that answers. With
f = (e_a - e_l) (x) x~_i for each such pair, one column of F, the Hessian is

    H = L + F C F',     C^-1 = S (diag(1/t_a) + 1 1' / t_l) for the pairs of a row,

L the diagonal of penalty and damping. Hence

    (C^-1 + F' L^-1 F) y = F' L^-1 g,     P = L^-1 (g - F y),     g = -G.

A bias has next to nothing in L: it is found with y, by K more equations. The penalty of a
regularised one is e e' for every class, as if a row e answered with that class alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, inlined, reordering_sums
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, standardised
from pegasos.solvers.newton.equations import Terms, lacking_of, solved

FEW = 0.7  # pairs, of the unknowns of H: with more, H itself is as quick
STEEP = 1e10  # of C^-1, in F' L^-1 F: with more, rounding is for H to bear
NOBODY = -1  # the other class of a pair that has none


class Pairs(NamedTuple):
    """Rows X (m, d + 1) with classes a and l of the pairs: row, first, second, each (R,)."""

    X: FloatArray
    row: Any
    first: Any
    second: Any

    def differences(self, V: FloatArray) -> FloatArray:
        """Return v_a - v_l of the pairs, given V (m, K) of the rows."""
        found = V[self.row, self.first]
        return found - np.where(self.second == NOBODY, 0.0, V[self.row, self.second])

    def of_bias(self, K: int) -> FloatArray:
        """Return what the rows of F for the biases are, turned: (R, K)."""
        c, each = self.X[self.row, -1], np.arange(K)
        own = (self.first[:, None] == each).astype(float)
        return c[:, None] * (own - (self.second[:, None] == each))

    def sums(self, y: FloatArray, K: int) -> FloatArray:
        """Return the sums (m, K) of y over the pairs of a row: it counts for a, and against l."""
        U = np.zeros((len(self.X), K))
        add_both(self.row, self.first, self.second, y, U)
        return U


def direction_of_pairs(
    problem: Problem,
    columns: Columns,
    terms: Terms,
    T: FloatArray,
    chosen: Any,
    G: FloatArray,
    size: int,
    damping: float,
) -> FloatArray | None:
    """Solve H P = -G, shape (size, K), for curvatures T (n, K) whose `chosen` rows answer.

    None if rounding might decide.
    """
    (D, K), d, t = G.shape, len(columns.m), T[chosen]
    e = np.zeros(D)
    if terms.bias_scale > 0.0:  # as in `add_penalty`
        e = np.append(-columns.m / columns.scale, 1.0) * np.sqrt(terms.lam) / terms.bias_scale
    X = np.empty((len(chosen) + 1, D))
    standardised(problem.rows, chosen, columns, np.ones(len(T)), X)
    X[-1] = e
    penalty = np.append(terms.lam / columns.scale**2, 0.0)
    own = t * (1.0 - t / t.sum(axis=1, keepdims=True)) / terms.S
    diagonal = (X[:-1] ** 2).T @ own + (penalty + e**2)[:, None]
    lacking = lacking_of(terms, columns, diagonal, G)
    L = penalty[:d, None] + lacking[:d] + damping
    pairs, M = pairs_of(X, t, terms.S, has_penalty=terms.bias_scale > 0.0)
    least = M.diagonal().min()
    add_grams(*pairs, 1.0 / np.sqrt(L.T), M)
    if not (least > 0.0 and M.diagonal().max() <= STEEP * least):
        return None
    R = np.empty((len(M), 1 + K), order="F")
    R[:, 0] = pairs.differences(X[:, :d] @ (-G[:d] / L))
    R[:, 1:] = pairs.of_bias(K)
    _, Y, info = dposv(M.T, R, lower=1, overwrite_a=1)
    if info != 0:
        return None
    y, c = Y[:, 0], np.zeros((0, K))
    if size > d:
        B = R[:, 1:].T @ Y
        H = B[:, 1:] + diagonal[d].mean() / K  # as in `joint_direction`
        c = solved(H, -G[d] - B[:, 0], lacking[d], damping)[None]
        y = y + Y[:, 1:] @ c[0]
    P = np.vstack([(-G[:d] - X[:, :d].T @ pairs.sums(y, K)) / L, c])
    return P - P.mean(axis=1, keepdims=True) if np.isfinite(P).all() else None


def pairs_of(X: FloatArray, t: FloatArray, S: float, *, has_penalty: bool) -> tuple[Pairs, Any]:
    """Return the pairs of rows X with curvatures t, and C^-1 in the lower triangle of M.T.

    The last of X is the penalty's, which has one pair per class, or none.
    """
    (m, K), answers = t.shape, np.count_nonzero(t, axis=1)
    R = int(np.sum(answers - 1)) + K * has_penalty
    pairs, M = Pairs(X, *np.empty((3, R), dtype=np.int64)), np.zeros((R, R))
    write_pairs(t, S, *pairs[1:], M)
    if has_penalty:
        own = np.arange(R - K, R)
        pairs.row[own], pairs.first[own], pairs.second[own] = m, np.arange(K), NOBODY
        M[own, own] = 1.0
    return pairs, M


@compiled
def write_pairs(t, S, row, first, second, M):  # type: ignore[no-untyped-def]
    """Write rows and classes of the pairs of all rows, and C^-1."""
    p = 0
    for i in range(t.shape[0]):
        last, start = largest_that_answers(t[i]), p
        for k in range(t.shape[1]):
            if t[i, k] != 0.0 and k != last:
                row[p], first[p], second[p] = i, k, last
                for q in range(start, p + 1):
                    M[q, p] = S / t[i, last]
                M[p, p] += S / t[i, k]
                p += 1


@inlined
def largest_that_answers(t):  # type: ignore[no-untyped-def]
    """Return the class of the largest number that is not 0."""
    last = -1
    for k in range(len(t)):
        if t[k] != 0.0 and (last < 0 or t[k] > t[last]):
            last = k
    return last


@compiled
def add_grams(X, row, first, second, roots, M):  # type: ignore[no-untyped-def]
    """Add F' L^-1 F, less what the biases have of it, to the lower triangle of M.T.

    `roots` (K, d) are those of L^-1. Only pairs with a class in common have a product.
    """
    K, d = roots.shape
    Z, own = np.empty((len(row), d)), np.empty(len(row), dtype=np.int64)
    for k in range(K):
        count = 0
        for p in range(len(row)):
            if first[p] == k or second[p] == k:
                c = 1.0 if first[p] == k else -1.0
                for j in range(d):
                    Z[count, j] = c * roots[k, j] * X[row[p], j]
                own[count] = p
                count += 1
        for p in range(count):
            for q in range(p + 1):
                M[own[q], own[p]] += dot(Z[p], Z[q])


@reordering_sums
def dot(x, z):  # type: ignore[no-untyped-def]
    """Return <x, z>."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * z[j]
    return total


@compiled
def add_both(row, first, second, y, U):  # type: ignore[no-untyped-def]
    """Add every y to U at its row and first class, subtract it at the second, if any."""
    for p in range(len(y)):
        U[row[p], first[p]] += y[p]
        if second[p] >= 0:
            U[row[p], second[p]] -= y[p]
