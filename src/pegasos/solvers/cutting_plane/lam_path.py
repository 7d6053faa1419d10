"""The path of SVM-Perf: reduced problems with a larger lam at first, whose solutions stay near.

With few cuts known, the solution of the reduced problem runs far to where nobody has looked, and a
cut made there says little about the loss near the optimum. A cut knows nothing of lam, though: it
lies below the loss whatever lam is. So cuts are made at the solutions of

    min_w  lam_t/2 ||w||^2 + max(0, max_c e_c + <g_c, w>),    lam_t = max(lam, lam_1 / t^2),

where lam_1 is a quarter of the mean square length of the rows (from their mean, if the bias is
free). The way down takes LONGEST cuts at most: where more would be needed, its steps are longer.
Where the solution is one already up to SOLVED, this lam has nothing more to teach, and the path
goes on faster. The certificate is of lam itself: its programme is solved with all cuts, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from pegasos.data.rows import shape
from pegasos.problem.objective import Problem, row_square_norms, typical_length, weighted_sum
from pegasos.solvers.cutting_plane.cuts import CutState
from pegasos.solvers.cutting_plane.small_qp import maximize

QUARTER = 0.25  # among powers of 2 the one that took the fewest cuts on five tables
LONGEST = 200  # cuts
SOLVED = 1e-4  # relative gap at lam_t below which t grows
FASTER = 1.5  # times
EXACT = 1e-7  # of its value: how exactly a programme on the path is solved


@dataclass
class Path:
    """How far a model is: lam_t, lam_1, t, and the value of the programme its weights solve."""

    lam: float
    first: float
    t: float = 0.0
    value: float = 0.0

    def go_on(self, lam: float) -> None:
        """Move to the next lam_t; `lam` is the last."""
        self.t += 1.0
        way = sqrt(self.first / lam)
        step = 1.0 if way <= LONGEST else (way - 1.0) / (LONGEST - 1.0)
        self.lam = max(lam, self.first / (1.0 + step * (self.t - 1.0)) ** 2)


def begun(problem: Problem, state: CutState) -> list[Path]:
    """Return the paths of models without a cut."""
    n, d = shape(problem.rows)
    square = typical_length(problem, row_square_norms(problem)) ** 2 + problem.bias_scale**2
    if problem.is_free:
        mean = weighted_sum(problem, np.full((n, 1), 1.0 / problem.S), d)
        square = max(0.0, square - float(np.sum(mean**2)))
    for bundle in state.bundles:
        bundle.near[0] = 1.0
    return [Path(problem.lam, QUARTER * square) for _ in state.bundles]


def see(problem: Problem, state: CutState, k: int, primal: float) -> None:
    """Go on faster if the weights of model k, whose P is `primal`, are a solution at lam_t."""
    path = state.paths[k]
    if path.t > 0.0 and path.lam > problem.lam:
        square = state.W[:, k] @ state.W[:, k]
        if problem.bias_scale > 0.0:
            square += (state.b[k] / problem.bias_scale) ** 2
        there = primal + 0.5 * (path.lam - problem.lam) * square
        if there - path.value < SOLVED * path.value:
            path.t *= FASTER


def lead(problem: Problem, state: CutState, k: int) -> None:
    """Go on with model k, which has a new cut; set its weights to the solution at lam_t."""
    path, bundle = state.paths[k], state.bundles[k]
    path.go_on(problem.lam)
    near = bundle.near[: bundle.m]
    if path.lam <= problem.lam:
        near[:] = 0.0
        return
    H = bundle.H[: bundle.m, : bundle.m] * (problem.lam / path.lam)
    path.value = maximize(H, bundle.e[: bundle.m], near, EXACT * path.value)
    weights = near @ bundle.G[: bundle.m] / -path.lam
    state.W[:, k], state.b[k] = weights[:-1], problem.bias_scale * weights[-1]
