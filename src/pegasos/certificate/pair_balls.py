"""Certified predictions of pairs of classes: `predictions.Ball` for models with rows of their own.

Every pair has its own ball and its own point m for a free bias, all as expansions over the same
support vectors, in the layout of `problem.class_pairs`: one block of kernel values per class serves
all pairs of the class, scores and distances alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.pair_scores import add_pair_scores
from pegasos.kernel_matrix.scores import scores_room


@dataclass(frozen=True)
class PairBalls:
    """What is known about the optimum of each of P pairs.

    `centre` and `origin` are (m, K - 1) coefficients, `ends` (2, P) the bounds on the biases, the
    others (P,) as in `Ball`; `origin` is None without a free bias, and `expansion` (2, P) what
    errors of scores grow with.
    """

    centre: FloatArray
    origin: FloatArray | None
    radius: FloatArray
    ends: FloatArray
    square: FloatArray
    expansion: FloatArray

    def scores_and_bounds(self, crosses: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores of the centres without bias, and bounds on the optimum's values."""
        cross = max((part for _, _, part in crosses), key=lambda part: float(part.rounding))
        Z = np.zeros((cross.shape[0], len(self.radius)))
        total = cross.diagonal[:, None] + self.square
        products = np.zeros_like(Z)
        if self.origin is None:
            add_pair_scores(crosses, self.centre, Z)
        else:
            add_pair_scores(crosses, np.hstack([self.centre, self.origin]), Z, products)
        distance = np.sqrt(np.maximum(0.0, total - 2.0 * products) + cross.rounding * np.abs(total))
        room = self.radius * distance + scores_room(cross, Z, *self.expansion)
        return Z, Z + self.ends[0] - room, Z + self.ends[1] + room
