"""A solver added by the recipe of CONTRIBUTING.md, steps 1 to 4: coordinate ascent in row order."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pegasos.data.centre import weight_count
from pegasos.data.rows import add, scores, shape
from pegasos.dispatch import kernel
from pegasos.options import Options
from pegasos.problem.losses import dual_step
from pegasos.problem.objective import combination, row_square_norms, weight
from pegasos.solvers.catalogue import LINEAR_SOLVERS, Ability
from pegasos.solvers.protocol import Advance, DualPoint, Solver


@dataclass
class CyclicState:
    """Duals A (n, K), weights W = w(A), square norms of the rows, scratch (2, K)."""

    A: np.ndarray
    W: np.ndarray
    squares: np.ndarray
    scratch: np.ndarray


@dataclass
class Cyclic(Options, Solver):
    """Dual coordinate ascent in the order of the rows."""

    name: ClassVar[str] = "cyclic"
    is_dual: ClassVar[bool] = True

    def check(self):
        """There are no options."""

    def start(self, problem, seed, previous):
        n, K = problem.costs.Y.shape
        squares, scratch = row_square_norms(problem), np.zeros((2, K))
        if previous is None:
            return CyclicState(
                np.zeros((n, K)), np.zeros((weight_count(problem.rows), K)), squares, scratch
            )
        return CyclicState(previous.A.copy(), combination(problem, previous.A), squares, scratch)

    def advance(self, problem, state):
        cyclic_pass(problem, state.squares, state.A, state.W, state.scratch)
        return Advance(shape(problem.rows)[0], ends_epoch=True)

    def iterate(self, problem, state):
        return None

    def dual_point(self, problem, state):
        return DualPoint(state.A, 1.0)


@kernel
def cyclic_pass(problem, squares, A, W, scratch):
    """Maximise the dual along every row in turn; A and W change in place."""
    z, step = scratch[0], scratch[1]
    for i in range(A.shape[0]):
        s = weight(problem.costs.weights, i) / (problem.lam * problem.S)
        scores(problem.rows, i, W, z)
        for k in range(A.shape[1]):
            q, y = s * squares[i], problem.costs.Y[i, k]
            c = dual_step(problem.costs.loss, z[k], A[i, k], q, y)
            step[k], A[i, k] = s * (c - A[i, k]), c
        add(problem.rows, i, step, W)


LINEAR_SOLVERS["cyclic"] = Ability(
    Cyclic,
    what="dual coordinate ascent in the order of the rows",
    use="to try the recipe",
    biases=("none",),
)
