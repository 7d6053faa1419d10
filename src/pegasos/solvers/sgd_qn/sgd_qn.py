"""SGD-QN: SVMSGD with a step size of its own for every coordinate, learnt from curvature.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i max(0, 1 - y_i (<w, x_i> + b))

    if y_i <w, x_i> < 1:   w <- w + B y_i x_i                        B diagonal: the gains
    every `skip` rows:     w <- w - skip lam B w,  and with the next row
                           1/B_jj <- 1/B_jj + (rows since) h_j

h_j = (g_j(w) - g_j(v)) / (w_j - v_j) is the curvature that this row's gradient g shows between the
weights v before the shrinking and w now: lam, and more where the row has changed sides of its
margin. A row that has not tells nothing about the loss; the next one that has counts for the time
since the last that had, in what it shows beyond lam. With h_j = lam throughout the gains are about
1/(lam (t + t_0)), and the method is SVMSGD.

Inverse gains add up, as in the authors' later software: the mean of curvatures is what second-order
steps need, not the mean of their inverses. Neither the paper nor its erratum is at hand: the rule
is derived here, and MOST is ours. h_j is held in [lam, MOST lam], so that gains fall like 1/t and
the steps converge. The hinge has no curvature but at its kink: the scaling gains little with it.
Rows come in a new random permutation per epoch.

[BBG09]  Bordes, Bottou, Gallinari. SGD-QN: careful quasi-Newton stochastic gradient descent. JMLR
         10, 2009; with Chang and Smith, erratum, JMLR 11, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.rows import AHEAD, FloatArray, add, add_scaled, fetch, scores, shape
from pegasos.dispatch import inlined, kernel
from pegasos.problem.losses import slope
from pegasos.problem.objective import Problem, flat, weight
from pegasos.solvers.protocol import Advance
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
from pegasos.solvers.svmsgd.svmsgd import multiply, svmsgd_pass

MOST = 10.0  # times lam: the largest curvature that a coordinate is believed to have
SHRUNK, MEASURED = range(2)  # places in `times`


class Coordinates(NamedTuple):
    """Gains B and weights V at the last shrinking, (d,) or (d, K), and those of the constant (K,).

    `times` (2,): rows at the last shrinking if the next row is to be measured, or -1; rows at the
    last measurement. `changed` (K,): rows at the last one that showed a change. `U`, of the shape
    of V, `change` and `rows` (K,) are overwritten.
    """

    B: FloatArray
    V: FloatArray
    b: FloatArray
    v: FloatArray
    times: FloatArray
    changed: FloatArray
    U: FloatArray
    change: FloatArray
    rows: FloatArray


@dataclass
class SgdQnState(SkipState):
    """A run of SVMSGD, and where the gains stand (`Coordinates`)."""

    times: FloatArray = field(default_factory=lambda: np.zeros(2))
    changed: FloatArray = field(default_factory=lambda: np.zeros(0))


@dataclass
class SGDQN(SkippingSolver):
    """Stochastic gradient descent with diagonal scaling, estimated every few rows.

    Parameters
    ----------
    skip : int or None, default=None
        Rows between two estimates. None: as many as store eight values per feature.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> model = PegasosClassifier(solver=SGDQN(), tol=0.1, random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_.is_within_tol
    True
    """

    name: ClassVar[str] = "sgd_qn"

    def start(self, problem: Problem, seed: int, previous: Any | None) -> SgdQnState:
        check_is_hinge(self.name, problem.costs.loss)
        (_, d), K = shape(problem.rows), problem.costs.Y.shape[1]
        skip = runs.skip_of(problem, self.skip)
        state = SgdQnState(**vars(runs.start(problem, seed, previous)))
        state.clock[T0] = runs.find_t0(
            problem, state, lambda run, order: svmsgd_pass(problem, order, skip, run)
        )
        t = state.clock[N]
        state.B = np.full((d + 1, K), 1.0 / (problem.lam * (t + state.clock[T0])))
        state.V, state.changed = np.zeros((d + 1, K)), np.full(K, t)
        state.times = np.array([-1.0, t])
        return state

    def advance_by(self, problem: Problem, state: Any, most: int) -> Advance:
        done = super().advance_by(problem, state, most)
        if done.ends_epoch:
            state.times[SHRUNK] = -1.0  # the centre of a free bias has moved
        return done

    def _steps(self, problem: Problem, order: Any, state: SgdQnState) -> None:
        skip = runs.skip_of(problem, self.skip)
        sgd_qn_pass(problem, order, skip, runs.run_of(state), coordinates_of(state))


def coordinates_of(state: SgdQnState) -> Coordinates:
    """Return what kernels change of the gains."""
    B, V, d = state.B, state.V, len(state.W)
    return Coordinates(
        flat(B[:d]), flat(V[:d]), B[d], V[d], state.times, state.changed,
        np.zeros_like(flat(V[:d])), np.zeros(B.shape[1]), np.zeros(B.shape[1]),
    )  # fmt: skip


@kernel
def sgd_qn_pass(problem, order, skip, run, own):  # type: ignore[no-untyped-def]
    """Take a step on each row of `order`; `run` and `own` change."""
    lam, clock, last = problem.lam, run.clock, len(order) - 1
    rows_per_weight = problem.costs.Y.shape[0] / problem.S
    for p in range(len(order)):
        i = order[p]
        fetch(problem.rows, order[min(p + AHEAD, last)])
        s = rows_per_weight * weight(problem.costs.weights, i)
        if s == 0.0:
            continue
        write_duals(problem, i, run)                           # y <w, x> < 1 ?
        if own.times[SHRUNK] >= 0.0:
            measure(problem, i, run, own)                      # 1/B <- 1/B + (rows since) h
        if any_of(run.a):
            step(problem, i, s, run, own)                      # w <- w + B y x
        tick(clock, s)
        if is_due(clock, skip, lam, 1.0 / (lam * (clock[N] + clock[T0]))):
            shrink(lam * clock[SINCE], run.W, own.B, own.V)    # v <- w;  w <- w - skip lam B w
            shrink(lam * clock[SINCE], run.beta, own.b, own.v)
            clock[SINCE], clock[COUNT], own.times[SHRUNK] = 0.0, 0.0, clock[N]


@inlined
def step(problem, i, s, run, own):  # type: ignore[no-untyped-def]
    """Add s B a x_i to the weights; run.a is overwritten."""
    for m in range(len(run.a)):
        run.a[m] *= s
        run.beta[m] += run.scale * run.a[m] * own.b[m]
    add_scaled(problem.rows, i, run.a, own.B, run.W)


@inlined
def shrink(factor, W, B, V):  # type: ignore[no-untyped-def]
    """Keep weights W in V and take factor B W from them; (d,) or (d, K)."""
    for j in range(W.shape[0]):
        if W.ndim == 1:
            V[j] = W[j]
            W[j] *= max(0.0, 1.0 - factor * B[j])
        else:
            for m in range(W.shape[1]):
                V[j, m] = W[j, m]
                W[j, m] *= max(0.0, 1.0 - factor * B[j, m])


@inlined
def measure(problem, i, run, own):  # type: ignore[no-untyped-def]
    """Add what has passed of time, times the curvature that row i shows, to 1/B."""
    scores(problem.rows, i, own.V, run.z)
    t = run.clock[N]
    for m in range(len(run.z)):
        z = run.z[m] + run.scale * own.v[m] + run.offset[m]
        before = slope(problem.costs.loss, z, problem.costs.Y[i, m])
        own.change[m] = -run.a[m] - before                     # of the slope, from v to w
        own.rows[m] = 0.0
        if own.change[m] != 0.0:
            own.rows[m], own.changed[m] = t - own.changed[m], t
    multiply(own.U, 0.0)
    add(problem.rows, i, own.change, own.U)                    # of the gradient, but for lam w
    least = problem.lam * (t - own.times[MEASURED])
    add_curvature(least, problem.lam, own.rows, run.W, own.V, own.U, own.B)
    for m in range(len(run.z)):
        B, U, way = own.b[m], run.scale * own.change[m], run.beta[m] - own.v[m]
        own.b[m] = 1.0 / (1.0 / B + least + own.rows[m] * curvature(problem.lam, U, way))
    own.times[SHRUNK], own.times[MEASURED] = -1.0, t


@inlined
def add_curvature(least, lam, rows, W, V, U, B):  # type: ignore[no-untyped-def]
    """Let 1/B grow by `least` and by rows[m] times what the curvature has beyond lam."""
    for j in range(W.shape[0]):
        if W.ndim == 1:
            h = curvature(lam, U[j], W[j] - V[j])
            B[j] = 1.0 / (1.0 / B[j] + least + rows[0] * h)
        else:
            for m in range(W.shape[1]):
                h = curvature(lam, U[j, m], W[j, m] - V[j, m])
                B[j, m] = 1.0 / (1.0 / B[j, m] + least + rows[m] * h)


@inlined
def curvature(lam, change, way):  # type: ignore[no-untyped-def]
    """Return change / way, what curvature has beyond lam; at most MOST lam in all, at least lam."""
    if change == 0.0 or way == 0.0:
        return 0.0
    return min((MOST - 1.0) * lam, max(0.0, change / way))
