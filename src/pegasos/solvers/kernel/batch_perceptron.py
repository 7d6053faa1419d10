"""Stochastic batch perceptron: supergradient ascent on the margin that a budget of slack allows.

Maximises   f(w) = max_xi min_i y_i <w, phi(x_i)> + xi_i,   ||w|| <= 1, xi >= 0, sum_i xi_i <= n nu

One row of the kernel matrix per step (`batch_steps`): a row that the slack is poured over. All
responses are maintained, so a step knows which rows these are. Dual feasibility is not maintained,
and a step is never longer than the paper says: far fewer rows of K are computed than elsewhere.

From lam to nu. The regularised problem has the same solution if nu = mean hinge of w* / ||w*||,
which is not known. But every direction w tells its own best: at the length s that minimises
P_lam(s w), the slack used per row and unit of length. That is the nu of the coming steps, revised
every few of them. With it, a step is one on

    F(w) = min_s P_lam(s w),   along minus its gradient but for length and the part along w,

which the projection takes out. F is quasi-convex, for the w with F(w) <= rho are the cone over a
convex level set of P_lam; so there is no search for nu and no outer loop: nu follows w, and comes
down to the right one with it. (A nu held until f is maximised and then revised by the same formula
comes down too, but in many more steps.)

What is handed out is an average of w over the later steps, and what certifies it the average of the
adversary's p*, capped (`slack`) and confined to rows that were stepped on: these rows of K have been
paid for. Given lam, the average is scaled to its best length. Given nu, it is w / gamma, solution of
the problem with the lam that the pair implies: `BatchPerceptron.regularized` has that problem.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Algorithm 1, Lemma 2.1, Sec. 3.6 (bias).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.gram import Gram
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import Problem
from pegasos.solvers.checks import check_choice
from pegasos.solvers.kernel.batch_steps import (
    NOT_CHOSEN,
    KeptRows,
    Now,
    Path,
    Rule,
    new_path,
    take_steps,
)
from pegasos.solvers.kernel.slack import (
    basin,
    bounds_of,
    curves,
    duals_for_lam,
    duals_for_nu,
    level,
    volume_below,
)
from pegasos.solvers.kernel.water import balanced_water_level
from pegasos.solvers.protocol import Advance, DualPoint

FIRST_TURN = 32  # steps before averages first leave the earliest ones out
VALUES_PER_CALL = 20_000_000  # of responses that one call of `advance` updates
AHEAD = 16  # rows of K computed together, at most
LIKELY = 0.2  # expected steps on a row that make it worth computing ahead
KERNEL_VALUES = 4_000_000  # computed by one call, at most

Choice = Literal["random", "deterministic"]
Step = Literal["curved", "root"]


@dataclass
class Sums:
    """Sums over the steps of a run up to some step; differences are averages over later ones."""

    steps: int
    alpha: FloatArray
    c: FloatArray
    p: FloatArray


@dataclass
class Run:
    """One model: its path, where it stands, and the two steps since which averages are taken.

    Whenever the steps have doubled, the later of the two takes the place of the earlier.
    """

    y: FloatArray
    path: Path
    now: Now
    marks: list[Sums]
    first: int = 0  # steps that an earlier run counts for

    @property
    def steps(self) -> int:
        """Return the steps of this run."""
        return self.now.t - self.first

    def sums(self) -> Sums:
        return Sums(
            self.steps, self.path.alpha_sum.copy(), self.path.c_sum.copy(), self.path.p_sum.copy()
        )


@dataclass
class BatchPerceptronState:
    """A run: models one after the other, and what was last handed out.

    `W`, `A` of shape (n, K) are weights and dual numbers, `b` (K,) biases, made after `made` steps.
    `implied_lam` is the lam of the problem they are for, if nu was given.
    """

    runs: list[Run]
    nu: float | None
    W: FloatArray
    A: FloatArray
    b: FloatArray
    primal: FloatArray
    implied_lam: float | None = None
    made: int = -1
    steps: int = 0
    place: tuple[int, int] = field(default=(0, 0))  # the model whose epoch it is; steps into it

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, K): where a warm start goes on from."""
        offer(problem, self)
        return self.W


