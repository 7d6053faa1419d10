"""The free biases of a joint loss: dual points that allow for them.

Free biases, one per class, put the constraints sum_i s_i a_ik = 0 on the dual: with a = e_y - p,

    P_k = sum_i s_i p_ik   =   T_k = sum_{i of class k} s_i     for every class k

A class with P_k > T_k gives the fraction 1 - T_k / P_k of every p_ik away, and what a row is given
back goes to the classes with P_k < T_k in proportion to what they lack: p stays in the simplex.

Biases are known up to a constant. Here they sum to 0.
"""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.bias import Balance, untouched, write_feasible_row
from pegasos.problem.joint_losses import Softmax, own_class, probability
from pegasos.problem.objective import Problem, weight

RARE = 1e-6  # share of the rows that a class is taken to have, at least


def joint_balance(problem: Problem, A: FloatArray, scale: float) -> Balance:
    """Return how dual numbers scale * A are made to allow for free biases."""
    K = A.shape[1]
    balance, sums = untouched(K, scale), np.zeros((2, K))
    add_class_sums(problem.costs, A, balance, sums)
    given, wanted = sums
    lacking = np.maximum(0.0, wanted - given)
    if lacking.any():
        balance.theta[:] = lacking / lacking.sum()
        np.divide(wanted, given, out=balance.down, where=given > wanted)
    return balance


def centred_biases(b: FloatArray) -> FloatArray:
    """Return the same biases, summing to 0."""
    return b - b.mean()


def joint_start(problem: Problem) -> FloatArray:
    """Return biases (K,) to start from: with softmax, the best ones without weights."""
    Y, K = problem.costs.Y, problem.costs.Y.shape[1]
    if not isinstance(problem.costs.loss, Softmax):
        return np.zeros(K)
    totals = (problem.costs.weights.values[:, None] * (Y > 0.0)).sum(axis=0)
    return centred_biases(np.log(np.maximum(totals / problem.S, RARE)))


@compiled
def add_class_sums(costs, A, balance, sums):  # type: ignore[no-untyped-def]
    """Add P and T, of shape (K,), to the rows of `sums`."""
    a = np.empty(A.shape[1])
    for i in range(A.shape[0]):
        s, y = weight(costs.weights, i), own_class(costs.Y, i)
        write_feasible_row(costs.loss, costs, A, i, balance, a)
        for k in range(len(a)):
            sums[0, k] += s * probability(a, y, k)
        sums[1, y] += s
