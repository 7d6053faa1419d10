"""What a warm start of a kernel solver goes on from, whichever solver made it."""

from __future__ import annotations

from typing import NamedTuple

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem


class Expansion(NamedTuple):
    """Coefficients (n, K) over the rows."""

    B: FloatArray

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion, as the states of kernel solvers do."""
        return self.B
