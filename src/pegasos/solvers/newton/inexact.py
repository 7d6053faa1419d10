"""Inexact Newton steps for joint losses whose Hessian would be too large: (d + 1) K unknowns.

Conjugate gradients solve H P = -G until what is left is a small part of G. A product with H takes
the rows that answer, and near the optimum these are few: with their x~_i as the rows of F,

    H P = 1/S F' (J_i (F P)_i)_i + penalty,      J_i = diag(t_i) - t_i t_i' / |t_i|

Of many such rows some stand for all, drawn at random. The blocks of H that belong to one
class each precondition, K matrices of (d + 1)^2, factorised anew once the last factors take too
many turns. F and the factors are in single precision: so much of a step is not needed.

[NW06]  Nocedal, Wright. Numerical Optimization. 2nd edition, Springer, 2006. Algorithms 5.3, 7.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import dpotrf

from pegasos.data.rows import FloatArray
from pegasos.parallel import each, ranges
from pegasos.problem.joint_losses import Softmax
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns, standardised
from pegasos.solvers.newton.equations import Terms, lacking_of
from pegasos.solvers.newton.joint_hessian import answering

MOST_VALUES = 16_000_000  # of rows that answer: of more rows, some stand for all
PART = 1024  # of these rows, multiplied at a time
FORCING = 0.1  # of the gradient, in the norm of the blocks' inverses: what may be left of it,
SOFT_FORCING = 0.3  # and for softmax, where all rows answer and few of them stand for all
TURNS = 40  # of conjugate gradients, at most,
MANY = 25  # and those from which blocks are made anew
PER_COLUMN = 4  # rows per column that stand for all of a block
ALONE = 1e-7  # of |t|, in all others than t_k: less is rounding
FLOOR = 1e-8  # of a block's largest diagonal: damping, at least,
LEAST = 1e-30  # and of nothing: single precision still has its inverse


@dataclass
class Blocks:
    """Cholesky factors of the blocks, upper ones (K, size, size), and the turns they last took."""

    factors: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))
    turns: int = MANY

    def solve(self, R: FloatArray) -> FloatArray:
        """Return H_k^-1 r_k for every class, nearly."""
        P, top = np.empty_like(R), float(np.abs(R).max()) or 1.0
        for k in range(R.shape[1]):
            L, r = self.factors[k].T, (R[:, k] / top).astype(np.float32)
            P[:, k] = strsv(L, strsv(L, r, lower=1), lower=1, trans=1)
        return P * top


class Hessian(NamedTuple):
    """x~_i of the rows that answer, t_i / S and t_i / |t_i|, each in parts; and the rest of H.

    The penalty is diag(diagonal) + e e' for every class; damping (size, K) is another diagonal.
    """

    F: tuple[Any, ...]
    t: tuple[Any, ...]
    shares: tuple[Any, ...]
    diagonal: FloatArray
    e: FloatArray
    damping: FloatArray

    def times(self, P: FloatArray) -> FloatArray:
        """Return H P."""
        p = P.astype(np.float32)

        def product(part: int) -> Any:
            F, t, shares = self.F[part], self.t[part], self.shares[part]
            U = F @ p
            U -= (shares * U).sum(axis=1, keepdims=True)
            U *= t
            return F.T @ U

        rest = (self.diagonal[:, None] + self.damping) * P + np.outer(self.e, self.e @ P)
        return rest + self.sum_of(product)

    def sum_of(self, product: Any) -> FloatArray:
        """Return the sum of a product (size, K) over the parts, added in order."""
        found: list[Any] = [None] * len(self.F)

        def find(part: int) -> None:
            found[part] = product(part)

        each(find, range(len(self.F)))
        total = np.zeros(self.damping.shape)
        for some in found:
            total += some
        return total

    def own(self, part: int) -> Any:
        """Return (t_k - t_k^2 / |t|) / S of the rows of a part, 0 where class k is alone."""
        others = np.asarray(1.0 - self.shares[part])
        others[others < ALONE] = 0.0
        return self.t[part] * others

    def own_diagonal(self) -> FloatArray:
        """Return the diagonal of H, (size, K), without damping."""
        penalty = (self.diagonal + self.e**2)[:, None]
        return penalty + self.sum_of(lambda part: (self.F[part] ** 2).T @ self.own(part))


def inexact_direction(
    problem: Problem,
    columns: Columns,
    terms: Terms,
    T: FloatArray,
    G: FloatArray,
    blocks: Blocks,
    size: int,
    damping: float,
) -> FloatArray:
    """Return a direction (size, K) for curvatures T (n, K); without a bias `size` is d.

    G is the whole gradient (d + 1, K).
    """
    H = hessian_of(problem, columns, terms, T, size)
    lacking = lacking_of(terms, columns, _whole(H.own_diagonal(), len(G)), G)
    H.damping[:] = lacking[:size] + damping
    if blocks.turns >= MANY:
        blocks.factors = factors_of(H)
    forcing = SOFT_FORCING if isinstance(problem.costs.loss, Softmax) else FORCING
    P, blocks.turns = conjugate_gradients(H, blocks, G[:size], forcing)
    return P - P.mean(axis=1, keepdims=True)


def _whole(diagonal: FloatArray, D: int) -> FloatArray:
    """Return a diagonal with the row of a bias that is left out."""
    return np.vstack([diagonal, np.zeros((D - len(diagonal), diagonal.shape[1]))])


def hessian_of(
    problem: Problem, columns: Columns, terms: Terms, T: FloatArray, size: int
) -> Hessian:
    """Return the Hessian without damping, of some rows if many answer."""
    (chosen, _), D, c = answering(T), len(columns.m) + 1, 1.0 / terms.S
    most = max(1, MOST_VALUES // D)
    if len(chosen) > most:
        c *= len(chosen) / most
        chosen = np.sort(np.random.default_rng(len(chosen)).choice(chosen, most, replace=False))
    parts, ones = ranges(len(chosen), PART), np.ones(len(T))
    found: list[Any] = [None] * len(parts)

    def gather(part: int) -> None:
        some = chosen[slice(*parts[part])]
        x, own = np.empty((len(some), D), np.float32), T[some]
        standardised(problem.rows, some, columns, ones, x)
        shares = own / own.sum(axis=1, keepdims=True)
        found[part] = x[:, :size], (c * own).astype(np.float32), shares.astype(np.float32)

    each(gather, range(len(parts)))
    diagonal, e = np.append(terms.lam / columns.scale**2, 0.0), np.zeros(D)
    if terms.bias_scale > 0.0:  # as in `add_penalty`
        e = np.append(-columns.m / columns.scale, 1.0) * np.sqrt(terms.lam) / terms.bias_scale
    F, t, shares = zip(*found, strict=True) if found else ((), (), ())
    return Hessian(F, t, shares, diagonal[:size], e[:size], np.zeros((size, T.shape[1])))


def factors_of(H: Hessian) -> FloatArray:
    """Return the factors of the blocks of H."""
    size, K = H.damping.shape
    F = np.vstack([np.zeros((0, size), np.float32), *H.F])
    own = np.vstack([np.zeros((0, K), np.float32), *map(H.own, range(len(H.F)))])
    factors, penalty = np.empty((K, size, size), np.float32), np.outer(H.e, H.e)

    def write(k: int) -> None:
        chosen, c, most = np.flatnonzero(own[:, k]), 1.0, PER_COLUMN * size
        if len(chosen) > most:
            c = len(chosen) / most
            chosen = np.random.default_rng(len(chosen)).choice(chosen, most, replace=False)
        x = F[chosen] * np.sqrt(c * np.maximum(0.0, own[chosen, k]))[:, None].astype(np.float32)
        M = (x.T @ x) + penalty
        M.flat[:: size + 1] += H.diagonal + H.damping[:, k]
        factors[k] = factor(M).T

    each(write, range(K))
    return factors


def factor(M: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of M, with some damping; rounding may ask for more.

    Where M is no matrix of finite numbers, that of a diagonal: it only preconditions.
    """
    diagonal = M.diagonal().copy()
    damping = max(FLOOR * float(diagonal.max()), LEAST)
    while np.isfinite(damping):
        M.flat[:: len(M) + 1] += damping
        L, info = dpotrf(M, lower=1)
        if info == 0 and np.isfinite(L).all():
            return np.asarray(L)
        damping *= 10.0
    return np.diag(np.sqrt(np.where(np.isfinite(diagonal), np.maximum(diagonal, LEAST), 1.0)))


def conjugate_gradients(
    H: Hessian, blocks: Blocks, G: FloatArray, forcing: float
) -> tuple[FloatArray, int]:
    """Solve H P = -G until a part `forcing` is left; also return the turns that it took."""
    P, R = np.zeros_like(G), -G
    Q = blocks.solve(R)
    square = float(np.vdot(R, Q))
    enough, turn = forcing**2 * square, 0
    while square > enough and turn < TURNS:
        HQ = H.times(Q)
        curvature = float(np.vdot(Q, HQ))
        if not curvature > 0.0:  # rounding
            break
        u = square / curvature
        P += u * Q
        R -= u * HQ
        Y, before = blocks.solve(R), square
        square = float(np.vdot(R, Y))
        Q = Y + (square / before) * Q
        turn += 1
    return P, turn
