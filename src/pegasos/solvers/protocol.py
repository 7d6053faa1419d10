"""Life of a solver: four verbs, used by `solve` and by nobody else.

A solver is a small object that holds its own options. It never times, prints, certifies or
stops itself; everything it knows about a run is in the state it makes, a plain bundle of arrays.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem


class Advance(NamedTuple):
    """What one call of `advance` did.

    `estimate` is the solver's own guess of the relative gap, nan if it has none. It may suggest
    that a certificate is due; it never is one. `is_done` is for methods that end by themselves,
    because they do not approach the optimum.
    """

    rows_visited: int
    ends_epoch: bool
    estimate: float = float("nan")
    is_done: bool = False


class DualPoint(NamedTuple):
    """Raw dual numbers `scale * A`, A of shape (n, K); whoever certifies makes them feasible.

    `scores` (n, K) are those of w(scale * A), without bias, if the solver maintains them: an offer,
    which is tested before it is trusted.
    """

    A: FloatArray
    scale: float
    scores: FloatArray | None = None


class Solver(Protocol):
    """The four verbs."""

    name: ClassVar[str]
    is_dual: ClassVar[bool]

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""

    def start(self, problem: Problem, seed: int, previous: Any | None) -> Any:
        """Build the state of a run, from that of an earlier run on the same rows if given."""

    def advance(self, problem: Problem, state: Any) -> Advance:
        """Visit some rows, at most an epoch and at most a fraction of a second."""

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        """Return weights (d, K) and biases (K,) to hand out; None means those of the dual point."""

    def dual_point(self, problem: Problem, state: Any) -> DualPoint | None:
        """Return the dual point of the last complete epoch, if there is one."""
