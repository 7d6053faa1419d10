"""Rows of a feature space: explicit ones, or those of a kernel.

With a free bias all is seen from the mean of the rows, which changes neither the best weights nor
the objective. `weights` are those of the features, or the coefficients of an expansion.
"""

import numpy as np

from tests.hostile.oracle.kernels import WIDE, diagonal, exactly, kernel_matrix

LARGE = 700  # rows above which a kernel matrix is computed in float64
SAFETY = 4.0


class LinearRows:
    """Explicit features; a regularised bias is one more of them."""

    kernel = None

    def __init__(self, X, is_free=False, bias_scale=0.0):
        self.X, self.is_free, self.bias_scale = exactly(X), is_free, WIDE(bias_scale)
        self.n = len(self.X)
        self.mean = self.X.mean(axis=0) if is_free else np.zeros(self.X.shape[1], dtype=WIDE)
        self.F = self._seen(self.X)
        self.sizes = np.abs(self._whole(self.X)) + np.abs(self._whole(self.mean[None]))
        self.norms = np.sqrt((self.F * self.F).sum(axis=1))
        self.has_few_features = self.F.shape[1] <= self.n
        self.K = None if self.has_few_features else self.F @ self.F.T

    def _whole(self, X):
        constant = np.full((len(X), 1), self.bias_scale)
        return np.hstack([X, constant]) if self.bias_scale else X

    def _seen(self, X):
        return self._whole(X - self.mean)

    def combination(self, beta):
        return self.F.T @ beta

    def scores(self, w):
        """<w, x_i> seen from the mean, and what rounding may hide of it."""
        error = SAFETY * np.finfo(WIDE).eps * (8 + len(w) ** 0.5) * (self.sizes @ np.abs(w))
        return self.F @ w, error

    def square(self, w):
        square = w @ w
        return square, SAFETY * np.finfo(WIDE).eps * (8 + len(w) ** 0.5) * square

    def new_scores(self, X, w):
        """Scores of new rows, and their lengths, both seen from the mean."""
        rows = self._seen(exactly(X))
        return rows @ w, np.sqrt((rows * rows).sum(axis=1))


class KernelRows:
    """Rows of a kernel's space."""

    bias_scale, has_few_features = WIDE(0), False

    def __init__(self, X, kernel, is_free=False, **options):
        self.X, self.kernel, self.is_free, self.options = X, kernel, is_free, options
        self.n = X.shape[0]
        self.precision = np.float64 if self.n > LARGE else WIDE
        is_wide = self.precision is WIDE and not callable(kernel)
        self.eps = float(np.finfo(WIDE if is_wide else np.float64).eps)
        K = kernel_matrix(kernel, X, X, precision=self.precision, **options)
        self.whole = (K + K.T) / 2
        self.lengths = np.sqrt(np.maximum(self.whole.diagonal(), 0)).astype(WIDE)
        self.K = self.whole
        if is_free:
            self.means = self.whole.mean(axis=1)
            self.mean_square = self.means.mean()
            self.K = self.whole - self.means - self.means[:, None] + self.mean_square
        self.norms = np.sqrt(np.maximum(self.K.diagonal(), 0)).astype(WIDE)

    def combination(self, beta):
        return beta

    def _error(self, beta):
        root = 8 + len(beta) ** 0.5
        return SAFETY * self.eps * root * self.lengths * (self.lengths @ np.abs(beta))

    def scores(self, beta):
        """f(x_i) seen from the mean, and what rounding may hide of it."""
        z = self.K @ beta.astype(self.precision)
        return z.astype(WIDE), self._error(beta)

    def square(self, beta):
        z, error = self.scores(beta)
        return beta @ z, np.abs(beta) @ error

    def new_scores(self, X, beta):
        """Scores of new rows, and their lengths, both seen from the mean."""
        options = {"precision": self.precision, **self.options}
        K = kernel_matrix(self.kernel, X, self.X, **options)
        squares = diagonal(self.kernel, X, **options)
        if self.is_free:
            means = K.mean(axis=1)
            K = K - means[:, None] - self.means + self.mean_square
            squares = squares - 2 * means + self.mean_square
        return K @ beta.astype(self.precision), np.sqrt(np.maximum(squares, 0)).astype(WIDE)
