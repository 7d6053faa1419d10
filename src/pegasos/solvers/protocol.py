"""Life of a solver: what `solve` asks of it, and nobody else.

A solver is a small object that holds its own options. It never times, prints, certifies or
stops itself; everything it knows about a run is in the state it makes. That is plain data (see
`pegasos.state`): arrays and numbers, in dataclasses and tuples, and the numbers that random choices
follow from; no Python generators, functions or library objects. It can be saved between any two
calls of `advance` and loaded in another process, with the same bits to follow.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem


class Advance(NamedTuple):
    """What one call of `advance` did.

    `estimate` is the solver's own guess of the relative gap, nan if it has none. It may suggest
    that a certificate is due; it never is one. `is_done` is for methods that end by themselves,
    because they do not approach the optimum. `steps` are the method's own; None: a row is a step.
    `is_current`: the estimate is of the present state, not of the middle of a pass; it may then
    come between the ends of epochs, too.
    """

    rows_visited: int
    ends_epoch: bool
    estimate: float = float("nan")
    is_done: bool = False
    steps: int | None = None
    is_current: bool = False


class DualPoint(NamedTuple):
    """Raw dual numbers `scale * A`, A of shape (n, K); whoever certifies makes them feasible.

    `scores` (n, K) are those of w(scale * A), without bias, if the solver maintains them: an offer,
    which is tested before it is trusted.
    """

    A: FloatArray
    scale: float
    scores: FloatArray | None = None


class LinearState(Protocol):
    """What a linear solver's state tells whoever goes on from it."""

    @property
    def A(self) -> FloatArray | None:  # noqa: N802
        """Dual numbers (n, K); None if there are none to go on from."""


class KernelState(Protocol):
    """What a kernel solver's state tells whoever goes on from it."""

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, K)."""


class Solver(Protocol):
    """Four verbs, four facts, and five requests that most solvers leave as they are here.

    is_dual : bool
        Whether the dual point is what is improved: slopes at the weights offer no better one.
    estimates_exactly : bool
        Whether estimates tell the gap of what is handed out as well as a certificate would, given
        the kernel values: certificates then wait for them.
    is_literal : bool
        Whether the present iterate is handed out as it is, its bias too, though an earlier model
        was better: where users ask for the last iterate, or the average, that is what they get.
    waits_for_estimate : bool
        Whether a certificate is due when the solver's own estimate is within the tolerance, and at
        no other time, as in a paper's stopping rule.
    """

    name: ClassVar[str]
    is_dual: ClassVar[bool]

    @property
    def estimates_exactly(self) -> bool:
        """Whether the solver goes to the optimum of the values it is given, and knows its gap."""
        return False

    @property
    def is_literal(self) -> bool:
        """Whether what is offered is handed out as it is, whatever was better before."""
        return False

    @property
    def waits_for_estimate(self) -> bool:
        """Whether nothing but the solver's own estimate asks for a certificate."""
        return False

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""

    def start(self, problem: Problem, seed: int, previous: Any | None) -> Any:
        """Build the state of a run, from that of an earlier run on the same rows if given."""

    def advance(self, problem: Problem, state: Any) -> Advance:
        """Visit some rows, at most an epoch and at most a fraction of a second."""
        raise NotImplementedError

    def advance_by(self, problem: Problem, state: Any, most: int) -> Advance:
        """Advance as `advance` does, by at most so many steps; others overshoot, as here."""
        return self.advance(problem, state)

    def iterate(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        """Return weights (d, K) and biases (K,) to hand out; None means those of the dual point."""

    def dual_point(self, problem: Problem, state: Any) -> DualPoint | None:
        """Return the dual point of the last complete epoch, if there is one."""

    def maintained_weights(self, problem: Problem, state: Any) -> FloatArray | None:
        """Return w(a) (d, K) of the dual point as the solver maintains it, of features; or None.

        It is judged in place of w(a), which is computed from the data in the same pass. Only where
        the bias is not free, and there is no iterate.
        """
        return None

    def free_bias(self, problem: Problem, state: Any) -> tuple[FloatArray, FloatArray] | None:
        """Return (c, m), of shape (K,) and (d,): free biases of a joint loss are c - <w, m>.

        They are for solvers without an iterate of their own, and as good as these know them.
        """
        return None

    def regularized(self, problem: Problem, state: Any) -> Problem:
        """Return the problem that the run is certified for: another one if it finds its own lam."""
        return problem

    def kernel_rows(self, state: Any) -> int | None:
        """Return the rows of the kernel matrix that steps used, each time anew; None if unknown."""
        return None

    def leave_out(self, state: Any, is_done: Any) -> None:
        """Take note of which models (K,) are done: they need not be advanced any more."""
        return None
