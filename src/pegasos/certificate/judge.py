"""The judge of a run: certifies what a solver offers and keeps the best of each model."""

from __future__ import annotations

import numpy as np

from pegasos.certificate.gap import Evaluation, evaluate, losses_at_zero, negative_slopes
from pegasos.certificate.stopping import relative
from pegasos.data.rows import FloatArray, shape
from pegasos.problem.losses import is_smooth
from pegasos.problem.objective import Problem

ROUNDING = 1e-13  # of the loss of w = 0: an objective below is taken for 0


class Judge:
    """Best model and best lower bound so far, each model on its own.

    Attributes
    ----------
    W, b : ndarray of shape (d, K), (K,)
        The models with the smallest gap so far.
    primal, gap, distance, hidden : ndarray of shape (K,)
        Their objective, gap and ||w - w(a)||^2 when certified; what rounding adds to the gap.
    dual : ndarray of shape (K,)
        The largest lower bound seen, whichever dual point gave it.
    has_scores : bool
        Whether `scratch` (n, K) holds the scores <w, x_i> of `W`.
    """

    def __init__(self, problem: Problem) -> None:
        n, d = shape(problem.rows)
        K = problem.costs.Y.shape[1]
        self.problem = problem
        self.scratch = np.zeros((n, K))
        self.nothing = ROUNDING * losses_at_zero(problem, self.scratch)
        self.W, self.b = np.zeros((d, K)), np.zeros(K)
        self.primal, self.gap = np.full(K, np.inf), np.full(K, np.inf)
        self.dual, self.dual_of_gap = np.full(K, -np.inf), np.full(K, -np.inf)
        self.distance, self.hidden = np.zeros(K), np.zeros(K)
        self.has_judged = self.has_scores = False

    def assess(
        self,
        dual_point: tuple[FloatArray, float] | None,
        iterate: tuple[FloatArray, FloatArray] | None,
        tries_slopes: bool,
        accuracy: float,
    ) -> None:
        """Certify an offer and keep what is better; see `evaluations`."""
        for evaluation in self.evaluations(dual_point, iterate, tries_slopes, accuracy):
            self.keep_better(evaluation)

    def evaluations(
        self,
        dual_point: tuple[FloatArray, float] | None,
        iterate: tuple[FloatArray, FloatArray] | None,
        tries_slopes: bool,
        accuracy: float,
    ) -> list[Evaluation]:
        """Evaluate an offer: raw duals (A, scale), weights to hand out, or both; keep nothing.

        With `tries_slopes`, or without a dual point, minus the slopes at the weights serve as dual
        point too: always feasible, and the tightest choice for smooth losses.
        """
        hint = self.b if self.has_judged else None
        W, b = iterate if iterate is not None else (self.W, self.b)
        found = []
        self.has_scores = False
        if dual_point is not None:
            found.append(evaluate(self.problem, *dual_point, self.scratch, iterate, accuracy, hint))
            W, b = found[0].W, found[0].b
        if dual_point is None or (tries_slopes and is_smooth(self.problem.costs.loss)):
            A, b = negative_slopes(self.problem, W, b, self.scratch, accuracy)
            found.append(evaluate(self.problem, A, 1.0, self.scratch, (W, b), accuracy, b))
        return found

    def keep_better(self, new: Evaluation) -> None:
        better = new.gap < self.gap
        if not self.has_judged:
            better[:] = True
        self.has_judged = True
        self.dual = np.fmax(self.dual, new.dual)
        self.has_scores = bool(better.all())
        if self.has_scores:  # the usual case, without a copy of the weights
            self.W = new.W
        elif better.any():
            self.W[:, better] = new.W[:, better]
        for name in ("b", "primal", "gap", "distance", "hidden"):
            setattr(self, name, np.where(better, getattr(new, name), getattr(self, name)))
        self.dual_of_gap = np.where(better, new.dual, self.dual_of_gap)

    def certified_gap(self) -> FloatArray:
        """Return primal minus the best dual, without cancellation."""
        return np.maximum(0.0, self.gap - (self.dual - self.dual_of_gap))

    def is_hidden_by_rounding(self, tol: float) -> bool:
        """Whether the gap would be within `tol` but for the rounding of kernel values."""
        rest = np.maximum(0.0, self.certified_gap() - self.hidden)
        found = relative(rest, self.primal, self.dual, self.nothing)
        return bool(self.hidden.any() and found.max() <= 0.1 * tol)

    def relative_gap(self) -> FloatArray:
        """Return the proven relative gap of every model."""
        return relative(self.certified_gap(), self.primal, self.dual, self.nothing)
