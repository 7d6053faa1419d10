"""The judge of a run: certifies what a solver offers and keeps the best of each model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.certificate.gap import Evaluation, Point, evaluate, negative_slopes
from pegasos.certificate.offer import Offer, means_for
from pegasos.certificate.stopping import relative
from pegasos.data.rows import FloatArray, shape
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_losses import models, summed
from pegasos.problem.line import best_steps
from pegasos.problem.losses import is_smooth
from pegasos.problem.objective import Problem

CHEAP = 0.2  # of the kernel values of a fit: what computing all scores anew may cost
ON_LINES = 0.01  # of the target: how far from its best a point on a line may be
SEARCHES_FROM = 3  # certificates of a primal method before lines are searched
TOO_COARSE = 10.0  # times `tol`: what rounding hides if the optimum of coarse values is too far


@dataclass(init=False, eq=False)
class Judge:
    """Best model and best lower bound so far, each model on its own.

    What is of the latest offer is of use until the solver goes on; it is not saved.

    Attributes
    ----------
    latest : Evaluation
        The latest, whether it was better or not.
    point : Point or None
        Its dual point, for as long as the solver has not gone on and changed its numbers.
    W, b : ndarray of shape (d, K), (K,)
        The models with the smallest gap so far; those of a joint loss are one model, and K is 1
        in what follows.
    primal, gap, distance, hidden : ndarray of shape (K,)
        Their objective, gap and ||w - w(a)||^2 when certified; what rounding adds to the gap.
    dual : ndarray of shape (K,)
        The largest lower bound seen, whichever dual point gave it.
    audited : ndarray of shape (K,)
        Rows that their scores were tested on; 0 where all were computed from the data.
    is_latest : ndarray of shape (K,)
        Which models are of the latest offer.
    has_scores : bool
        Whether `scratch` (n, K) holds the scores <w, x_i> of `W`.
    """

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        _, d = shape(problem.rows)
        outputs = problem.costs.Y.shape[1]
        K = models(problem.costs.loss, outputs)
        self.problem, self.seed = problem, seed
        self.latest: Evaluation
        self.point: Point | None = None
        self.means = means_for(problem, seed)
        self.W, self.b = np.zeros((d, outputs)), np.zeros(outputs)
        self.primal, self.gap = np.full(K, np.inf), np.full(K, np.inf)
        self.dual, self.dual_of_gap = np.full(K, -np.inf), np.full(K, -np.inf)
        self.distance, self.hidden = np.zeros(K), np.zeros(K)
        self.audited = np.zeros(K, dtype=np.int64)
        self.has_judged = self.has_scores = False
        self.is_latest = np.zeros(K, dtype=np.bool_)
        self.searched = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is of the latest offer."""
        fields = {**vars(self), "point": None, "has_scores": False}
        fields["means"] = self.means._replace(scratch=np.zeros((0, 0)))
        fields.pop("latest", None)
        return fields

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        self.means = self.means._replace(scratch=np.zeros(self.problem.costs.Y.shape))

    @property
    def scratch(self) -> FloatArray:
        """Room for scores, (n, K)."""
        return self.means.scratch

    def evaluations(
        self, offer: Offer, tries_slopes: bool, accuracy: float, target: float = 0.0
    ) -> list[Evaluation]:
        """Evaluate an offer; keep nothing.

        With `tries_slopes`, or without a dual point, minus the slopes at the weights serve as dual
        point too: always feasible, and the tightest choice for smooth losses. Where rounding alone
        keeps the relative gap above `target`, it is looked at more closely.
        """
        hint = self.b if self.has_judged else None
        W, b = offer.iterate if offer.iterate is not None else (self.W, self.b)
        found = []
        self.has_scores, self.is_latest = False, np.zeros_like(self.is_latest)
        if offer.A is not None:
            found.append(evaluate(self.problem, offer, self.means, accuracy, hint, target))
            W, b = found[0].W, found[0].b
            is_enough = offer.is_final or np.all(found[0].gap <= target * found[0].dual)
            if tries_slopes and not is_enough:
                found += self._on_lines(offer, found[0], accuracy, target)
                W, b = found[-1].W, found[-1].b
        if offer.A is None or (tries_slopes and is_smooth(self.problem.costs.loss)):
            A, best = negative_slopes(self.problem, W, b, self.means, accuracy)
            b = b if offer.is_final else best
            offer = Offer(A, iterate=(W, b), is_final=offer.is_final)
            found.append(evaluate(self.problem, offer, self.means, accuracy, b, target))
        return found

    def _on_lines(
        self, offer: Offer, new: Evaluation, accuracy: float, target: float
    ) -> list[Evaluation]:
        """Look for better weights between the best so far and the new ones, then on the ray.

        A primal method's dual point may be near the optimum long before its weights are. This takes
        three passes over the features, so it is left for runs that take long.
        """
        self.searched += 1
        space = geometry(self.problem.rows)
        if self.searched < SEARCHES_FROM or space.is_expansion:
            return []
        Z, D = self.scratch, np.empty_like(self.scratch)
        space.write_scores(self.W, D)
        D -= Z
        V, c = self.W - new.W, self.b - new.b
        loss = self.problem.costs.loss
        across = summed(loss, np.einsum("jk,jk->k", new.W, V))
        along = summed(loss, np.einsum("jk,jk->k", V, V))
        exactly = ON_LINES * target * float(new.primal.min())
        u = best_steps(self.problem, (Z, D), (new.b, c), (across, along), exactly)
        Z += u * D
        W, b = new.W + u * V, new.b + u * c
        square = summed(loss, np.einsum("jk,jk->k", W, W))
        t = 1.0 + best_steps(self.problem, (Z, Z), (b, b), (square, square), exactly)
        t = np.where(t > 0.0, t, 1.0)
        offer = offer._replace(iterate=(W * t, b * t))
        return [evaluate(self.problem, offer, self.means, accuracy, b * t, target)]

    def keep_better(self, new: Evaluation) -> None:
        """Keep the models with smaller gaps and the larger bounds; sums that overflow are none."""
        gap, dual = proven(new)
        better = gap < self.gap
        if not self.has_judged:
            better[:] = True
        self.has_judged = True
        self.dual = np.maximum(self.dual, dual)
        self._take(new, gap, dual, better)

    def forget_models(self) -> None:
        """Let the next models be kept, whatever they are worth; lower bounds stay."""
        self.gap, self.has_judged = np.full_like(self.gap, np.inf), False

    def recompute(self, offer: Offer, tol: float) -> None:
        """Certify the latest offer from the data alone, where that costs little beside the fit.

        What its models claimed by scores that were only audited is withdrawn, though a gap may turn
        out larger; models of earlier offers give way if these are good enough.
        """
        rows, taken = self.problem.rows, self.is_latest
        if not self.audited.any() or offer.A is None:  # nothing but kernel matrices is audited
            return
        if rows.values_lacking(self.W) > CHEAP * rows.evaluations:
            return
        (new,) = self.evaluations(offer._replace(scores=None), False, 0.0, tol)
        gap, dual = proven(new)
        taken = taken | (gap <= self.gap) | (gap <= tol * dual)
        self._take(new, gap, dual, taken)
        self.dual = np.where(taken, dual, self.dual)

    def _take(self, new: Evaluation, gap: FloatArray, dual: FloatArray, better: Any) -> None:
        self.has_scores, self.is_latest = bool(better.all()), self.is_latest | better
        if self.has_scores:  # the usual case, without a copy of the weights
            self.W = new.W
        elif better.any():
            self.W[:, better] = new.W[:, better]
        self.latest, self.point = new, new.point
        self.b = np.where(better, new.b, self.b)
        self.primal = np.where(better, new.primal, self.primal)
        self.distance = np.where(better, new.distance, self.distance)
        self.hidden = np.where(better, new.hidden, self.hidden)
        self.audited = np.where(better, new.audited, self.audited)
        self.gap = np.where(better, gap, self.gap)
        self.dual_of_gap = np.where(better, dual, self.dual_of_gap)

    def is_blurred(self, tol: float) -> bool:
        """Whether kernel values are too coarse for `tol`: wider ones would prove more.

        Either what decides was computed exactly, and the optimum of coarse values is too far from
        the true one; or rounding hides so much that it must be, or all that is left.
        """
        latest = self.latest
        if not geometry(self.problem.rows).can_be_wider:
            return False
        rest = latest.gap - latest.hidden
        is_coarse = latest.hidden > TOO_COARSE * tol * (latest.primal - rest)
        is_coarse |= rest <= tol * (latest.primal - rest)  # rounding is all that is left
        return bool(np.any((latest.gap > tol * latest.dual) & (latest.is_sharp | is_coarse)))

    def certified_gap(self) -> FloatArray:
        """Return primal minus the best dual, without cancellation."""
        with np.errstate(invalid="ignore"):  # nothing is known: infinite
            gap = self.gap - (self.dual - self.dual_of_gap)
        return np.where(np.isfinite(self.gap), np.maximum(0.0, gap), np.inf)

    def bare_relative_gap(self) -> FloatArray:
        """Return the latest relative gap without room for rounding: what a solver can mend."""
        bare, primal = self.latest.gap - self.latest.hidden, self.latest.primal
        return relative(bare, primal, primal - bare)

    def is_hidden_by_rounding(self, tol: float) -> bool:
        """Whether the latest gap would be within `tol` but for rounding."""
        return bool(self.latest.hidden.any() and self.bare_relative_gap().max() <= 0.1 * tol)

    def relative_gap(self) -> FloatArray:
        """Return the proven relative gap of every model."""
        return relative(self.certified_gap(), self.primal, self.dual)


def proven(new: Evaluation) -> tuple[FloatArray, FloatArray]:
    """Return gaps and lower bounds; sums that overflow prove nothing."""
    is_known = np.isfinite(new.gap) & np.isfinite(new.primal) & np.isfinite(new.dual)
    return np.where(is_known, new.gap, np.inf), np.where(is_known, new.dual, -np.inf)
