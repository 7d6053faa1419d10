"""Continuation: to a small lam over larger ones, where coordinate ascent is lost from a cold start.

A step along row i can move a_i by about 1/q_i, q_i = s_i ||x_i||^2 / (lam S). Where q is large, the
first epochs go to and fro between rows that have much in common. Most data does not mind: text-like
rows at C = 1e4 take 31 passes to 1e-3, over larger lam 75. Other data takes thousands: Reuters
(money-fx), C = 1e4: 1,628 passes; with continuation 229.

So a run begins at its own lam. If after PATIENCE epochs, or up to twice as many, its estimate of
the gap is HOPELESS, it begins anew at a lam for which the typical q is 1, and goes on to one FACTOR
times smaller whenever the estimate is NEAR, with the dual numbers as they are: rows at a bound stay
there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem, typical_length

PATIENCE = 30  # epochs
HOPELESS = 0.5  # relative gap
NEAR = 0.3  # relative gap at which the next lam is taken on
LONGEST = 50  # epochs at one lam of the way
FACTOR = 10.0


@dataclass
class Continuation:
    """Where a run is: at the problem's own lam (`lam` None), or on its way there.

    `may_begin` is false for runs that are warm, and once the way was taken.
    """

    may_begin: bool
    epochs: int = 0  # at the present lam
    lam: float | None = None

    def now(self, problem: Problem) -> Problem:
        """Return the problem with the lam that the run is at."""
        return problem if self.lam is None else problem._replace(lam=self.lam)

    def must_begin_anew(self, problem: Problem, squares: FloatArray, estimate: float) -> bool:
        """Count an epoch that ended with an estimate; tell whether to take the way."""
        self.epochs += 1
        if not self.may_begin or not PATIENCE <= self.epochs <= 2 * PATIENCE:
            return False
        first = typical_length(problem, squares) ** 2 / problem.S
        if 0.0 <= estimate <= HOPELESS or first < FACTOR * problem.lam:
            return False
        self.may_begin, self.lam, self.epochs = False, first, 0
        return True

    def goes_on(self, problem: Problem, estimate: float) -> float:
        """Return by what the weights grow as the next lam is taken on: 1 to remain at this one."""
        if self.lam is None or not (0.0 <= estimate <= NEAR or self.epochs >= LONGEST):
            return 1.0
        before, self.epochs = self.lam, 0
        following = before / FACTOR
        self.lam = following if following > problem.lam else None
        return before / (self.lam or problem.lam)
