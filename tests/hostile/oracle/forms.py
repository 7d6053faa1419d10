"""Linear systems of an interior point step, in two forms.

A step changes the scores f = <w, phi(x_i)> + b of all rows; M is diagonal, q a vector of rows:

    features F    (F'MF + I) dw + F'M1 db = F'(beta + q) - w
                  1'MF dw + 1'M1 db       = 1'(beta + q)
    kernel K      (K + 1/M) dbeta + 1 db  = q/M,   1'dbeta = -1'beta

db is that of a free bias. With features, w is kept apart from beta, whose errors it does not share.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve


def cholesky(A):
    """Lower factor; for types that LAPACK does not know, block by block."""
    n, size = len(A), 24
    L = np.tril(A)
    for k in range(0, n, size):
        e = min(n, k + size)
        for j in range(k, e):
            if not L[j, j] > 0:
                raise np.linalg.LinAlgError
            L[j, j] = np.sqrt(L[j, j])
            L[j + 1 :, j] /= L[j, j]
            L[j + 1 :, j + 1 : e] -= np.outer(L[j + 1 :, j], L[j + 1 : e, j])
        L[e:, e:] -= L[e:, k:e] @ L[e:, k:e].T
    return np.tril(L)


def solve_factored(L, b):
    """Solve L L' x = b."""
    x = b.copy()
    for j in range(len(L)):
        x[j] /= L[j, j]
        x[j + 1 :] -= L[j + 1 :, j] * x[j]
    for j in reversed(range(len(L))):
        x[j] = (x[j] - L[j + 1 :, j] @ x[j + 1 :]) / L[j, j]
    return x


class Definite:
    """A x = r for a positive definite A, scaled to a unit diagonal."""

    def __init__(self, A):
        if not np.all(np.isfinite(A)):
            raise np.linalg.LinAlgError
        self.scale = 1 / np.sqrt(A.diagonal())
        if not np.all(np.isfinite(self.scale)):
            raise np.linalg.LinAlgError
        self.A = A * self.scale * self.scale[:, None]
        self.is_wide = A.dtype != np.float64
        # Where rounding made it indefinite, a little is added to the diagonal.
        near, tiny = self.A.copy(), np.finfo(A.dtype).eps
        while True:
            try:
                self.factor = cholesky(near) if self.is_wide else cho_factor(near, lower=True)
                break
            except np.linalg.LinAlgError:
                near[np.diag_indices(len(A))] += tiny
                tiny *= 16

    def _solve(self, r):
        return solve_factored(self.factor, r) if self.is_wide else cho_solve(self.factor, r)

    def solve(self, r):
        r = r * self.scale
        if not np.all(np.isfinite(r)):
            raise np.linalg.LinAlgError
        x = self._solve(r)
        x += self._solve(r - self.A @ x)  # one refinement
        return x * self.scale


class FeatureForm:
    """The problem with explicit features (n, r)."""

    def __init__(self, F, is_free):
        ones = np.ones((len(F), 1), dtype=F.dtype)
        self.F = np.hstack([F, ones]) if is_free else F
        self.penalty = np.ones(self.F.shape[1], dtype=F.dtype)
        if is_free:
            self.penalty[-1] = 0
        self.w = np.zeros(self.F.shape[1], dtype=F.dtype)
        self.is_free = is_free

    def scores(self, beta):
        return self.F @ self.w

    def prepare(self, M):
        G = (self.F.T * M) @ self.F
        G[np.diag_indices(len(G))] += self.penalty
        self.system = Definite(G)

    def direction(self, q, beta):
        dw = self.system.solve(self.F.T @ (beta + q) - self.penalty * self.w)
        return self.F @ dw, dw

    def move(self, step):
        self.w = self.w + step

    def point(self):
        return self.w[:-1] if self.is_free else self.w


class KernelForm:
    """The problem with the kernel matrix."""

    def __init__(self, K, is_free):
        self.K, self.is_free, self.b = K, is_free, K.dtype.type(0)

    def scores(self, beta):
        return self.K @ beta + self.b

    def prepare(self, M):
        A = self.K.copy()
        A[np.diag_indices(len(A))] += 1 / M
        self.M, self.system = M, Definite(A)
        self.of_one = self.system.solve(np.ones_like(M)) if self.is_free else None

    def direction(self, q, beta):
        x, db = self.system.solve(q / self.M), self.K.dtype.type(0)
        if self.is_free:
            db = (x.sum() + beta.sum()) / self.of_one.sum()
            x = x - db * self.of_one
        return self.K @ x + db, db

    def move(self, step):
        self.b = self.b + step

    def point(self):
        return None


def features(K):
    """Pivoted Cholesky: return F with K = F F' up to rounding, and the rows that were pivots."""
    n = len(K)
    rest, F, pivots = K.diagonal().copy(), np.zeros_like(K), []
    floor = 8 * np.finfo(K.dtype).eps * n * rest.max(initial=0)
    for r in range(n):
        j = int(np.argmax(rest))
        if rest[j] <= floor:
            break
        column = (K[:, j] - F[:, :r] @ F[j, :r]) / np.sqrt(rest[j])
        column[pivots] = 0
        F[:, r] = column
        rest = rest - column * column
        pivots.append(j)
        rest[pivots] = -1
    return F[:, : len(pivots)], pivots


def expansion(F, pivots, w):
    """Coefficients over all rows of w, an element of the space that the pivots span."""
    T = F[pivots]  # lower triangular: w = T' g
    g = w.copy()
    for j in reversed(range(len(pivots))):
        g[j] /= T[j, j]
        g[:j] -= T[j, :j] * g[j]
    whole = np.zeros(len(F), dtype=F.dtype)
    whole[pivots] = g
    return whole
