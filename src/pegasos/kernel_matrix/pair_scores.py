"""Scores of models of pairs of classes: one block of kernel values per class for all its pairs.

Coefficients are laid out as in `problem.class_pairs`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.problem.class_pairs import classes_of, pair_numbers


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
