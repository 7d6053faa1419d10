"""Quasi-Newton steps for joint losses whose Hessian would be too large: (d + 1) K unknowns.

Limited memory BFGS [LN89], started from the blocks of the Hessian that belong to one class each,

    H_k = sum_i s_i (t_ik - t_ik^2 / |t_i|) x~_i x~_i' + penalty,

factorised: K matrices of (d + 1)^2, of some rows that stand for all (`path`). What they lack, the
coupling of classes and the curvature on the way, the last steps and changes of the gradient tell.
The blocks are made anew for every smoothing, and after 3, 15 and 63 steps of it.

[LN89]  Liu, Nocedal. On the limited memory BFGS method for large scale optimization. Math.
        Programming 45, 1989. The two loops are those of Nocedal and Wright, Algorithm 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.equations import Terms, add_penalty, lacking_of
from pegasos.solvers.newton.hessian import hessian
from pegasos.solvers.newton.path import some_of

PAIRS = 30  # steps that are remembered
REFRESHED = (0, 3, 15, 63)  # steps of a smoothing after which blocks are made anew
ALONE = 1e-12  # of t_k, in all others: less is rounding
FLOOR = 1e-8  # of a block's largest diagonal: damping, at least


@dataclass
class Memory:
    """The last steps and changes of the gradient, (d + 1, K) each, and factors of the blocks."""

    width: float = -1.0  # of the smoothing that they belong to
    count: int = 0  # steps with it
    factors: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))
    X: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # unknowns, at the last call
    G: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # the gradient there
    steps: list[FloatArray] = field(default_factory=list)
    changes: list[FloatArray] = field(default_factory=list)

    def learn(self, X: FloatArray, G: FloatArray, width: float) -> None:
        """Take note of where a run is, and of what the step that led there changed."""
        if width != self.width:
            self.width, self.count, self.steps, self.changes = width, 0, [], []
        elif np.vdot(X - self.X, G - self.G) > 0.0:
            self.steps = [*self.steps, X - self.X][-PAIRS:]
            self.changes = [*self.changes, G - self.G][-PAIRS:]
        self.X, self.G = X, G.copy()

    def direction(self) -> FloatArray:
        """Return minus the gradient times the inverse that blocks and memory stand for."""
        Q, factors = self.G.copy(), []
        for S, Y in zip(self.steps[::-1], self.changes[::-1], strict=True):
            factors.append(np.vdot(S, Q) / np.vdot(S, Y))
            Q -= factors[-1] * Y
        P = self.from_blocks(Q)
        for S, Y, a in zip(self.steps, self.changes, factors[::-1], strict=True):
            P += (a - np.vdot(Y, P) / np.vdot(S, Y)) * S
        return -P

    def from_blocks(self, Q: FloatArray) -> FloatArray:
        """Solve H_k p_k = q_k for every class."""
        P = np.empty_like(Q)
        for k in range(Q.shape[1]):
            P[:, k] = dpotrs(self.factors[k], Q[:, k], lower=1)[0]
        return P


def quasi_direction(
    problem: Problem,
    columns: Columns,
    terms: Terms,
    T: FloatArray,
    G: FloatArray,
    memory: Memory,
    damping: float,
) -> FloatArray:
    """Return a direction (size, K) for curvatures T (n, K); `memory` has learned the gradient.

    G is the whole gradient (d + 1, K); without a bias, `size`, that of the memory's, is d.
    """
    size, K = memory.G.shape
    if memory.count in REFRESHED:
        memory.factors = np.empty((K, size, size))
        for k in range(K):
            H = hessian(problem, columns, some_of(own_curvatures(T, k), columns))
            add_penalty(terms, columns, H)
            lacking = lacking_of(terms, columns, H.diagonal()[:, None], G[:, [k]])[:size, 0]
            memory.factors[k] = factor(H[:size, :size], lacking, damping)
    memory.count += 1
    P = memory.direction()
    return P - P.mean(axis=1, keepdims=True)


def own_curvatures(T: FloatArray, k: int) -> FloatArray:
    """Return t_k - t_k^2 / |t| of every row, 0 where class k is alone."""
    others = T.sum(axis=1) - T[:, k]
    others[others <= ALONE * T[:, k]] = 0.0
    return T[:, k] * np.divide(others, others + T[:, k], out=others, where=others > 0.0)


def factor(H: FloatArray, lacking: FloatArray, damping: float) -> FloatArray:
    """Return the Cholesky factor of H + diag(lacking + damping); rounding may ask for more."""
    damping = max(damping, FLOOR * float(H.diagonal().max()))
    while True:
        M = H.copy()
        M.flat[:: len(M) + 1] += lacking + damping
        L, info = dpotrf(M, lower=1)
        if info == 0 and np.isfinite(L).all():
            return np.asarray(L)
        damping *= 10.0
