"""What an adapter is: a name, the efforts it can be asked for, and `run`.

A peer's progress cannot be traced from outside without slowing it down, so each effort is a fit
from scratch. An effort is either a tolerance in the solver's own meaning or a number of epochs;
`ladder` lists them from little to much, the way a user of that solver would ask for more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.datasets.base import Dataset
from bench.objective import Matrix


class Effort(NamedTuple):
    """How hard to try: a tolerance, a number of epochs, or (as a limit) both."""

    tol: float | None = None
    epochs: int | None = None

    def __str__(self) -> str:
        parts = [f"tol {self.tol:g}"] if self.tol is not None else []
        return ", ".join(parts + ([f"{self.epochs} epochs"] if self.epochs is not None else []))


EPOCHS = tuple(Effort(epochs=2**k) for k in range(13))


class Solver(ABC):
    """One competitor on P(w) = lam/2 ||w||^2 + mean hinge, without bias."""

    name: str
    package: str  # on PyPI, for the version in the report
    is_ours: bool = False
    untimed: float = 0.0  # seconds of the last run spent by the adapter, not the solver
    counts_epochs: bool = True  # obeys Effort(epochs=k) exactly, so that its row rate can be timed

    def version(self) -> str | None:
        """Return the installed version, or None when the package is absent."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

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
