"""Ascents over a part of the working set at a time: a step then reads a tenth of the numbers.

A step of SMO looks at every row of its matrix. Of thousands of rows a few hundred matter for many
steps on end, so that these are taken out, with their block of the kernel matrix, which fits a
core's own cache; what they have moved is brought to the others once.

    repeat  V = half of it rows of the last part that lie between bounds, the others those that it
                pays most to raise and to lower
            ascend on V, to a fraction of the violation that it began with
            r -= K[:, V] (change of beta_V)

Without the rows of the last part a few of them would chase each other from part to part. Where a
part takes few steps, not to be worth its block, an ascent goes on with all rows for a while, twice
as long each time.

[Joa98]  Joachims. Making large-scale support vector machine learning practical. 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos.kernel_matrix.store import SQUARE, add_weighted, gather
from pegasos.parallel import each, ranges
from pegasos.solvers.decomposition.smo import Ascent, Box, Matrix, new_ascent, set_prices, whole
from pegasos.solvers.decomposition.working_set import largest_of

ROWS = 768  # of a part
MANY = 3  # parts that a matrix must be made of to be worth them
FEW = 4  # a part with fewer steps than one for so many rows costs more than it saves
LEFT = 0.2  # of the violation at the beginning that the ascent on a part leaves


def has_parts(rows: int) -> bool:
    """Whether there are rows for several parts."""
    return rows >= MANY * ROWS


class Parts:
    """The parts of one ascent on a matrix that is there in full.

    Attributes
    ----------
    pays : bool
        Whether there are rows for several parts, and the last one took many steps.
    pause : int
        Steps on all rows before the next part, while parts do not pay.
    """

    def __init__(self, ascend: Callable[..., Any], K: Matrix, ascent: Ascent, box: Box) -> None:
        self.ascend, self.K, self.ascent, self.box = ascend, K, ascent, box
        self.last = np.zeros(0, dtype=np.int64)
        self.pays, self.pause = has_parts(len(ascent.r)), ROWS

    def go_on(self, tol: float, steps: int) -> tuple[int, float]:
        """Ascend on the next part; return the steps taken and the least curvature met.

        Once no pair promises more than `tol`, parts pay no longer: an ascent on all rows says so.
        """
        K, ascent, box = self.K, self.ascent, self.box
        V, violation = self._next()
        part = Box(box.low[V], box.high[V], box.epsilon, box.ridge[V])
        mine = new_ascent(ascent.beta[V], ascent.r[V], part)
        values = np.empty((len(V), len(V)), dtype=K.values.dtype)
        slots = K.slot_of[V]
        each(
            lambda some: gather(K.values, slots[slice(*some)], V, values[slice(*some)]),
            ranges(len(V), SQUARE),
        )
        known, active = whole(values, K.diagonal[V]), np.arange(len(V))
        taken, _, least, _ = self.ascend(
            known, mine, part, active, max(tol, LEFT * violation), steps
        )
        change = mine.beta - ascent.beta[V]
        moved = np.flatnonzero(change)
        add_weighted(K.values, slots[moved], -change[moved, None], ascent.r[:, None])
        ascent.r[V] -= box.ridge[V] * change
        ascent.beta[V] = mine.beta
        set_prices(ascent, box)
        self.last, self.pays = V, FEW * taken >= len(V)
        self.pause = ROWS if self.pays else 2 * self.pause
        return int(taken), float(least)

    def _next(self) -> tuple[Any, float]:
        """Return the rows of the next part, and the violation of the worst pair of all."""
        beta, r, up, down = self.ascent
        pays, costs = r + up, r + down
        is_free = (costs < np.inf) & (pays > -np.inf) & (pays >= costs)
        is_chosen = np.zeros(len(r), dtype=np.bool_)
        kept = self.last[is_free[self.last]]
        slope = 0.5 * (pays.max() + costs.min())
        worst = np.maximum(pays[kept] - slope, slope - costs[kept])
        is_chosen[kept[largest_of(worst, min(ROWS // 2, len(kept)))]] = True
        rest = ROWS - int(np.count_nonzero(is_chosen))
        for values in (pays, -costs):
            others = np.flatnonzero(~is_chosen)
            is_chosen[others[largest_of(values[others], rest // 2)]] = True
        return np.flatnonzero(is_chosen), float(pays.max() - costs.min())
