"""The online perceptron over the rows of a kernel: every row that is misclassified is added.

    if y_i sum_j B_j K(x_j, x_i) <= 0:   B_i <- B_i + s_i y_i

The linear one in the space of the kernel, with the same outputs, bias and weights: see
`perceptron.linear`. It offers a dual point too, for its coefficients have the signs of the labels.

The responses of all rows follow the errors a few dozen at a time, so that kernel values come from
matrix products: for a block of coming rows, those with the errors that the responses lack, and with
each other, are computed on top. Rows of the kernel matrix that belong to errors stay in the store,
for later passes and for the certificate: n (M + a hundred) kernel values in all for M errors, where
a row at a time would need about n M / 2, and the certificate n M again.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Sec. 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.order import identity, shuffle
from pegasos.data.rows import FloatArray
from pegasos.dispatch import kernel
from pegasos.parallel import ranges
from pegasos.problem.objective import Problem, typical_length, weight
from pegasos.solvers.decomposition.decomposition import dual_numbers
from pegasos.solvers.lasvm.support_set import balanced
from pegasos.solvers.perceptron.best_length import at_best_length
from pegasos.solvers.perceptron.linear import (
    PerceptronRun,
    errs,
    handed_out,
    new_run,
)
from pegasos.solvers.perceptron.options import PerceptronOptions
from pegasos.solvers.protocol import Advance, DualPoint, Solver

BLOCK = 64  # coming rows that are looked at together
PENDING = 64  # errors that the responses may lack


@dataclass
class KernelPerceptronState:
    """A run, responses F (n, models) of all rows, and errors that they lack: `rows`, `changes`."""

    run: PerceptronRun
    F: FloatArray
    order: Any
    random: Any
    rows: Any
    changes: FloatArray
    position: int = field(default=0)
    passes: int = field(default=0)

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the last expansion, (n, models): where a warm start goes on from."""
        W: FloatArray = self.run.now.W
        return W


@dataclass
class KernelPerceptron(PerceptronOptions, Solver):
    """The online perceptron: one pass, or a few; no objective, so no tolerance to reach.

    Parameters
    ----------
    passes : int, default=1
        Passes over the rows. What is known of its errors on new rows holds for one.
    output : {"average", "random", "longest", "last"}, default="average"
        Which expansion to hand out: the mean of all along the way, one of them at random, the one
        that made no error for longest, or the last.
    """

    def start(self, problem: Problem, seed: int, previous: Any | None) -> KernelPerceptronState:
        gram, (n, count) = problem.rows, problem.costs.Y.shape
        scale = problem.bias_scale
        if problem.is_free:
            scale = typical_length(problem, np.maximum(0.0, gram.diagonal))
        random = np.array([seed], dtype=np.uint64)
        run = new_run(problem, (n, scale), self.output, self.passes, random)
        state = KernelPerceptronState(
            run=run,
            F=np.zeros((n, count)),
            order=identity(n),
            random=random,
            rows=np.zeros(0, dtype=np.int64),
            changes=np.zeros((0, count)),
        )
        if previous is not None:
            B = previous.coefficients(problem)
            run.now.W[:], run.now.beta[:] = B, scale * B.sum(axis=0)
            gram.add_scores(run.now.W, state.F)
        return state

    def advance(self, problem: Problem, state: KernelPerceptronState) -> Advance:
        return self.advance_by(problem, state, BLOCK)

    def advance_by(self, problem: Problem, state: KernelPerceptronState, most: int) -> Advance:
        n = len(state.order)
        if state.position == 0:
            shuffle(state.order, state.random)
        stop = state.position + min(BLOCK, most)
        some = state.order[state.position : stop].astype(np.int64)
        visit(problem, state, some)
        state.position = (state.position + len(some)) % n
        state.passes += state.position == 0
        if len(state.rows) >= PENDING or state.position == 0:
            respond(problem, state)
        return Advance(
            len(some), state.position == 0, is_done=state.passes >= self.passes
        )  # fmt: skip

    def iterate(
        self, problem: Problem, state: KernelPerceptronState
    ) -> tuple[FloatArray, FloatArray]:
        return at_best_length(problem, *handed_out(state.run, self.output))

    def dual_point(self, problem: Problem, state: KernelPerceptronState) -> DualPoint:
        return best_multiple(problem, state.run.now.W)


def visit(problem: Problem, state: KernelPerceptronState, some: Any) -> None:
    """Classify some rows one after the other, adding those that err."""
    lacking = len(state.rows)
    values = problem.rows.values(some, np.concatenate([state.rows, some]))
    Z = state.F[some] + values[:, :lacking] @ state.changes
    changes = np.zeros_like(Z)
    perceptron_block(problem.costs, some, values[:, lacking:].copy(), Z, changes, state.run)
    errors = np.flatnonzero(changes.any(axis=1))
    state.rows = np.concatenate([state.rows, some[errors]])
    state.changes = np.concatenate([state.changes, changes[errors]])


def best_multiple(problem: Problem, B: FloatArray) -> DualPoint:
    """Return the multiple of an expansion that is feasible and has the largest dual value.

    Minus the slopes would do as well, but they need the kernel row of every row below the margin,
    where these are at hand. D / lam = c sum_i abs(B_i) - c^2/2 ||w||^2 for a multiple c.
    """
    B = balanced(B) if problem.is_free else B
    F = np.zeros_like(B)
    problem.rows.add_scores(B, F)
    A, scale, _ = dual_numbers(problem, B)
    size, square = np.abs(A).max(axis=0) * scale, np.einsum("ik,ik->k", B, F)
    best = np.divide(np.abs(B).sum(axis=0), square, out=np.ones_like(size), where=square > 0.0)
    feasible = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    return DualPoint(A * np.minimum(best, feasible), scale)


def respond(problem: Problem, state: KernelPerceptronState) -> None:
    """Bring the responses up to date."""
    gram = problem.rows
    for first, stop in ranges(len(state.rows), gram.capacity):
        gram.add_held(state.rows[first:stop], state.changes[first:stop], state.F)
    state.rows, state.changes = state.rows[:0], state.changes[:0]


@kernel
def perceptron_block(costs, some, values, Z, changes, run):  # type: ignore[no-untyped-def]
    """Visit q rows of given scores Z (q, models) and kernel values; write how each changes B."""
    B, diary = run.now.W, run.diary
    for t in range(len(some)):                                 # [CSS12] Sec. 4.5
        i = some[t]
        for k in range(Z.shape[1]):
            diary.z[k] = Z[t, k]
        if errs(costs.Y, i, weight(costs.weights, i), run):    # if y_i <w, phi_i> <= 0
            for k in range(Z.shape[1]):
                c = diary.c[k]
                B[i, k] += c                                   #     w <- w + y_i phi_i
                changes[t, k] = c
                if len(run.sums.W) > 0:
                    run.sums.W[i, k] += c * diary.time[0]
                for u in range(t + 1, len(some)):
                    Z[u, k] += c * values[t, u]
