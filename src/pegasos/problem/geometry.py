"""Geometry: what weights are, and what can be told of their scores, lengths and distances.

    linear    W (d, K) are weights of features;     <w_k, x_i> = sum_j W[j, k] x_ij
    kernel    W (n, K) are coefficients of rows;    <w_k, phi(x_i)> = sum_j W[j, k] K(x_j, x_i)

Whoever certifies or predicts asks `geometry(rows)` and need not know which it is. The geometry of a
kernel is that of `kernel_matrix.geometry`, which enters itself for its containers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, float_type, scores, shape, square_norm
from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem import objective
from pegasos.problem.joint_losses import is_joint
from pegasos.problem.objective import Problem, parts
from pegasos.problem.scores import (
    EPS,
    PART,
    Extent,
    Offered,
    Scores,
    extent,
    linear_scores,
    write_scores,
)

SAMPLED_ROWS = 256  # rows whose mean is a typical one


class Size(NamedTuple):
    """Of weights: a bound on their norm, (K,), and what errors of their scores grow with.

    `error` (K,) is the error of a score, against the length of its row; `expansion`, of a kernel
    only, what `kernel_matrix.scores.scores_room` bounds it by.
    """

    norm: FloatArray
    error: FloatArray
    expansion: tuple[FloatArray, FloatArray] | None


class Geometry(Protocol):
    """What weights over some rows are, and what is known of them; one entry per model, (K,)."""

    @property
    def is_expansion(self) -> bool:
        """Whether weights are coefficients of rows: best few, and scores cost more than a pass."""

    @property
    def is_psd(self) -> bool | None:
        """Whether square norms cannot be negative; None if only a test can tell."""

    @property
    def is_indefinite(self) -> bool:
        """Whether something was met that contradicts it."""

    @property
    def can_be_wider(self) -> bool:
        """Whether inner products could be computed more exactly than they are."""

    @property
    def evaluations(self) -> int | None:
        """Kernel values computed so far; None without a kernel."""

    def held(self) -> dict[str, Any] | None:
        """Return what results depend on beside the data, to be saved; None if nothing is."""

    # ---- weights

    def combination(self, problem: Problem, A: FloatArray) -> FloatArray:
        """Return w(a) = 1/(lam S) sum_i s_i a_i x_i."""

    def as_stored(self, W: FloatArray) -> FloatArray:
        """Round weights to the precision in which a model keeps them; no copy in float64."""

    def write_scores(self, W: FloatArray, Z: FloatArray) -> None:
        """Write <w_k, x_i> into Z[i, k]."""

    def square_norms(self, W: FloatArray, Z: FloatArray | None = None) -> FloatArray:
        """Return ||w_k||^2; `Z` holds the scores of W, if they are known."""

    def distances(
        self, W: FloatArray, V: FloatArray, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ||w_k||^2, ||v_k||^2 and ||w_k - v_k||^2; `Z` holds the scores of W."""

    def distances_to(self, point: FloatArray, M: FloatArray) -> FloatArray:
        """Return ||m_k - point||, which rounding may make longer, not shorter."""

    def functional(self, W: FloatArray, Z: FloatArray | None) -> FloatArray:
        """Return F with  <m, w_k> = sum_j m_j F[j, k]  for all m; `Z` holds the scores of W."""

    def typical_point(self, W: FloatArray) -> FloatArray:
        """Return the mean of some rows as weights, those that W is made of if it is of few."""

    def point_among(self, M: FloatArray, is_known: Any) -> FloatArray:
        """Return one point for all models, the mean of the m_k that are known.

        Where every model has rows of its own it has a point of its own.
        """

    def push_scores(
        self, point: FloatArray | None, square: Any, push: FloatArray, Z: FloatArray
    ) -> None:
        """Add push[k] ||x_i - point|| to Z[i, k], or push[k] sqrt(||x_i||^2 + square) without one.

        `square` is the square norm of the point. Rounding may make a distance longer, not shorter.
        """

    # ---- what rounding does

    def extent(self, problem: Problem) -> Extent:
        """Return how large the rows are, as far as bounds on errors need it."""

    def bounded_scores(
        self, W: FloatArray, Z: FloatArray, known: Extent, offered: Offered | None, random: Any
    ) -> Scores:
        """Write the scores of W into Z, and bound their errors; those offered may serve."""

    def size(self, W: FloatArray, bound: FloatArray) -> Size:
        """Return how large weights are; `bound` on ||w_k||^2 is known from elsewhere."""

    def score_errors(self, W: FloatArray, Z: FloatArray) -> FloatArray:
        """Bound the errors of scores Z beyond `Size.error`; of shape (n, K), or (1, K)."""

    def weights_error(
        self, problem: Problem, W: FloatArray, total: FloatArray, known: Extent
    ) -> FloatArray:
        """Bound what rounding moved w(a) by, without a pass; `total` is sum_i |s_i a_i|."""

    def distance_error(
        self, W: FloatArray, V: FloatArray, distance: FloatArray, scored: Scores
    ) -> FloatArray:
        """Bound the error of distance = ||w - v||^2; `scored` are the scores of W."""

    def product_error(
        self, M: FloatArray, errors: FloatArray | None, known: Extent, norm: FloatArray
    ) -> FloatArray:
        """Bound the error of <m_k, w_k> for means m_k of rows; `errors` are those of scores."""

    def noise(self, W: FloatArray, V: FloatArray) -> FloatArray:
        """Return what eigenvalues below 0 that a test let pass may do to ||w||^2 + ||v||^2."""


