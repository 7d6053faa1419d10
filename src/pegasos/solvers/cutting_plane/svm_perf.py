"""SVM-Perf: cutting planes with one slack for all rows.

Minimises   P(w) = lam/2 ||w||^2 + R(w),   R(w) = 1/S sum_i s_i max(0, 1 - y_i (<w, x_i> + b))

R is convex: a plane that touches it at any w lies below it everywhere. Solve the problem with R
replaced by the highest of the planes known; add the one that touches R at the solution; repeat. The
reduced problem's value bounds the optimum from below, and rises with every cut. See `cuts`
for the planes, their small quadratic programme and the dual point that comes with it.

Differs from [Joa06]: the best of all reduced solutions is handed out, not the last, for their
objectives are not monotone. And the reduced problems have a larger lam at first (`lam_path`), whose
solutions do not run away from where cuts were made; `path=False` is the method of the paper. An
epoch is a cut: two passes over the rows, one for scores and one for the plane.

How many cuts: on a9a (lam = 1e-4, no bias) a certified relative gap of 1e-3 takes 156 (OCAS: 54).
Without the path it is 571, of which the lower bound alone needs 511; the literal rule with
eps = 1e-3, that the last reduced solution is as close to that bound, ends after 477.

[Joa06]  Joachims. Training linear SVMs in linear time. KDD 2006. The paper is not at hand: the
         method is derived from what the planes are, and not checked against its text. [SSSC11]
         Sec. 1 and 7.1 compare with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pegasos.data.rows import FloatArray, shape
from pegasos.options import Options
from pegasos.parallel import one_blas_thread
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_flag
from pegasos.solvers.cutting_plane import cuts, lam_path
from pegasos.solvers.cutting_plane.cuts import Betas, CutState
from pegasos.solvers.protocol import Advance, DualPoint, Solver


@dataclass
class SVMPerf(Options, Solver):
    """Cutting planes in the one-slack form, for the hinge loss.

    Parameters
    ----------
    path : bool, default=True
        Whether a cold start comes over larger lam. Where cuts are many, that takes a quarter of
        them (Adult) to all; on small tables up to half more. False is the method of the paper.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=SVMPerf(), tol=1e-3)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    path: bool = True
    name: ClassVar[str] = "svm_perf"
    is_dual: ClassVar[bool] = True

    @property
    def estimates_exactly(self) -> bool:
        """The objective of what is handed out and the programme's value are both known."""
        return True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_flag(self, "path")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> CutState:
        state = cuts.start(problem, self.name, previous)
        if self.path and previous is None:
            state.paths = lam_path.begun(problem, state)
        return state

    @one_blas_thread
    def advance(self, problem: Problem, state: CutState) -> Advance:
        Z = cuts.scores_of(problem, state.W)
        found: list[Betas | None] = []
        for k in range(Z.shape[1]):
            if state.is_done[k]:
                found.append(None)
                continue
            betas, b = cuts.below(problem, Z[:, k], state.b[k], k)  # most violated constraint
            primal = cuts.objective(problem, state.W[:, k], Z[:, k], b, k)
            if primal < state.primal[k]:
                state.best[:, k], state.best_b[k], state.primal[k] = state.W[:, k], b, primal
            if state.paths:
                lam_path.see(problem, state, k, primal)
            found.append(betas)
        cuts.add(problem, state, found)                             # add it; solve
        for k, cut in enumerate(found):                             # solve at lam_t, too
            if state.paths and cut is not None:
                lam_path.lead(problem, state, k)
        return Advance(shape(problem.rows)[0], True, cuts.estimate(state))

    def iterate(self, problem: Problem, state: CutState) -> tuple[FloatArray, FloatArray]:
        return state.best.copy(), state.best_b.copy()

    def dual_point(self, problem: Problem, state: CutState) -> DualPoint:
        return cuts.dual_point(state)

    def leave_out(self, state: CutState, is_done: Any) -> None:
        """Add no more cuts to models that are done."""
        state.is_done = is_done
