"""What all solvers of sequence problems share: the order of visits and what an epoch summed up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.order import identity, shuffle
from pegasos.data.rows import FloatArray
from pegasos.problem.sequences import (
    Block,
    Model,
    Sequences,
    Work,
    make_block,
    make_work,
    sizes,
    square_norm,
    stretches,
)
from pegasos.solvers.protocol import Advance


@dataclass
class Visits:
    """A random order of the sequences, where it has come to, and room for the work on one of them.

    `sums` are of the present epoch: the gap as it was at each visit, the losses, and what a solver
    wants to count.
    """

    order: Any
    random: Any
    work: Work
    block: Block
    sums: FloatArray = field(default_factory=lambda: np.zeros(3))
    position: int = 0

    def draw(self, problem: Sequences, K: int) -> Any:
        """Return the sequences to visit next; an epoch begins with a new order."""
        if self.position == 0:
            shuffle(self.order, self.random)
            self.sums[:] = 0.0
        return self.order[self.position : self.position + stretches(problem, K)]

    def note(self, problem: Sequences, visited: int, model: Model | None = None) -> Advance:
        """Take note of visits; at an epoch's end `model` makes an estimate of the gap."""
        self.position += visited
        if self.position < len(self.order):
            return Advance(visited, False)
        self.position = 0
        if model is None:
            return Advance(visited, True)
        gap, loss = self.sums[:2] / problem.S
        lower = loss + 0.5 * problem.lam * square_norm(model) - gap
        return Advance(visited, True, float(gap / lower) if lower > 0.0 else np.inf)


def first_visits(problem: Sequences, K: int, seed: int) -> Visits:
    """Return the visits of a run that begins."""
    n, _, _, _ = sizes(problem)
    random = np.array([seed], dtype=np.uint64)
    return Visits(identity(n), random, make_work(problem, K), make_block(problem, K))


def zero_model(problem: Sequences, K: int) -> Model:
    """Return weights of 0."""
    return Model(np.zeros((sizes(problem)[2], K)), np.zeros((K + 2, K)))
