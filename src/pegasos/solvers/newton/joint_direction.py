"""Newton's equations of a joint loss, (d + 1) K unknowns numbered class by class."""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.equations import Terms, add_penalty, lacking_of, solved
from pegasos.solvers.newton.joint_hessian import answering, joint_hessian
from pegasos.solvers.newton.joint_pairs import FEW, direction_of_pairs


def joint_direction(
    problem: Problem,
    columns: Columns,
    terms: Terms,
    T: FloatArray,
    G: FloatArray,
    size: int,
    damping: float,
) -> FloatArray:
    """Solve H P = -G, shape (size, K), for curvatures T (n, K); without a bias `size` is d.

    Where few rows answer, H is not made: their pairs of classes have fewer equations.

    A constant added to a column's weights of all classes changes no loss. The gradient has no part
    along it, H next to none, and rounding would decide: it is given the curvature of its column.
    """
    D, K = G.shape
    chosen, answers = answering(T)
    if 0 < np.sum(answers - 1) <= FEW * K * size:
        P = direction_of_pairs(problem, columns, terms, T, chosen, G, size, damping)
        if P is not None:
            return P
    H = joint_hessian(problem, columns, T)
    H /= problem.S
    penalty = np.zeros((D, D))
    add_penalty(terms, columns, penalty)
    for k in range(K):
        own = slice(k * D, (k + 1) * D)
        H[own, own] += penalty
    diagonal = H.diagonal().reshape(K, D).T.copy()
    lacking = lacking_of(terms, columns, diagonal, G)
    for j in range(D):
        H[j::D, j::D] += diagonal[j].mean() / K
    if size < D:
        used = np.flatnonzero(np.arange(K * D) % D < size)
        H = H[np.ix_(used, used)]
    P = solved(H, -G[:size].T.ravel(), lacking[:size].T.ravel(), damping)
    P = P.reshape(K, size).T
    return P - P.mean(axis=1, keepdims=True)
