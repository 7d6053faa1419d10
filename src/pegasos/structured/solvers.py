"""Pegasos and block-coordinate Frank-Wolfe for any structure, in plain loops.

The work is in the user's decoding, so nothing but the shuffle is compiled. Both are the solvers of
`solvers.chain` line by line; there they are explained.

[LJJSP13]  Lacoste-Julien, Jaggi, Schmidt, Pletscher. Block-coordinate Frank-Wolfe optimization for
           structural SVMs. ICML 2013. Algorithm 4.
[SSSC11]   Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011. Fig. 1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate.sequences import Evaluation
from pegasos.data.order import identity, shuffle
from pegasos.data.rows import FloatArray
from pegasos.solvers.protocol import Advance
from pegasos.structured.examples import Corner, DualSums, Examples, evaluate
from pegasos.structured.solve import Task

SECONDS_PER_CALL = 0.1  # after which a pass is interrupted for Ctrl-C and the time limit


@dataclass
class AnyState:
    """A run: weights, a random order of the examples, and what was taken so far.

    Frank-Wolfe keeps corners and their mass for each example; Pegasos the sums over the tail.
    """

    w: FloatArray
    random: Any
    order: Any
    corners: list[list[Corner]] = field(default_factory=list)
    mass: list[list[float]] = field(default_factory=list)
    position: int = 0
    gap: float = 0.0
    N: float = 0.0
    epochs: int = 0
    tail_began: int = 0
    taken: DualSums = DualSums(0.0, np.zeros(0))


def begin(problem: Examples, seed: int) -> AnyState:
    """Return the state of a run that begins with weights of 0."""
    d, n = len(problem.truth[0]), len(problem.truth)
    state = AnyState(np.zeros(d), np.array([seed], dtype=np.uint64), identity(n))
    state.corners = [[Corner(0.0, np.zeros(d))] for _ in range(n)]
    state.mass = [[1.0] for _ in range(n)]
    state.taken = DualSums(0.0, np.zeros(d))
    return state


@dataclass
class Ended:
    """Where an earlier run ended: weights and epochs; of Frank-Wolfe, structures and their mass."""

    w: FloatArray
    epochs: int
    found: list[list[Any]] = field(default_factory=list)
    mass: list[list[float]] = field(default_factory=list)


class _InTurn:
    """Visit examples in a random order, for about a tenth of a second per call."""

    def go_on(self, problem: Examples, seed: int, ended: Ended | None) -> AnyState:
        """Return the state of a run that begins where an earlier one on the same examples ended."""
        return begin(problem, seed)

    def ended(self, state: AnyState) -> Ended:
        """Return where a run ended."""
        return Ended(state.w, state.epochs)

    def advance(self, problem: Examples, state: AnyState) -> Advance:
        """Visit some examples."""
        if state.position == 0:
            shuffle(state.order, state.random)
            state.gap = 0.0
            self.begin_epoch(state)
        first, begin = state.position, time.perf_counter()
        while state.position < len(state.order):
            i = int(state.order[state.position])
            if problem.weights[i] > 0.0:
                self.visit(problem, state, i)
            state.position += 1
            if time.perf_counter() - begin > SECONDS_PER_CALL:
                break
        visited = state.position - first
        if state.position < len(state.order):
            return Advance(visited, False)
        state.position, state.epochs = 0, state.epochs + 1
        return Advance(visited, True, self.estimate(problem, state))

    def begin_epoch(self, state: AnyState) -> None:
        """Get ready for an epoch."""

    def visit(self, problem: Examples, state: AnyState, i: int) -> None:
        """Take a step."""
        raise NotImplementedError

    def estimate(self, problem: Examples, state: AnyState) -> float:
        """Return a guess of the relative gap."""
        return float("nan")

    def certify(self, problem: Examples, state: AnyState) -> Evaluation:
        """Certify the present weights."""
        raise NotImplementedError


class AnyFrankWolfe(_InTurn):
    """Block-coordinate Frank-Wolfe with pairwise steps."""

    name: ClassVar[str] = "frank_wolfe"

    def __init__(self) -> None:
        self.found: list[list[Any]] = []  # what the corners are: the user's, so no part of a state

    def go_on(self, problem: Examples, seed: int, ended: Ended | None) -> AnyState:
        """Begin with the mass of an earlier run; what its structures are worth is asked anew."""
        state = begin(problem, seed)
        self.found = [[one] for one in problem.y]
        if ended is None or not ended.found:
            return state
        self.found = [list(structures) for structures in ended.found]
        state.mass = [list(mass) for mass in ended.mass]
        state.corners = [
            [problem.corner(i, one) for one in structures]
            for i, structures in enumerate(self.found)
        ]
        state.w = self.sums(problem, state).psi / (problem.lam * problem.S)
        return state

    def ended(self, state: AnyState) -> Ended:
        """Return weights, structures and mass."""
        return Ended(state.w, state.epochs, self.found, state.mass)

    def visit(self, problem: Examples, state: AnyState, i: int) -> None:
        """Move mass from the worst corner of example i to the best of all structures."""
        w, corners, mass = state.w, state.corners[i], state.mass[i]
        best, structure = problem.decoded(i, w, corners)  # [LJJSP13] Alg. 4, 5: oracle
        top = float(best.cost - w @ best.psi)
        values = [float(corner.cost - w @ corner.psi) for corner in corners]
        state.gap += problem.weights[i] * sum(
            m * max(0.0, top - v) for m, v in zip(mass, values, strict=True)
        )
        worst = int(np.argmin(values))
        change = best.psi - corners[worst].psi
        c = problem.weights[i] / (problem.lam * problem.S)
        square = c * float(change @ change)
        rise = top - values[worst]
        if rise <= 0.0:
            return
        step = mass[worst] if rise >= mass[worst] * square else rise / square  # 6: line search
        same = [m for m, one in enumerate(corners) if _are_equal(one, best)]
        if same:
            mass[same[0]] += step
        else:
            corners.append(best)
            mass.append(step)
        mass[worst] -= step
        if self.found and not same:
            self.found[i].append(structure)
        if mass[worst] <= 0.0:
            del corners[worst], mass[worst]
            if self.found:
                del self.found[i][worst]
        w += c * step * change  # 7-8: w

    def estimate(self, problem: Examples, state: AnyState) -> float:
        """Return the gap as it was at the visits, against the bound now."""
        dual = self.sums(problem, state).cost / problem.S
        lower = dual - 0.5 * problem.lam * float(state.w @ state.w)
        return state.gap / problem.S / lower if lower > 0.0 else np.inf

    def sums(self, problem: Examples, state: AnyState) -> DualSums:
        """Return the dual point."""
        found = DualSums(0.0, np.zeros(len(state.w)))
        for s, corners, mass in zip(problem.weights, state.corners, state.mass, strict=True):
            whole = sum(mass)
            for corner, m in zip(corners, mass, strict=True):
                found = found.plus(float(s * m / whole), corner)
        return found

    def certify(self, problem: Examples, state: AnyState) -> Evaluation:
        """Certify the present weights."""
        return evaluate(problem, state.w, self.sums(problem, state), state.corners)


class AnyPegasos(_InTurn):
    """Stochastic sub-gradient descent with step 1/(lam t); the tail's average is the dual point."""

    name: ClassVar[str] = "pegasos"

    def go_on(self, problem: Examples, seed: int, ended: Ended | None) -> AnyState:
        """Begin with the weights of an earlier run, and steps as short as its last ones."""
        state = begin(problem, seed)
        if ended is not None:
            state.epochs = state.tail_began = max(1, ended.epochs)
            state.w, state.N = ended.w.copy(), problem.S * state.epochs
        return state

    def begin_epoch(self, state: AnyState) -> None:
        """Begin a new tail whenever the epochs have doubled."""
        if state.epochs and state.epochs >= 2 * state.tail_began:
            state.tail_began, state.taken = state.epochs, DualSums(0.0, np.zeros(len(state.w)))

    def visit(self, problem: Examples, state: AnyState, i: int) -> None:
        """Take a step along the sub-gradient of example i."""
        s = float(problem.weights[i])
        corner = problem.most_costly(i, state.w)
        state.N += s
        state.w *= 1.0 - s / state.N  # [SSSC11] Fig. 1: (1 - eta lam) w
        state.w += s / (problem.lam * state.N) * corner.psi  #                  + eta psi
        state.taken = state.taken.plus(s, corner)

    def certify(self, problem: Examples, state: AnyState) -> Evaluation:
        """Certify the present weights; before the first epoch ends, by the dual point 0."""
        visits = state.epochs - state.tail_began
        if visits == 0 or state.position:
            return evaluate(problem, state.w, DualSums(0.0, np.zeros(len(state.w))))
        cost, psi, terms, norm = state.taken
        mean = DualSums(cost / visits, psi / visits, terms, norm / visits)
        return evaluate(problem, state.w, mean)


def task_of(problem: Examples, solver: _InTurn) -> Task:
    """Return what the outer loop has to know of a solver and its problem."""
    return Task(
        lambda state: solver.advance(problem, state),
        lambda state: solver.certify(problem, state),
        len(problem.truth),
    )


def _are_equal(one: Corner, other: Corner) -> bool:
    return one.cost == other.cost and bool(np.array_equal(one.psi, other.psi))


SOLVERS: dict[str, Any] = {"frank_wolfe": AnyFrankWolfe, "pegasos": AnyPegasos}
