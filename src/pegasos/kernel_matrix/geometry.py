"""The geometry of a kernel: weights are coefficients of rows, known by kernel values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.scores import expansion_error, kernel_scores, radii, scores_room
from pegasos.problem.geometry import SAMPLED_ROWS, Size, mean_of_known
from pegasos.problem.kernels import is_psd
from pegasos.problem.objective import Problem, factors
from pegasos.problem.scores import EPS, Extent, Offered, Scores

NOISE = 1e-9  # relative error of kernel values that a user brings


def combination(problem: Problem, A: FloatArray) -> FloatArray:
    """Return the coefficients of w(a) = 1/(lam S) sum_i s_i a_i phi(x_i), one column per model."""
    return np.asarray(A * (factors(problem.costs.weights) / (problem.lam * problem.S)))


@dataclass(frozen=True)
class KernelGeometry:
    """Coefficients of an expansion over rows; `rows` is a `Kernelized` container."""

    rows: Any
    is_expansion = True

    @property
    def is_psd(self) -> bool | None:
        return is_psd(self.rows.kernel)

    @property
    def is_indefinite(self) -> bool:
        return bool(self.rows.is_indefinite)

    @property
    def can_be_wider(self) -> bool:
        return bool(self.rows.can_be_wider)

    @property
    def evaluations(self) -> int | None:
        return int(self.rows.evaluations)

    def held(self) -> dict[str, Any] | None:
        return dict(self.rows.held())

    def combination(self, problem: Problem, A: FloatArray) -> FloatArray:
        return combination(problem, A)

    def as_stored(self, W: FloatArray) -> FloatArray:
        return W

    def write_scores(self, W: FloatArray, Z: FloatArray) -> None:
        Z[:] = 0.0
        self.rows.add_scores(np.ascontiguousarray(W, dtype=np.float64), Z)

    def square_norms(self, W: FloatArray, Z: FloatArray | None = None) -> FloatArray:
        rows = self.rows
        if Z is None:
            Z = np.empty_like(W)
            self.write_scores(W, Z)
        squares = np.einsum("jk,jk->k", W, Z)
        if np.any(squares < 0.0) and not is_psd(rows.kernel):
            largest = (np.abs(W).T @ np.sqrt(np.abs(rows.diagonal))) ** 2  # if K were semi-definite
            rows.is_indefinite |= bool(np.any(squares < -max(NOISE, rows.rounding) * largest))
        return np.maximum(0.0, squares)

    def distances(
        self, W: FloatArray, V: FloatArray, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        square = self.square_norms(W, Z)
        if W is V:
            return square, square, np.zeros_like(square)
        of_V = np.empty_like(Z)
        self.write_scores(V, of_V)
        distance = np.einsum("jk,jk->k", W - V, Z - of_V)
        return square, self.square_norms(V, of_V), np.maximum(0.0, distance)

    def distances_to(self, point: FloatArray, M: FloatArray) -> FloatArray:
        if M.shape[1] == 1 and np.shares_memory(M, point):
            return np.zeros(1)
        squares = self.square_norms(M - point[:, None])
        return np.sqrt(squares + 4.0 * self.rows.rounding * np.abs(self.rows.diagonal).max())

    def functional(self, W: FloatArray, Z: FloatArray | None) -> FloatArray:
        assert Z is not None
        return Z

    def typical_point(self, W: FloatArray) -> FloatArray:
        used = few_at_hand(self.rows, W)
        mean = np.zeros(self.rows.shape[0])
        mean[used] = 1.0 / max(1, len(used))
        return mean

    def point_among(self, M: FloatArray, is_known: Any) -> FloatArray:
        return mean_of_known(M, is_known)

    def push_scores(
        self, point: FloatArray | None, square: Any, push: FloatArray, Z: FloatArray
    ) -> None:
        rows = self.rows
        total, product = rows.diagonal + square, np.zeros((rows.shape[0], 1))
        if point is not None:
            rows.add_scores(point[:, None], product)
        squares = np.maximum(0.0, total - 2.0 * product[:, 0])
        distance = np.sqrt(squares + rows.rounding * np.abs(total))  # below 0: indefinite
        for k in range(Z.shape[1]):
            Z[:, k] += push[k] * distance

    def extent(self, problem: Problem) -> Extent:
        return Extent(0.0, 0)

    def bounded_scores(
        self, W: FloatArray, Z: FloatArray, known: Extent, offered: Offered | None, random: Any
    ) -> Scores:
        return kernel_scores(self.rows, W, Z, offered, random)

    def size(self, W: FloatArray, bound: FloatArray) -> Size:
        return Size(np.sqrt(bound), np.zeros_like(bound), expansion_error(self.rows, W))

    def score_errors(self, W: FloatArray, Z: FloatArray) -> FloatArray:
        return scores_room(self.rows, Z, *expansion_error(self.rows, W))

    def weights_error(
        self, problem: Problem, W: FloatArray, total: FloatArray, known: Extent
    ) -> FloatArray:
        return np.asarray(16.0 * EPS * np.einsum("jk,jk->k", self.rows.lengths, np.abs(W)))

    def distance_error(
        self, W: FloatArray, V: FloatArray, distance: FloatArray, scored: Scores
    ) -> FloatArray:
        if W is V:
            return np.asarray((len(W) + 16) * EPS * distance)
        radius = scored.radius + radii(self.rows, V, scored.Z, slice(None), self.rows.rounding)
        return np.asarray(np.einsum("jk,jk->k", np.abs(W - V), radius))

    def product_error(
        self, M: FloatArray, errors: FloatArray | None, known: Extent, norm: FloatArray
    ) -> FloatArray:
        assert errors is not None
        size = np.einsum("jk,jk->k", self.rows.lengths, M)
        error = np.einsum("jk,jk->k", M, errors)
        error += 32.0 * EPS * size * norm
        return np.asarray(error)

    def noise(self, W: FloatArray, V: FloatArray) -> FloatArray:
        """Bound it: with `noise` on its diagonal the kernel matrix is positive semi-definite."""
        if self.rows.noise == 0.0:
            return np.zeros(W.shape[1])
        squares = np.einsum("jk,jk->k", W, W) + np.einsum("jk,jk->k", V, V)
        return np.asarray(self.rows.noise * squares)


def few_at_hand(rows: Any, W: FloatArray) -> Any:
    """Return some of the rows that W is made of, those that are cheapest to use."""
    used = rows.at_hand(np.flatnonzero(W.any(axis=1)))
    return used[:: max(1, len(used) // SAMPLED_ROWS)]