@dataclass
class BatchPerceptron(Options):
    """Supergradient ascent on the slack-constrained margin, one row of the kernel matrix per step.

    For the hinge loss without sample weights.

    Parameters
    ----------
    nu : float, optional
        Slack per row and unit of length of w: the mean hinge loss over ||w||. By default it is
        found from lam. If given, it takes the place of lam: from 0 (separable rows only) to below
        2 sqrt(max_i K(x_i, x_i)), from where on slack covers all rows whatever w is. One model only.
    choice : {"random", "deterministic"}, default="random"
        Which of the rows under water a step is on: one at random, as in the paper, or the one that
        is most in arrears, which certifies several times more tightly; the seed then plays no part.
    step : {"curved", "root"}, default="curved"
        Steps 1/(r t), r the curvature of the objective over the ball, once they are shorter than
        the paper's 1/sqrt(t) ("root").
    """

    nu: float | None = None
    choice: Choice = "random"
    step: Step = "curved"
    name: ClassVar[str] = "batch_perceptron"
    is_dual: ClassVar[bool] = False
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_choice(self, "choice", ("random", "deterministic"))
        check_choice(self, "step", ("curved", "root"))
        is_number = isinstance(self.nu, int | float | np.number) and not isinstance(self.nu, bool)
        if self.nu is not None and not (is_number and 0.0 <= self.nu < np.inf):
            raise InvalidParameter(
                f"nu must be None, 0 or a positive number; got nu={self.nu!r}. Without it, nu is "
                "found from C."
            )

    def start(self, problem: Problem, seed: int, previous: Any | None) -> BatchPerceptronState:
        self.check()
        self._refuse(problem)
        n, K = problem.costs.Y.shape
        nu = None if self.nu is None else float(self.nu)
        runs = []
        for k in range(K):
            path = new_path(n, (seed + (k << 32)) % 2**64)
            now = Now(0, 0.0, 0.0, 0.0, NOT_CHOSEN)
            nothing = Sums(0, np.zeros(n), np.zeros(n), np.zeros(n))
            y = np.ascontiguousarray(problem.costs.Y[:, k])
            runs.append(Run(y, path, now, [nothing, nothing]))
        zeros = np.zeros((n, K))
        state = BatchPerceptronState(
            runs, nu, zeros.copy(), zeros.copy(), np.zeros(K), np.full(K, np.inf)
        )
        if previous is not None:
            go_on_from(problem, state, previous.coefficients(problem))
        return state

    def _refuse(self, problem: Problem) -> None:
        """Refuse what the method cannot do."""
        if not isinstance(problem.costs.loss, Hinge):
            raise InvalidParameter(
                f'batch_perceptron is for loss="hinge"; got loss={problem.costs.loss!r}. Use '
                'solver="sdca" or "pegasos", which take every loss.'
            )
        if problem.costs.weights.mask != 0:
            raise InvalidParameter(
                "batch_perceptron has no sample weights or class weights; use "
                'solver="decomposition", or leave the weights out.'
            )
        if self.nu is None:
            return
        if problem.costs.Y.shape[1] > 1:
            raise InvalidParameter(
                f"nu={self.nu!r} is the slack of one model, and there are "
                f"{problem.costs.Y.shape[1]}. Leave nu out: it is then found for each from C."
            )
        most = 2.0 * largest_norm(problem.rows)
        if self.nu >= most > 0.0:
            raise InvalidParameter(
                f"nu must be less than 2 sqrt(max K(x, x)) = {most:.6g} for this kernel and these "
                f"rows; got nu={self.nu!r}. From there on slack covers all rows, whatever the "
                "model. Lower nu, or leave it out: it is then found from C."
            )

    def advance(self, problem: Problem, state: BatchPerceptronState) -> Advance:
        n, K = problem.costs.Y.shape
        k, done = state.place
        before = (k * n + done) // K
        steps = min(n - done, max(1, VALUES_PER_CALL // n))
        if can_move(problem, state.runs[k]):
            steps = walk(problem, state.runs[k], self, steps)
        state.steps += steps
        k, done = (k, done + steps) if done + steps < n else (k + 1, 0)
        visited = (k * n + done) // K - before
        state.place = (k % K, done)
        if k < K:
            return Advance(visited, False)
        return Advance(visited, True, relative_gap(problem, state))

    def iterate(
        self, problem: Problem, state: BatchPerceptronState
    ) -> tuple[FloatArray, FloatArray]:
        offer(problem, state)
        return state.W, state.b

    def dual_point(self, problem: Problem, state: BatchPerceptronState) -> DualPoint:
        offer(problem, state)
        return DualPoint(state.A, 1.0)

    def regularized(self, problem: Problem, state: BatchPerceptronState) -> Problem:
        """Return the problem that the run is certified for: with nu given, one of another lam."""
        offer(problem, state)
        return problem if not state.implied_lam else problem._replace(lam=state.implied_lam)


def largest_norm(gram: Gram) -> float:
    """Return sqrt(max_i K(x_i, x_i))."""
    return float(np.sqrt(max(0.0, gram.diagonal.max())))


def can_move(problem: Problem, run: Run) -> bool:
    """Whether there is anything to learn: a free bias alone serves rows of a single class."""
    return not problem.is_free or bool((run.y > 0.0).any() and (run.y < 0.0).any())


def go_on_from(problem: Problem, state: BatchPerceptronState, B: FloatArray) -> None:
    """Start from other models, scaled to length 1; they count for an epoch of steps."""
    Z = np.zeros_like(B)
    problem.rows.add_scores(B, Z)
    for k, run in enumerate(state.runs):
        length = np.sqrt(max(0.0, float(B[:, k] @ Z[:, k])))
        if length > 0.0:
            run.path.alpha[:] = run.y * B[:, k] / length
            run.path.c[:] = run.y * Z[:, k] / length
            run.first = len(run.y)
            run.now = run.now._replace(t=run.first, square=1.0)


def walk(problem: Problem, run: Run, options: BatchPerceptron, steps: int) -> int:
    """Take so many steps, or fewer if many rows of K had to be computed; return how many."""
    gram, start, n = problem.rows, run.steps, len(run.y)
    computed, stop = gram.evaluations, start + steps
    rule = Rule(
        amount=n * (problem.lam if options.nu is None else float(options.nu)),
        is_lam=options.nu is None,
        eta_0=1.0 / (largest_norm(gram) or 1.0),                               # [CSS12] Alg. 1: 1
        is_curved=options.step == "curved",
        is_free=problem.is_free,
        is_random=options.choice == "random",
    )
    while run.steps < stop and gram.evaluations < computed + KERNEL_VALUES:
        pause = min(stop, max(FIRST_TURN, 2 * run.marks[1].steps))
        rows = KeptRows(gram.store, gram.slot_of, gram.last_use, gram.diagonal, gram.clock)
        run.now = Now(*take_steps(rows, run.y, run.path, rule, run.now, pause - run.steps))
        if run.now.i != NOT_CHOSEN:
            gram.hold(next_rows(gram, run))
        elif run.steps >= max(FIRST_TURN, 2 * run.marks[1].steps):
            run.marks = [run.marks[1], run.sums()]
    return run.steps - start


def next_rows(gram: Gram, run: Run) -> Any:
    """Return the row that the next step is on, and missing ones that are likely to follow soon.

    A block of rows of K costs little more than one. Likely are those that p* has put most mass on.
    """
    likely = np.flatnonzero((gram.slot_of < 0) & (run.path.p_sum > LIKELY))
    likely = likely[likely != run.now.i]
    if len(likely) > AHEAD - 1:
        likely = likely[np.argpartition(-run.path.p_sum[likely], AHEAD - 2)[: AHEAD - 1]]
    return np.append(likely, run.now.i)[-gram.capacity :]


def offer(problem: Problem, state: BatchPerceptronState) -> None:
    """Bring what is handed out up to date."""
    if state.made == state.steps:
        return
    for k, run in enumerate(state.runs):
        if run.steps > 0:
            if state.nu is None:
                offer_for_lam(problem, state, k)
            else:
                offer_for_nu(problem, state)
    state.made = state.steps


def averages(run: Run) -> list[tuple[FloatArray, FloatArray, float]]:
    """Return alpha, c and ||w||^2 of the averages since both marks; c and alpha of one each."""
    total, found = run.sums(), []
    for mark in run.marks:
        steps = total.steps - mark.steps
        if steps > 0:
            alpha, c = (total.alpha - mark.alpha) / steps, (total.c - mark.c) / steps
            found.append((alpha, c, max(0.0, float(alpha @ c))))
    return found


def stepped_on(run: Run) -> FloatArray:
    """Return the sum of the p*_t since the earlier mark, on rows that were ever stepped on."""
    p = run.path.p_sum - run.marks[0].p
    return np.where((run.path.count > 0.0) & (p > 0.0), p, 0.0)


def offer_for_lam(problem: Problem, state: BatchPerceptronState, k: int) -> None:
    """Choose the average whose best multiple has the least P_lam, and duals to go with it."""
    run, lam, n = state.runs[k], problem.lam, len(state.W)
    best: Any = None
    for alpha, c, square in averages(run):
        columns = basin(c, run.y, problem.is_free)
        s = 1.0 / best_length_level(c, run.y, problem.is_free, n * lam * square)
        slack = s * volume_below(columns, 1.0 / s) if s > 0.0 else columns.times * len(columns.sums)
        primal = 0.5 * lam * s**2 * square + slack / n
        if best is None or primal < best[0]:
            best = primal, s, alpha, c, square
    primal, s, alpha, c, square = best
    state.primal[k] = primal
    state.W[:, k] = s * run.y * alpha
    state.b[k] = s * bias_of(c, run.y, 1.0 / s) if s > 0.0 and problem.is_free else 0.0
    some = curves(stepped_on(run), c, run.y, problem.is_free)
    state.A[:, k] = run.y * duals_for_lam(some, n, lam, square)


def offer_for_nu(problem: Problem, state: BatchPerceptronState) -> None:
    """Choose the w with the largest value, of norm 1 where that is better, and p to go with it."""
    run, n = state.runs[0], len(state.W)
    best: Any = None
    for alpha, c, square in averages(run):
        columns, length = basin(c, run.y, problem.is_free), np.sqrt(square)
        for scale in (1.0, 1.0 / length) if square > 0.0 else ():
            lifted = columns._replace(heights=scale * columns.heights, sums=scale * columns.sums)
            gamma = level(lifted, n * state.nu)
            if best is None or gamma > best[0]:
                best = gamma, scale, length, alpha, c
    if best is None or best[0] <= 0.0:
        return
    gamma, scale, length, alpha, c = best
    b = duals_for_nu(curves(stepped_on(run), c, run.y, problem.is_free), n, state.nu, length**2)
    if not b.any():
        return
    Z = np.zeros((n, 1))
    problem.rows.add_scores((b * run.y)[:, None], Z)
    p, square = b / b.sum(), float((b * run.y) @ Z[:, 0]) / float(b.sum()) ** 2
    lam = bounds_of(gamma, scale * length, p, square, n * state.nu).lam
    s = scale / gamma
    state.implied_lam = lam
    state.primal[0] = 0.5 * lam * (s * length) ** 2 + state.nu / gamma
    state.W[:, 0], state.A[:, 0] = s * run.y * alpha, run.y * b
    state.b[0] = s * bias_of(c, run.y, 1.0 / s) if problem.is_free else 0.0


def bias_of(c: FloatArray, y: FloatArray, gamma: float) -> float:
    """Return the best free bias for responses c with water up to gamma."""
    volume = volume_below(basin(c, y, True), gamma)
    return float(balanced_water_level(c, y, volume, np.empty_like(c)).b)


def relative_gap(problem: Problem, state: BatchPerceptronState) -> float:
    """Return the largest relative gap of the models handed out, as their responses tell it."""
    offer(problem, state)
    lam, n = state.implied_lam or problem.lam, len(state.W)
    F = np.zeros_like(state.A)
    problem.rows.add_scores(state.A, F)
    gains = np.einsum("ik,ik->k", problem.costs.Y, state.A) / n
    dual = gains - np.einsum("ik,ik->k", state.A, F) / (2.0 * lam * n**2)
    ratio = np.divide(state.primal - dual, dual, out=np.full(len(dual), np.inf), where=dual > 0.0)
    moving = [can_move(problem, run) for run in state.runs]
    return float(max(ratio[moving], default=0.0))
