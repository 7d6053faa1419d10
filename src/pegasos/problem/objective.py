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
from pegasos.dispatch import compiled, inlined

Bias = Literal["none", "regularized", "free"]

# Values read by one call of a kernel: small enough (about 0.1 s) for Ctrl-C and a time limit.
VALUES_PER_CALL = 20_000_000


class Weights(NamedTuple):
    """Sample weights s_i; equal ones are stored once (`mask` 0), others in full (`mask` -1)."""

    values: FloatArray
    mask: int


class Costs(NamedTuple):
    """What rows cost given their scores; kernels that need no features take only this."""

    loss: Any
    Y: FloatArray
    weights: Weights


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
    for start, stop in blocks(problem.rows):
        square_norms(problem.rows, start, stop, squares)
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


def combination(problem: Problem, A: FloatArray) -> FloatArray:
    """Return w(a) = 1/(lam S) sum_i s_i a_i x_i, as many rows as these rows' weights have."""
    W = np.zeros((weight_count(problem.rows), A.shape[1]))
    for start, stop in blocks(problem.rows):
        add_combination(problem.rows, problem.costs.weights, start, stop, A, flat(W))
    W /= problem.lam * problem.S
    return W


@inlined
def weight(weights, i):  # type: ignore[no-untyped-def]
    """Return s_i."""
    return weights.values[np.int64(i) & weights.mask]


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
