"""OCAS: cutting planes that are made near the best weights so far.

Minimises   P(w) = lam/2 ||w||^2 + R(w),   R(w) = 1/S sum_i s_i max(0, 1 - y_i (<w, x_i> + b))

The solution w_t of the reduced problem (`cuts`) may be far worse than the best weights w_b known.
OCAS searches the line from w_b through w_t for the least P, which is the new w_b, and makes its cut
close to that: at (1 - mu) w_b + mu w_t. P(w_b) falls with every cut, and far fewer cuts are needed
than by SVM-Perf, which makes them at w_t.

Differs from [FS08]: a bias may be free (theirs is a constant feature). It is then the best one at
every point of the line, so that P is that of the weights alone, and so are the cuts. An epoch
is a cut: two passes over the rows, one for scores and one for the plane.

[FS08]  Franc, Sonnenburg. Optimized cutting plane algorithm for support vector machines. ICML 2008.
        The paper is not at hand: the rule (line search, cut near the best weights) is restated, and
        not checked against its text; nor is mu = 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.data.rows import FloatArray, shape
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.parallel import one_blas_thread
from pegasos.problem.bias import crossing
from pegasos.problem.line import best_steps
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_positive
from pegasos.solvers.cutting_plane import cuts
from pegasos.solvers.cutting_plane.cuts import Betas, CutState
from pegasos.solvers.protocol import Advance, DualPoint, Solver

ON_LINES = 1e-2  # of the gap at present: a line search with a free bias may end so far up


@dataclass
class OCAS(Options, Solver):
    """Cutting planes near the best weights so far, for the hinge loss.

    Parameters
    ----------
    mu : float, default=0.1
        Where cuts are made: 0 is at the best weights, 1 at the solution of the reduced problem.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=OCAS(), tol=1e-3)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    mu: float = 0.1
    name: ClassVar[str] = "ocas"
    is_dual: ClassVar[bool] = True

    @property
    def estimates_exactly(self) -> bool:
        """The objective of what is handed out and the programme's value are both known."""
        return True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_positive(self, "mu")
        if self.mu > 1.0:
            raise InvalidParameter(f"mu must be a number above 0 and at most 1; got {self.mu!r}.")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> CutState:
        state = cuts.start(problem, self.name, previous)
        state.Z = cuts.scores_of(problem, state.best)
        return state

    @one_blas_thread
    def advance(self, problem: Problem, state: CutState) -> Advance:
        Z, mu = cuts.scores_of(problem, state.W), self.mu
        found: list[Betas | None] = []
        search_lines(problem, state, Z)                        # w_b <- best of w_b + u (w_t - w_b)
        for k in range(Z.shape[1]):
            if state.is_done[k]:
                found.append(None)
                continue
            z, b = state.Z[:, k], state.best_b[k]
            state.primal[k] = cuts.objective(problem, state.best[:, k], z, b, k)
            at = (1.0 - mu) * z + mu * Z[:, k]                 # w_c = (1 - mu) w_b + mu w_t
            betas, _ = cuts.below(problem, at, (1.0 - mu) * b + mu * state.b[k], k)
            found.append(betas)
        cuts.add(problem, state, found)                        # solve with the cut at w_c
        return Advance(shape(problem.rows)[0], True, cuts.estimate(state))

    def iterate(self, problem: Problem, state: CutState) -> tuple[FloatArray, FloatArray]:
        return state.best.copy(), state.best_b.copy()

    def dual_point(self, problem: Problem, state: CutState) -> DualPoint:
        return cuts.dual_point(state)

    def leave_out(self, state: CutState, is_done: Any) -> None:
        """Add no more cuts to models that are done."""
        state.is_done = is_done


def search_lines(problem: Problem, state: CutState, Z: FloatArray) -> None:
    """Move the best weights to the least P on the rays through W, whose scores are Z."""
    V, D, c = state.W - state.best, Z - state.Z, state.b - state.best_b
    across, along = (np.einsum("jk,jk->k", part, V) for part in (state.best, V))
    if problem.is_free:
        u = np.array([best_step(problem, state, D, (across, along), k) for k in range(len(c))])
    else:
        u = best_steps(problem, (state.Z, D), (state.best_b, c), (across, along))
    u = np.where(state.is_done, 0.0, np.maximum(u, 0.0))
    state.best += u * V
    state.Z += u * D
    state.best_b += u * c
    if problem.is_free:
        state.best_b[:] = [cuts.below(problem, z, 0.0, k)[1] for k, z in enumerate(state.Z.T)]


def best_step(
    problem: Problem, state: CutState, D: FloatArray, products: Any, k: int
) -> float:
    """Return how far to go from the best weights of model k if each point has its best bias.

    `D` are the scores of the direction; `products` its products with the weights and with itself.
    """
    z, d, (across, along) = state.Z[:, k], D[:, k], products
    sy = problem.costs.weights.values * problem.costs.Y[:, k]
    gap = state.primal[k] - state.dual[k]
    if state.is_done[k] or not np.isfinite(gap) or along[k] == 0.0:
        return 0.0

    def rise(u: float) -> float:
        betas, _ = cuts.below(problem, z + u * d, 0.0, k)
        loss = (sy * betas.numbers()) @ d / problem.S
        return float(problem.lam * (across[k] + u * along[k]) - loss)

    return crossing(rise, 0.0, ON_LINES * gap)
