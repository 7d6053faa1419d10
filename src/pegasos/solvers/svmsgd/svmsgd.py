"""SVMSGD: stochastic gradient descent that shrinks its weights every few rows only.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i max(0, 1 - y_i (<w, x_i> + b))

    eta = 1/(lam (t + t_0));   if y_i <w, x_i> < 1:  w <- w + eta y_i x_i
    every `skip` rows:         w <- (1 - skip eta lam) w

The gradient has a part that is sparse, the row's, and one that is not, lam w. To shrink w seldom
makes the second cost as little as the first, at a price of order eta^2. t_0 keeps the first steps
from being too long: it is found on a sample, as the constant step that does best there.

The software is not at hand: this is the rule as it is known, with a search for t_0 of our own. Rows
come in a new random permutation per epoch, where [Bot07] takes them as they are ([PT13]).

[Bot07]  Bottou. SVMSGD, software, 2007.
[PT13]   Panagiotakopoulos, Tsampouka. The stochastic gradient descent for the primal L1-SVM
         optimization revisited. ECML PKDD 2013. Table 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pegasos.data.rows import AHEAD, add, fetch
from pegasos.dispatch import inlined, kernel
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.offsets import centred
from pegasos.solvers.refusals import check_is_hinge
from pegasos.solvers.svmsgd import run as runs
from pegasos.solvers.svmsgd.run import (
    COUNT,
    SINCE,
    T0,
    N,
    SkippingSolver,
    SkipState,
    any_of,
    is_due,
    tick,
    write_duals,
)


@dataclass
class SVMSGD(SkippingSolver):
    """Stochastic gradient descent with steps 1/(lam (t + t0)) and seldom shrinking.

    Parameters
    ----------
    skip : int or None, default=None
        Rows between two shrinkings of the weights. None: as many as store eight values per feature.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=SVMSGD(), tol=0.1, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    name: ClassVar[str] = "svmsgd"

    def start(self, problem: Problem, seed: int, previous: Any | None) -> SkipState:
        check_is_hinge(self.name, problem.costs.loss)
        problem, _ = centred(problem)
        state, skip = runs.start(problem, seed, previous), runs.skip_of(problem, self.skip)
        state.clock[T0] = runs.find_t0(
            problem, state, lambda run, order: svmsgd_pass(problem, order, skip, run)
        )
        return state

    def _steps(self, problem: Problem, order: Any, state: SkipState) -> None:
        svmsgd_pass(problem, order, runs.skip_of(problem, self.skip), runs.run_of(state))


@kernel
def svmsgd_pass(problem, order, skip, run):  # type: ignore[no-untyped-def]
    """Take a step on each row of `order`; `run` changes."""
    lam, clock, last = problem.lam, run.clock, len(order) - 1
    rows_per_weight = problem.costs.Y.shape[0] / problem.S
    for p in range(len(order)):
        i = order[p]
        fetch(problem.rows, order[min(p + AHEAD, last)])
        s = rows_per_weight * weight(problem.costs.weights, i)
        if s == 0.0:
            continue
        eta = 1.0 / (lam * (clock[N] + clock[T0]))              # eta = 1/(lam (t + t_0))
        write_duals(problem, i, run)                           # y <w, x> < 1 ?
        if any_of(run.a):
            step(problem, i, eta * s, run)                     # w <- w + eta y x
        tick(clock, s)                                         # t <- t + 1
        if is_due(clock, skip, lam, eta):
            shrink(run, 1.0 - lam * eta * clock[SINCE])        # w <- (1 - skip eta lam) w


@inlined
def step(problem, i, eta, run):  # type: ignore[no-untyped-def]
    """Add eta a x_i to the weights; run.a is overwritten."""
    for m in range(len(run.a)):
        run.a[m] *= eta
        run.beta[m] += run.scale * run.a[m]
    add(problem.rows, i, run.a, run.W)


@inlined
def shrink(run, factor):  # type: ignore[no-untyped-def]
    """Multiply the weights by a factor, not below 0."""
    multiply(run.W, max(0.0, factor))
    multiply(run.beta, max(0.0, factor))
    run.clock[SINCE], run.clock[COUNT] = 0.0, 0.0


@inlined
def multiply(W, factor):  # type: ignore[no-untyped-def]
    """Multiply weights, (d,) or (d, K), by a factor."""
    for j in range(W.shape[0]):
        if W.ndim == 1:
            W[j] *= factor
        else:
            for m in range(W.shape[1]):
                W[j, m] *= factor
