"""Names and abilities of the solvers: what `solver="auto"` means and what is refused.

The table drives estimators, refusals and the contract tests that cross every solver, loss and bias.
"""

from __future__ import annotations

from typing import Any

from pegasos.errors import InvalidParameter
from pegasos.solvers.linear.sdca import SDCA
from pegasos.solvers.protocol import Solver

LINEAR_SOLVERS: dict[str, type] = {"sdca": SDCA}


def linear_solver(solver: str | Any) -> Solver:
    """Return the solver object that a name or an object stands for."""
    if solver == "auto":
        return SDCA()
    if isinstance(solver, str):
        if solver not in LINEAR_SOLVERS:
            names = ", ".join(f'"{name}"' for name in LINEAR_SOLVERS)
            raise InvalidParameter(f'solver must be "auto", {names} or an object; got {solver!r}.')
        found: Solver = LINEAR_SOLVERS[solver]()
        return found
    return solver  # type: ignore[no-any-return]
