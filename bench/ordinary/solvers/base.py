"""What an adapter is: the problems it can take, its efforts, and `run`.

Each effort is a fit from scratch; `ladder` lists them from little to much, as a user of that solver
would ask for more. Fits that nothing else can end run in a process of their own (`bench.limited`).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from bench.competitor import Competitor, Effort
from bench.objective import Matrix
from bench.ordinary.task import Model, Task

UNLIMITED = 1_000_000  # iterations; tolerance or time decides
EPOCHS = tuple(Effort(epochs=2**k) for k in range(13))


class TableSolver(Competitor):
    """One competitor on the problems of `bench.ordinary`."""

    problems: tuple[tuple[str, str], ...]  # pairs of loss and bias
    tols: tuple[float, ...] = ()
    survives_a_fork: bool = True  # no threads of its own: it can be ended

    def supports(self, task: Task) -> bool:
        return (task.loss, task.bias) in self.problems

    def ladder(self, limit: float) -> tuple[Effort, ...]:
        """List the efforts to try, least first."""
        return tuple(Effort(tol=tol, seconds=limit) for tol in self.tols)

    def prepare(self, task: Task) -> Matrix:
        """Return the rows as the solver wants them; not timed."""
        return task.X

    @abstractmethod
    def run(self, X: Matrix, task: Task, effort: Effort) -> Model:
        """Fit from scratch to rows X, made by `prepare`."""


def model_of(coef: NDArray, intercept: NDArray | float, proven: float | None = None) -> Model:
    """Turn scikit-learn's shapes (K, d) or (d,), and (K,) or (), into a model."""
    W = np.atleast_2d(np.asarray(coef)).T
    return Model(W, np.broadcast_to(np.asarray(intercept, dtype=float), (W.shape[1],)), proven)
