"""What an adapter of a linear model is: the pairs of loss and bias that it can take.

A bias "none" is within everybody's reach. Fits that nothing else can end run in a process of their
own (`bench.harness.limited`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.harness.competitor import Competitor, Effort
from bench.task import Model, Task

UNLIMITED = 1_000_000  # iterations; tolerance or time decides
NEVER = 1e-12  # a tolerance that is not reached: the epochs decide
THREADS = 2
EPOCHS = tuple(Effort(epochs=2**k) for k in range(13))


class LinearSolver(Competitor):
    """One competitor on P(w, b) = lam/2 ||w||^2 + mean loss, with or without bias."""

    problems: tuple[tuple[str, str], ...] = ()  # pairs of loss and bias, beside ("hinge", "none")
    counts_epochs: bool = False  # obeys Effort(epochs=k) exactly: its row rate can be timed

    def supports(self, problem: Task) -> bool:
        return (problem.loss, problem.bias) in (*self.problems, ("hinge", "none"))


def asked(effort: Effort) -> dict:
    """Return an effort by scikit-learn's names."""
    return {
        "tol": NEVER if effort.tol is None else effort.tol,
        "max_iter": UNLIMITED if effort.epochs is None else effort.epochs,
    }


def model_of(coef: NDArray, intercept: NDArray | float = 0.0, proven: float | None = None) -> Model:
    """Turn scikit-learn's shapes (K, d) or (d,), and (K,) or (), into a model."""
    W = np.atleast_2d(np.asarray(coef)).T
    return Model(W, np.broadcast_to(np.asarray(intercept, dtype=float), (W.shape[1],)), proven)
