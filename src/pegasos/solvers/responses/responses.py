"""Maintained responses: the rows of a kernel problem as a loop of single steps sees them.

    F[k, i] = sum_j V[j, k] K(x_j, x_i),      V the (unscaled) coefficients of an expansion

With the responses of all rows at hand a score is looked up, whatever the kernel. What costs is a
coefficient that moves: F then gains a multiple of one whole row of the kernel matrix, which must be
in the store. To the helpers of the linear solvers, `Responses` is a container of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, add, scores, square_norm
from pegasos.dispatch import compiled, inlined
from pegasos.kernel_matrix.geometry import combination
from pegasos.kernel_matrix.gram import Gram
from pegasos.parallel import ranges
from pegasos.problem.bias import balances, best_bias, clip, feasible, untouched
from pegasos.problem.gap import GAIN, GAP, add_gap
from pegasos.problem.objective import Problem, typical_length, weight
from pegasos.solvers.decomposition.decomposition import dual_numbers

VALUES_AT_ONCE = 4_000_000  # kernel values computed in one block, so that Ctrl-C is obeyed
# The constant feature around a free bias, in root mean square row lengths. Rows of a feature space
# share a mean that is not small; with the 0.3 of the linear solvers, Pegasos may crawl.
FREE_SCALE = 0.6


class Responses(NamedTuple):
    """Rows of a feature space; weights are coefficients, of shape (n, K).

    `add` changes coefficients alone; `respond` lets the responses F (K, n) follow. The others are
    arrays of a `Gram`; `clock` marks the rows that are used.
    """

    F: FloatArray
    store: Any
    slot_of: Any
    last_use: Any
    clock: int
    diagonal: FloatArray


def see(problem: Problem, F: FloatArray) -> Problem:
    """Return the problem as loops see it; valid until the store changes."""
    gram = problem.rows
    rows = Responses(F, gram.store, gram.slot_of, gram.last_use, gram.clock, gram.diagonal)
    return problem._replace(rows=rows)


@scores.register(Responses)
def _(rows, i, W, z):  # type: ignore[no-untyped-def]
    for k in range(len(z)):
        z[k] = rows.F[k, i]


@add.register(Responses)
def _(rows, i, c, W):  # type: ignore[no-untyped-def]
    for k in range(len(c)):
        W[i, k] += c[k]


@square_norm.register(Responses)
def _(rows, i):  # type: ignore[no-untyped-def]
    return max(0.0, rows.diagonal[i])  # below 0 only where the kernel is not semi-definite


@inlined
def respond(rows, i, k, c):  # type: ignore[no-untyped-def]
    """Add c K(x_i, .) to the responses of model k; row i must be in the store."""
    slot = rows.slot_of[i]
    rows.last_use[slot] = rows.clock
    row, F = rows.store[slot], rows.F[k]
    for j in range(len(F)):
        F[j] += c * row[j]


def write_responses(gram: Gram, V: FloatArray, F: FloatArray) -> None:
    """Write the responses of an expansion into F; as many of its rows as fit stay in the store."""
    used, Z = np.flatnonzero(V.any(axis=1)), np.zeros_like(V)
    for first, stop in ranges(len(used), max(1, min(gram.capacity, VALUES_AT_ONCE // gram.n))):
        some = used[first:stop]
        gram.add_held(some, V[some], Z)
    F[:] = Z.T


def constant_scale(problem: Problem) -> float:
    """Return the constant feature that the bias is the weight of; 0 without a bias.

    Adding it to every row adds its square to every kernel value. For a free bias it is a fraction
    of the length of a typical row.
    """
    if not problem.is_free:
        return problem.bias_scale
    return FREE_SCALE * typical_length(problem, np.maximum(0.0, problem.rows.diagonal))


def feasible_duals(problem: Problem, previous: Any) -> FloatArray:
    """Return the dual numbers of another run's expansion, clipped to what is feasible here."""
    A, scale, _ = dual_numbers(problem, previous.coefficients(problem))
    out = np.empty_like(A)
    write_clipped(problem.costs, A, scale, out)
    return out


def best_biases(problem: Problem, F: FloatArray, b: FloatArray) -> FloatArray:
    """Return the best free bias of every model, given its responses; `b` is where to look first."""
    Z = np.ascontiguousarray(F.T)
    return np.array([best_bias(problem, Z, k, float(b[k]), 1e-16) for k in range(len(b))])


def relative_gap(
    problem: Problem, A: FloatArray, scale: float, F: FloatArray, b: FloatArray
) -> float:
    """Return the largest relative gap of the models w(a), a = scale * A, with responses F.

    `b` holds the best biases if they are free. Balancing a then moves w(a) a little, which only a
    certificate can tell: this gap leaves out the square of that move.
    """
    K, beta = A.shape[1], np.zeros(A.shape[1])
    if problem.bias_scale > 0.0:
        beta = problem.bias_scale * scale * combination(problem, A).sum(axis=0)
        b = problem.bias_scale * beta
    best = np.full(K, np.inf)
    for balance in balances(problem, A, scale) if problem.is_free else [untouched(K, scale)]:
        sums, square = np.zeros((3, K)), np.zeros(K)
        add_sums(problem.costs, A, F, balance, b, sums, square)
        gap, gains = sums[GAP], sums[GAIN]
        dual = gains - 0.5 * (square + problem.lam * problem.S * beta**2)
        ratio = np.divide(gap, dual, out=np.full(K, np.inf), where=dual > 0.0)
        np.minimum(best, ratio, out=best)
    return float(best.max())


@compiled
def write_clipped(costs, A, scale, out):  # type: ignore[no-untyped-def]
    """Write the feasible dual numbers nearest to scale * A into `out`."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i, k] = clip(costs.loss, scale * A[i, k], costs.Y[i, k])


@compiled
def add_sums(costs, A, F, balance, b, sums, square):  # type: ignore[no-untyped-def]
    """Add the gaps of all rows to `sums`, and s_i a_i F_i, or lam S ||w||^2, to `square`."""
    for i in range(A.shape[0]):
        s = weight(costs.weights, i)
        for k in range(A.shape[1]):
            a = feasible(costs, A, i, k, balance)
            add_gap(costs, i, k, F[k, i] + b[k], a, sums)
            square[k] += s * a * F[k, i]
