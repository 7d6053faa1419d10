"""Votes of pairs of classes: from decision values of pairs to labels, and what is certain of them.

Pairs (i, j), i < j, come in the order (0, 1), (0, 2), ..., (1, 2), ...; a value Z[:, p] >= 0 is a
vote for the first class of pair p, one below 0 for the second. A class's value is, as in
scikit-learn's SVC,

    votes + c / (3 (|c| + 1)),      c = sum of its pairs' values, each with its sign,

so that confidence breaks ties between equal votes and decides nothing else: its part is below 1/3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.class_pairs import classes_of, pairs_of

THIRD = 3.0  # confidence weighs less than 1/THIRD of a vote
LEAST = 1e-290  # probability of a class within a pair: sums of inverses are finite


def class_values(Z: FloatArray, other: FloatArray | None = None) -> FloatArray:
    """Return the classes' values (n, K) of pairs' values (n, P).

    With two bounds on pairs, the first class of each is given Z, and the second the `other`: lower
    and upper bounds make the classes' lower bounds, the other way round their upper ones.
    """
    K = classes_of(Z.shape[1])
    other = Z if other is None else other
    votes, confidence = np.zeros((len(Z), K)), np.zeros((len(Z), K))
    for p, (i, j) in enumerate(pairs_of(K)):
        votes[:, i] += Z[:, p] >= 0.0
        votes[:, j] += other[:, p] < 0.0
        confidence[:, i] += Z[:, p]
        confidence[:, j] -= other[:, p]
    with np.errstate(invalid="ignore"):  # of infinite bounds
        share = confidence / (THIRD * (np.abs(confidence) + 1.0))
    return votes + np.where(np.isinf(confidence), np.sign(confidence) / THIRD, share)


def winners(Z: FloatArray) -> Any:
    """Return the class with most votes, ties broken by confidence."""
    return class_values(Z).argmax(axis=1)


def sure_winners(low: FloatArray, high: FloatArray) -> Any:
    """Return the class that wins whatever the pairs' values between two bounds; -1 if none does.

    That is a class with more votes, all undecided pairs lost, than any other with all undecided
    pairs won. The pair of the two is then given to the other, so this is exact; ties are not sure.
    """
    K = classes_of(low.shape[1])
    least, most = np.zeros((len(low), K), dtype=int), np.full((len(low), K), K - 1)
    for p, (i, j) in enumerate(pairs_of(K)):
        is_first, is_second = low[:, p] > 0.0, high[:, p] < 0.0
        least[:, i] += is_first
        least[:, j] += is_second
        most[:, i] -= is_second
        most[:, j] -= is_first
    rows, best = np.arange(len(low)), least.argmax(axis=1)
    wins = least[rows, best]
    most[rows, best] = -1
    return np.where(wins > most.max(axis=1), best, -1)


def coupled(R: FloatArray) -> FloatArray:
    """Return class probabilities (n, K) from those of the first class within each pair, (n, P).

    With p_i / (p_i + p_j) = r_ij,  sum_j 1 / r_ij = K - 2 + 1 / p_i  over the K - 1 others
    [PKPD95]; where the pairs contradict each other, what this gives is brought to a sum of 1.

    [PKPD95]  Price, Knerr, Personnaz, Dreyfus. Pairwise neural network classifiers with
              probabilistic outputs. NIPS 7, 1995.
    """
    K = classes_of(R.shape[1])
    total = np.full((len(R), K), 2.0 - K)
    for p, (i, j) in enumerate(pairs_of(K)):
        total[:, i] += 1.0 / np.maximum(R[:, p], LEAST)
        total[:, j] += 1.0 / np.maximum(1.0 - R[:, p], LEAST)
    P = 1.0 / total
    return np.asarray(P / P.sum(axis=1, keepdims=True))
