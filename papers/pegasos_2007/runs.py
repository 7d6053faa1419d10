"""What the experiments of [SSS07] share: the text at hand gives the algorithm and one number.

Mini-batches are i.i.d. multisets of k rows, the last vector is handed out, w is projected onto the
ball of radius 1/sqrt(lam), all as in its Sec. 2.
"""

from __future__ import annotations

import numpy as np

from papers.harness.course import Course, course, mean
from papers.harness.data import Split
from papers.harness.report import Scale
from pegasos import Pegasos

DIFFERS = (
    "The text at hand has the abstract and Secs. 1 and 2; the experiments on k and projection "
    "are those that its algorithm has as options, on our data: text-like rows stand in for CCAT.",
)
LAM = 1e-4


def runs(
    split: Split, lam: float, k: int, steps: list[int], scale: Scale, projection: bool = True
) -> Course:
    """Return the mean course of Pegasos as in 2007, over the seeds."""
    solver = Pegasos(k, "multiset", projection=projection, output="last")
    return mean([course(split, lam, solver, steps, seed=seed) for seed in scale.seeds])


def work_to(one: Course, target: float) -> float:
    """Return the rows visited until the objective is first at most `target`."""
    k = one.first_below(target)
    return np.inf if k is None else float(one.rows[k])
