"""Models of pairs of classes: their order, and their expansions over support vectors by class.

Pairs (i, j), i < j, come in the order (0, 1), (0, 2), ..., (1, 2), ...; the first class of a pair
is its positive one. A row of class c is in the K - 1 pairs of c with another class, so the
coefficients of all pairs are a matrix of K - 1 columns: of a row of class c, column r is for the
pair with the r-th of the other classes. That is the layout of libsvm's `sv_coef`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


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
