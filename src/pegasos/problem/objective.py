"""The problem: P(w, b) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i> + b, y_i).

K problems that share rows and weights are solved side by side: `Y` is (n, K), weights W are (d, K).

The bias is one of
    none          b = 0
    regularized   b = bias_scale * beta, with lam/2 beta^2 added: a constant feature
    free          b unpenalised; the dual gains the constraint sum_i s_i a_i = 0
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from pegasos.data.centre import weight_count
from pegasos.data.rows import FloatArray, Rows, add, shape, square_norms, stored_values
from pegasos.dispatch import by_tag, compiled, inlined
from pegasos.parallel import each

Bias = Literal["none", "regularized", "free"]

# Values read by one call of a kernel: small enough (about 0.1 s) for Ctrl-C and a time limit.
VALUES_PER_CALL = 20_000_000
# For threads rows are split in the same way whatever the number of threads, so that sums are, too.
PARTS = 16  # at most so many, while none takes longer than a call may
VALUES_PER_PART = 100_000  # at least: less would not pay for handing it over
SUMS = 8  # places for sums over rows, at most
ROOM_FOR_SUMS = 8_000_000  # numbers that they may hold together


class Weights(NamedTuple):
    """Sample weights s_i; equal ones are stored once (`mask` 0), others in full (`mask` -1)."""

    values: FloatArray
    mask: int


class OwnWeights(NamedTuple):
    """Sample weights s_ik, (n, K), where every model k has rows of its own; 0 beyond them."""

    values: FloatArray
    mask: int = -1


class Costs(NamedTuple):
    """What rows cost given their scores; kernels that need no features take only this."""

    loss: Any
    Y: FloatArray
    weights: Any  # Weights; OwnWeights where nobody asks for the weight of a row alone


class Problem(NamedTuple):
    """What is minimised, as kernels see it."""

    costs: Costs
    rows: Any
    S: float
    lam: float
    bias_scale: float
    is_free: bool


def make_problem(
    loss: Any,
    rows: Rows,
    Y: FloatArray,
    sample_weight: FloatArray | None,
    lam: float,
    bias: Bias = "none",
    bias_scale: float = 1.0,
) -> Problem:
    """Assemble a problem from validated parts; `Y` is float64 of shape (n, K)."""
    n, _ = shape(rows)
    if sample_weight is None:
        weights, S = Weights(np.ones(1), 0), float(n)
    else:
        weights, S = Weights(sample_weight, -1), float(sample_weight.sum())
    scale = float(bias_scale) if bias == "regularized" else 0.0
    return Problem(Costs(loss, Y, weights), rows, S, float(lam), scale, bias == "free")


def row_square_norms(problem: Problem, out: FloatArray | None = None) -> FloatArray:
    """Return ||x_i||^2 of every row, in `out` if given."""
    squares = np.empty(shape(problem.rows)[0]) if out is None else out
    each(lambda part: square_norms(problem.rows, *part, squares), parts(problem.rows))
    return squares


def typical_length(problem: Problem, squares: FloatArray) -> float:
    """Return the root mean square length of the rows, weights counted; 1 if all are zero."""
    weights = problem.costs.weights
    total = np.einsum("i,i->", weights.values, squares) if weights.mask else squares.sum()
    return float(np.sqrt(total / problem.S)) or 1.0


def flat(W: FloatArray) -> FloatArray:
    """View (d, 1) weights as (d,), which kernels serve with one fused loop."""
    return W[:, 0] if W.shape[1] == 1 else W


def blocks(rows: Rows, values: int = VALUES_PER_CALL) -> list[tuple[int, int]]:
    """Split the rows into ranges short enough for one kernel call each."""
    n, _ = shape(rows)
    length = max(1, int(values * n / max(1, stored_values(rows), n)))
    return [(start, min(n, start + length)) for start in range(0, n, length)]


def parts(rows: Rows, K: int = 1) -> list[tuple[int, int]]:
    """Split the rows into ranges that threads may take, for work on K models."""
    values = max(stored_values(rows) // PARTS + 1, VALUES_PER_PART // K)
    return blocks(rows, min(values, VALUES_PER_CALL))


def combination(problem: Problem, A: FloatArray) -> FloatArray:
    """Return w(a) = 1/(lam S) sum_i s_i a_i x_i, as many rows as these rows' weights have."""
    W = weighted_sum(problem, A, weight_count(problem.rows))
    W /= problem.lam * problem.S
    return W


def weighted_sum(problem: Problem, A: FloatArray, height: int) -> FloatArray:
    """Return sum_i s_i a_i x_i, shape (height, K), added up in a fixed order."""
    rows, K = problem.rows, A.shape[1]
    places, pieces = sum_places(rows, height, K), parts(rows, K)
    sums = np.zeros((places, height, K))

    def work(p: int) -> None:
        for start, stop in pieces[p * len(pieces) // places : (p + 1) * len(pieces) // places]:
            add_combination(rows, problem.costs.weights, start, stop, A, flat(sums[p]))

    each(work, range(places))
    for other in sums[1:]:
        sums[0] += other
    return sums[0] if places == 1 else sums[0].copy()  # not to keep the others


def sum_places(rows: Rows, height: int, K: int) -> int:
    """Return how many places (height, K) a sum over rows is worth: filling them must be little."""
    per_place = max(VALUES_PER_PART // K, 64 * height * K)
    most = min(stored_values(rows) // per_place, ROOM_FOR_SUMS // max(1, height * K), SUMS)
    return max(1, most)


@inlined
def weight(weights, i):  # type: ignore[no-untyped-def]
    """Return s_i."""
    return weights.values[np.int64(i) & weights.mask]


@by_tag
def weight_of(weights: Any, i: int, k: int) -> Any:
    """Return s_i, or where every model has rows of its own s_ik."""


@weight_of.register(Weights)
def _(weights, i, k):  # type: ignore[no-untyped-def]
    return weights.values[np.int64(i) & weights.mask]


@weight_of.register(OwnWeights)
def _(weights, i, k):  # type: ignore[no-untyped-def]
    return weights.values[i, k]


def factors(weights: Any) -> Any:
    """Return what numbers of rows, (n, K), are multiplied by to weigh them."""
    if isinstance(weights, OwnWeights):
        return weights.values
    return weights.values[:, None] if weights.mask else weights.values[0]


@compiled
def add_combination(rows, weights, start, stop, A, W):  # type: ignore[no-untyped-def]
    """Add sum_i s_i a_i x_i over start <= i < stop to W, in place."""
    K = A.shape[1]
    c = np.empty(K)
    for i in range(start, stop):
        s, some = weight(weights, i), False
        for k in range(K):
            c[k] = s * A[i, k]
            some |= c[k] != 0.0
        if some:
            add(rows, i, c, W)
