"""What an adapter is: a name, the efforts it can be asked for, and `run`.

A peer's progress cannot be traced from outside without slowing it down, so each effort is a fit
from scratch. An effort is either a tolerance in the solver's own meaning or a number of epochs;
`ladder` lists them from little to much, the way a user of that solver would ask for more.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from bench.competitor import Competitor, Effort
from bench.datasets.base import Dataset
from bench.objective import Matrix

EPOCHS = tuple(Effort(epochs=2**k) for k in range(13))


class Solver(Competitor):
    """One competitor on P(w) = lam/2 ||w||^2 + mean hinge, without bias."""

    counts_epochs: bool = True  # obeys Effort(epochs=k) exactly, so that its row rate can be timed

    def supports(self, dataset: Dataset) -> bool:
        return True

    @abstractmethod
    def ladder(self) -> tuple[Effort, ...]:
        """List the efforts to try, least first."""

    def prepare(self, X: Matrix, y: NDArray[np.int64]) -> None:  # noqa: B027 (optional)
        """Do what a user does once and outside of training; not timed."""

    @abstractmethod
    def run(self, X: Matrix, y: NDArray[np.int64], lam: float, effort: Effort) -> NDArray:
        """Fit from scratch; return weights of shape (d,), or (d, K) for K classes."""