@singledispatch
def geometry(rows: Any) -> Geometry:
    """Return the geometry of weights over rows: linear, unless others are entered for them."""
    return LinearGeometry(rows)


def square_norm_of(space: Geometry, point: FloatArray) -> Any:
    """Return the square norm of one point, given as weights; of one per model, all of theirs."""
    if point.ndim > 1:
        return space.square_norms(point)
    return float(space.square_norms(point[:, None])[0])


def products(point: FloatArray, F: FloatArray) -> FloatArray:
    """Return <m, w_k> for a `functional` F, of one point m or of one per model."""
    return np.asarray(np.einsum("jk,jk->k", point, F) if point.ndim > 1 else point @ F)


def mean_of_known(M: FloatArray, is_known: Any) -> FloatArray:
    """Return the mean of those points (d, K) that are known."""
    return M[:, 0] if M.shape[1] == 1 else np.asarray(M @ (is_known / max(1, is_known.sum())))


@dataclass(frozen=True)
class LinearGeometry:
    """Weights of features."""

    rows: Any
    is_expansion = False
    is_psd = True
    is_indefinite = False
    can_be_wider = False
    evaluations = None

    def held(self) -> None:
        return None

    def combination(self, problem: Problem, A: FloatArray) -> FloatArray:
        return objective.combination(problem, A)

    def as_stored(self, W: FloatArray) -> FloatArray:
        kind = float_type(self.rows)
        return W if kind == np.float64 else W.astype(kind).astype(np.float64)

    def write_scores(self, W: FloatArray, Z: FloatArray) -> None:
        write_scores(self.rows, W, Z)

    def square_norms(self, W: FloatArray, Z: FloatArray | None = None) -> FloatArray:
        return _square_norms(W)

    def distances(
        self, W: FloatArray, V: FloatArray, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        square = _square_norms(W)
        if W is V:
            return square, square, np.zeros_like(square)
        return square, _square_norms(V), _square_norms(W, V)

    def distances_to(self, point: FloatArray, M: FloatArray) -> FloatArray:
        if M.shape[1] == 1 and np.shares_memory(M, point):
            return np.zeros(1)
        return np.sqrt(_square_norms(M, point[:, None])) * (1.0 + (len(M) + 16) * EPS)

    def functional(self, W: FloatArray, Z: FloatArray | None) -> FloatArray:
        return W

    def typical_point(self, W: FloatArray) -> FloatArray:
        rows, (n, d) = self.rows, shape(self.rows)
        step = max(1, n // SAMPLED_ROWS)
        if isinstance(rows, CsrRows):
            total, sampled = np.zeros(d), range(0, n, step)
            for i in sampled:
                part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
                total[rows.indices[part]] += rows.data[part]
            return total / len(sampled)
        mean = rows.X[::step].mean(axis=0, dtype=np.float64)
        return np.asarray(mean)

    def point_among(self, M: FloatArray, is_known: Any) -> FloatArray:
        return mean_of_known(M, is_known)

    def push_scores(
        self, point: FloatArray | None, square: Any, push: FloatArray, Z: FloatArray
    ) -> None:
        rows, (_, d) = self.rows, shape(self.rows)
        point = np.zeros(d) if point is None else point
        rounding = 2.0 * (d + 16) * EPS
        each(lambda part: add_distances(rows, *part, point, square, rounding, push, Z), parts(rows))

    def extent(self, problem: Problem) -> Extent:
        return extent(problem)

    def bounded_scores(
        self, W: FloatArray, Z: FloatArray, known: Extent, offered: Offered | None, random: Any
    ) -> Scores:
        return linear_scores(self.rows, W, Z, known)

    def size(self, W: FloatArray, bound: FloatArray) -> Size:
        norm = np.sqrt(_square_norms(W))
        return Size(norm, (shape(self.rows)[1] + 32) * EPS * norm, None)

    def score_errors(self, W: FloatArray, Z: FloatArray) -> FloatArray:
        return np.zeros((1, W.shape[1]))

    def weights_error(
        self, problem: Problem, W: FloatArray, total: FloatArray, known: Extent
    ) -> FloatArray:
        longest = np.sqrt(known.values) * known.largest + problem.bias_scale
        return rounding_of_weights(problem, longest * total)

    def distance_error(
        self, W: FloatArray, V: FloatArray, distance: FloatArray, scored: Scores
    ) -> FloatArray:
        return np.asarray((len(W) + 16) * EPS * distance)

    def product_error(
        self, M: FloatArray, errors: FloatArray | None, known: Extent, norm: FloatArray
    ) -> FloatArray:
        longest = math.sqrt(known.values) * known.largest
        return np.asarray((sum(shape(self.rows)) + 32) * EPS * longest * norm)

    def noise(self, W: FloatArray, V: FloatArray) -> FloatArray:
        return np.zeros(W.shape[1])


def rounding_of_weights(problem: Problem, lengths: FloatArray) -> FloatArray:
    """Bound what rounding moves w(a) by, given sum_i |s_i a_i| ||x_i||."""
    n, _ = shape(problem.rows)
    if is_joint(problem.costs.loss):  # a_y is a sum, too
        n += 8 * len(lengths)
    return np.asarray((n + 8) * EPS * lengths / (problem.lam * problem.S))


def _square_norms(W: FloatArray, V: FloatArray | None = None) -> FloatArray:
    total = np.zeros(W.shape[1])
    for start in range(0, len(W), PART):  # in parts: no second array of the size of W
        part = W[start : start + PART]
        part = part if V is None else part - V[start : start + PART]
        total += np.einsum("jk,jk->k", part, part)
    return total


@compiled
def add_distances(rows, start, stop, point, square, rounding, push, Z):  # type: ignore[no-untyped-def]
    """Add push[k] sqrt(||x_i||^2 - 2 <x_i, point> + square) to Z[i, k] for start <= i < stop.

    `rounding` bounds the error of that sum, against ||x_i||^2 + square.
    """
    product = np.empty(1)
    for i in range(start, stop):
        scores(rows, i, point, product)
        total = square_norm(rows, i) + square
        distance = math.sqrt(max(0.0, total - 2.0 * product[0]) + rounding * total)
        for k in range(Z.shape[1]):
            Z[i, k] += push[k] * distance
