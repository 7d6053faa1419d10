"""Stochastic batch perceptron: supergradient ascent on the margin that a budget of slack allows.

Maximises   f(w) = max_xi min_i y_i <w, phi(x_i)> + xi_i,   ||w|| <= 1, xi >= 0, sum_i xi_i <= n nu

One row of the kernel matrix per step (`batch_steps`): a row that the slack is poured over. All
responses are maintained, so that a step knows which rows these are.

From lam to nu. The regularised problem has the same solution if nu = mean hinge of w* / ||w*||,
which is not known. But every direction w tells its own: the slack it uses at the length s that
minimises P_lam(s w). With the water level 1/s of the present w at every step (`best_level`), a step
is one on

    F(w) = min_s P_lam(s w),   along minus its gradient but for length, and but for the part along w

that the projection takes away. F is quasi-convex (docs/mathematics.md, section 13); so neither a
search for nu nor an outer loop is needed: nu follows w, and comes down to the right one with it.
(Holding nu until f is maximised and then revising it by the same formula leads there too, in many
times the steps.)

Given lam, what is handed out is certified for it. Given nu, it is w / gamma, the solution of a
problem whose lam is known afterwards: `BatchPerceptron.regularized` has that problem (`slack`).

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Algorithm 1, Lemma 2.1, Sec. 3.6 (bias).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.options import Options
from pegasos.problem.objective import Problem
from pegasos.solvers.batch_perceptron.models import (
    BatchPerceptronState,
    BatchRun,
    Sums,
    go_on_from,
    offer,
    relative_gap,
)
from pegasos.solvers.batch_perceptron.steps import (
    NOT_CHOSEN,
    KeptRows,
    Now,
    Rule,
    new_path,
    take_steps,
)
from pegasos.solvers.checks import check_choice
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import (
    check_is_hinge,
    check_slack_and_models,
    check_solver_and_weights,
)

VALUES_PER_CALL = 20_000_000  # of responses that one call of `advance` updates
KERNEL_VALUES = 4_000_000  # computed by one call, at most
AHEAD = 16  # rows of K computed together, at most
LIKELY = 0.2  # mass put on a row so far that makes it worth computing ahead
RANDOM_START = 8  # the first n/8 steps are at random: the first p* are too far from the last ones

GROWN = 1.05  # factor of the steps after which the gap, falling like 1/t, is looked at again

Choice = Literal["random", "deterministic"]
Step = Literal["curved", "root"]


@dataclass
class BatchPerceptron(Options, Solver):
    """Supergradient ascent on the slack-constrained margin, one row of the kernel matrix per step.

    For the hinge loss, without sample weights.

    Parameters
    ----------
    nu : float, optional
        Slack per row and unit of length of w: the mean hinge loss over ||w||. By default it is
        found from lam. If given, it takes the place of lam; from 0 (rows that can be separated) to
        below 2 sqrt(max_i K(x_i, x_i)), where slack covers all rows whatever w is. One model only.
    choice : {"random", "deterministic"}, default="random"
        Which of the rows under water a step is on: one at random, as in the paper, or the one most
        in arrears, which certifies many times more tightly.
    step : {"curved", "root"}, default="curved"
        The paper's eta_0/sqrt(t) throughout ("root"), or 1/(r t), r the curvature of the objective
        over the ball, once that is shorter.
    output : {"best", "average"}, default="best"
        The best model found on the line through two averages of the later steps, or the plain
        average of all steps: the paper's, alpha-bar / gamma if `nu` is given.

    Examples
    --------
    >>> from pegasos import KernelPegasosClassifier
    >>> solver = BatchPerceptron(choice="deterministic")
    >>> model = KernelPegasosClassifier(solver=solver, tol=0.01)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]).certificate_.is_within_tol
    True
    """

    nu: float | None = None
    choice: Choice = "random"
    step: Step = "curved"
    output: Literal["best", "average"] = "best"
    name: ClassVar[str] = "batch_perceptron"
    is_dual: ClassVar[bool] = False
    estimates_exactly: ClassVar[bool] = True

    @property
    def is_literal(self) -> bool:
        """Whether users ask for the plain average."""
        return self.output == "average"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_choice(self, "choice", ("random", "deterministic"))
        check_choice(self, "step", ("curved", "root"))
        check_choice(self, "output", ("best", "average"))
        is_number = isinstance(self.nu, int | float | np.number) and not isinstance(self.nu, bool)
        if self.nu is not None and not (is_number and 0.0 <= self.nu < np.inf):
            raise InvalidParameter(
                f"nu must be None, 0 or a positive number; got nu={self.nu!r}. Leave it out to "
                "have it found from C."
            )

    def start(self, problem: Problem, seed: int, previous: Any | None) -> BatchPerceptronState:
        self.check()
        self._refuse(problem)
        n, count = problem.costs.Y.shape
        nothing = Sums(0, np.zeros(n), np.zeros(n), np.zeros(n))
        state = BatchPerceptronState(
            runs=[
                BatchRun(
                    y=np.ascontiguousarray(problem.costs.Y[:, k]),
                    path=new_path(n, seed + (k << 32)),
                    now=Now(0, 0.0, 0.0, 0.0, NOT_CHOSEN),
                    marks=[nothing, nothing],
                )
                for k in range(count)
            ],
            nu=None if self.nu is None else float(self.nu),
            W=np.zeros((n, count)),
            A=np.zeros((n, count)),
            b=np.zeros(count),
            primal=np.full(count, np.inf),
            dual=np.zeros(count),
            is_plain=self.output == "average",
        )
        if previous is not None:
            go_on_from(problem, state, previous.coefficients(problem))
        return state

    def _refuse(self, problem: Problem) -> None:
        """Refuse what the method cannot do."""
        costs = problem.costs
        check_is_hinge(self.name, costs.loss)
        check_solver_and_weights(self.name, False, costs.weights.mask != 0)
        check_slack_and_models(self.nu, costs.Y.shape[1])
        if self.nu is None:
            return
        most = 2.0 * largest_norm(problem.rows)
        if self.nu >= most:
            raise InvalidParameter(
                f"nu must be less than 2 sqrt(max K(x, x)) = {most:.6g} for this kernel and these "
                f"rows; got nu={self.nu!r}. From there on slack covers all rows, whatever the "
                "model. Lower nu, or leave it out to have it found from C."
            )

    def advance(self, problem: Problem, state: BatchPerceptronState) -> Advance:
        return self.advance_by(problem, state, len(problem.costs.Y))

    def advance_by(self, problem: Problem, state: BatchPerceptronState, most: int) -> Advance:
        n, count = problem.costs.Y.shape
        k, done = state.place
        visited = (k * n + done) // count
        steps = min(n - done, max(1, VALUES_PER_CALL // n), most)
        if state.runs[k].can_move(problem.is_free):
            steps = walk(problem, state.runs[k], self, steps)
        state.steps += steps
        k, done = (k, done + steps) if done + steps < n else (k + 1, 0)
        state.place = (k % count, done)
        visited = (k * n + done) // count - visited
        if k < count:
            return Advance(visited, False)
        if state.steps >= GROWN * state.assessed:
            state.assessed, state.estimate = state.steps, relative_gap(problem, state)
        return Advance(visited, True, state.estimate)

    def iterate(
        self, problem: Problem, state: BatchPerceptronState
    ) -> tuple[FloatArray, FloatArray]:
        offer(problem, state)
        return state.W, state.b

    def dual_point(self, problem: Problem, state: BatchPerceptronState) -> DualPoint:
        offer(problem, state)
        return DualPoint(state.A, 1.0)

    def kernel_rows(self, state: BatchPerceptronState) -> int:
        """Return the steps of all models: each needs a row of the kernel matrix."""
        return state.steps

    def regularized(self, problem: Problem, state: BatchPerceptronState) -> Problem:
        """Return the problem that the run is certified for: with nu given, one of another lam."""
        offer(problem, state)
        return problem if state.implied_lam is None else problem._replace(lam=state.implied_lam)


def largest_norm(gram: Gram) -> float:
    """Return sqrt(max_i K(x_i, x_i))."""
    return float(np.sqrt(max(0.0, gram.diagonal.max())))


def walk(problem: Problem, run: BatchRun, options: BatchPerceptron, steps: int) -> int:
    """Take so many steps, or fewer if many rows of K had to be computed; return how many."""
    gram, start, n = problem.rows, run.steps, len(run.y)
    computed, stop = gram.evaluations, start + steps
    rule = Rule(
        amount=n * (problem.lam if options.nu is None else float(options.nu)),
        is_lam=options.nu is None,
        eta_0=1.0 / (largest_norm(gram) or 1.0),                              # [CSS12] Alg. 1: 1
        is_curved=options.step == "curved",
        is_free=problem.is_free,
        random_steps=2**62 if options.choice == "random" else n // RANDOM_START,
    )
    while run.steps < stop and gram.evaluations <= computed + KERNEL_VALUES:
        pause = min(stop, run.next_turn)
        rows = KeptRows(gram.store, gram.slot_of, gram.last_use, gram.diagonal, gram.clock)
        run.now = take_steps(rows, run.y, run.path, rule, run.now, pause - run.steps)
        if run.now.i != NOT_CHOSEN:
            gram.hold(next_rows(gram, run))
        elif run.steps == run.next_turn:
            run.turn()
    return run.steps - start


def next_rows(gram: Gram, run: BatchRun) -> Any:
    """Return the row that the next step is on, and missing ones that are likely to follow soon.

    A block of rows of K costs little more than a single one.
    """
    likely = np.flatnonzero((gram.slot_of < 0) & (run.path.p_sum > LIKELY))
    likely = likely[likely != run.now.i]
    most = min(AHEAD - 1, gram.capacity // AHEAD)
    if len(likely) > most:
        likely = likely[np.argsort(-run.path.p_sum[likely], kind="stable")[:most]]
    return np.append(likely, run.now.i)
