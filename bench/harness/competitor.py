"""What every adapter is: a name, a package with a version, efforts, and `run`.

A peer's progress cannot be traced from outside without slowing it down, so each effort is a fit
from scratch. An effort is either a tolerance in the solver's own meaning or a number of epochs;
`ladder` lists them from little to much, the way a user of that solver would ask for more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from bench.harness.problem import Matrix


class Effort(NamedTuple):
    """How hard to try: a tolerance, a number of epochs, or (as a limit) both.

    `seconds` is a limit too, for those who obey one; it is no part of the effort's name.
    """

    tol: float | None = None
    epochs: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        parts = [f"tol {self.tol:g}"] if self.tol is not None else []
        return ", ".join(parts + ([f"{self.epochs} epochs"] if self.epochs is not None else []))


class Package:
    """What is measured, by name."""

    name: str
    package: str  # on PyPI, for the version in the report

    def version(self) -> str | None:
        """Return the installed version, or None when the package is absent."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


class Competitor(Package, ABC):
    """One competitor, with the efforts it can be asked for."""

    is_ours: bool = False
    tols: tuple[float, ...] = ()
    survives_a_fork: bool = False  # no threads of its own, so a fit can be ended (`limited`)
    untimed: float = 0.0  # seconds of the last run spent by the adapter, not the solver

    def supports(self, problem: Any) -> bool:
        """Tell whether the solver can take the problem."""
        return True

    def ladder(self, limit: float, is_large: bool = False) -> tuple[Effort, ...]:
        """List the efforts to try, least first; `limit` in seconds is for those who obey one."""
        return tuple(Effort(tol=tol, seconds=limit) for tol in self.tols)

    def prepare(self, problem: Any) -> Matrix:
        """Return the rows as the solver wants them; what a user does once, not timed."""
        return problem.X

    @abstractmethod
    def run(self, X: Matrix, problem: Any, effort: Effort) -> Any:
        """Fit from scratch to rows X, made by `prepare`; return a model for `problem.judge`."""
