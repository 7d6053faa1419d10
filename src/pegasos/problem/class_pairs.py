"""Models of pairs of classes: their order, and their expansions over support vectors by class.

Pairs (i, j), i < j, come in the order (0, 1), (0, 2), ..., (1, 2), ...; the first class of a pair
is its positive one. A row of class c is in the K - 1 pairs of c with another class, so the
coefficients of all pairs are a matrix of K - 1 columns: of a row of class c, column r is for the
pair with the r-th of the other classes. That is the layout of libsvm's `sv_coef`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.gram import Cross


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the classes of every pair."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def classes_of(n_pairs: int) -> int:
    """Return how many classes have so many pairs."""
    return round(0.5 + (0.25 + 2.0 * n_pairs) ** 0.5)


def pair_numbers(n_classes: int) -> Any:
    """Return, of shape (K, K - 1), the number of the pair of class c with its r-th other class."""
    numbers = np.zeros((n_classes, n_classes - 1), dtype=np.intp)
    for p, (i, j) in enumerate(pairs_of(n_classes)):
        numbers[i, j - 1] = numbers[j, i] = p
    return numbers


def add_pair_scores(
    crosses: Iterable[tuple[int, slice, Cross]], coefficients: FloatArray, *out: FloatArray
) -> None:
    """Add the scores of new rows to the columns of `out`, each of shape (n, P).

    `crosses` are class, place of its rows in the expansion, and new rows against them; to each of
    `out` belong K - 1 columns of the coefficients, (m, K - 1) side by side.
    """
    numbers = pair_numbers(classes_of(out[0].shape[1]))
    for c, place, cross in crosses:
        B = np.ascontiguousarray(coefficients[place])
        found = np.zeros((cross.shape[0], B.shape[1]))
        cross.add_scores(B, found)
        for k, Z in enumerate(out):
            width = numbers.shape[1]
            Z[:, numbers[c]] += found[:, k * width : (k + 1) * width]
