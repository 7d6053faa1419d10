"""SMO on a matrix whose rows are put together when they are first needed.

All kernel values are there, in blocks (`kernel_matrix.class_blocks`); `smo` wants whole rows. Few
of them ever take part: a row is copied into the store when an ascent finds that it lacks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import compiled
from pegasos.kernel_matrix.class_blocks import put_row
from pegasos.solvers.decomposition.smo import ascend_pairs, ascend_singles


class Owned(NamedTuple):
    """Which row every slot of a store holds, and how many slots are in use."""

    owner: Any
    used: int


@compiled
def ascend_by_rows(K, parts, filled, ascent, box, tol, steps, is_free):  # type: ignore[no-untyped-def]
    """Ascend as `ascend_pairs`, or without the constraint of a free bias `ascend_singles`.

    Returns the steps taken, the least curvature met and the slots in use.
    """
    active, taken, used, least = np.arange(len(ascent.r)), 0, filled.used, np.inf
    while True:
        left = steps - taken
        if is_free:
            t, _, curvature, lacks = ascend_pairs(K, ascent, box, active, tol, left)
        else:
            t, _, curvature, lacks = ascend_singles(K, ascent, box, active, tol, left)
        taken, least = taken + t, min(least, curvature)
        if lacks < 0:
            return taken, least, used
        put_row(parts, lacks, K.values[used])
        K.slot_of[lacks], filled.owner[used] = used, lacks
        used += 1
