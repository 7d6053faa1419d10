"""What every adapter is, linear or kernel: a name, a package with a version, and an effort."""

from __future__ import annotations

from abc import ABC
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple


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


class Competitor(ABC):
    """One competitor, by name."""

    name: str
    package: str  # on PyPI, for the version in the report
    is_ours: bool = False
    untimed: float = 0.0  # seconds of the last run spent by the adapter, not the solver

    def version(self) -> str | None:
        """Return the installed version, or None when the package is absent."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None
