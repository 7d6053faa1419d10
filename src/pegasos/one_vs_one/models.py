"""What is trained one-vs-one, and the models of all pairs of classes as they come to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.pair_balls import PairBalls
from pegasos.certificate.stopping import Certificate, Outcome, Stopping
from pegasos.certificate.trace import Record, Trace
from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.problem.kernels import Kernel


@dataclass(frozen=True)
class Task:
    """What is trained: rows with class codes and weights, under one C, and how."""

    kernel: Kernel
    rows: Rows
    codes: Any
    n_classes: int
    weights: FloatArray | None
    loss: Any
    solver: Any
    bias: Any
    C: float
    stopping: Stopping
    budget: int
    seeds: Any
    previous: FloatArray | None = None  # coefficients of an earlier fit, (n, K - 1)
    goes_on: bool = False  # whether the solvers' last coefficients are to be kept


@dataclass
class Pairs:
    """The models of P pairs as they are trained; matrices are laid out as in `class_pairs`.

    B, origin, last : ndarray of shape (n, K - 1)
        Coefficients, the points of free biases (see `Ball`), the solvers' last coefficients.
    b, C : ndarray of shape (P,)
        Biases, and the penalties that were certified.
    facts : dict of str to ndarray of shape (P,)
        primal, dual, gap and relative_gap.
    """

    n_pairs: int
    B: FloatArray
    origin: FloatArray
    last: FloatArray | None
    b: FloatArray
    C: FloatArray
    facts: dict[str, FloatArray]
    ends: FloatArray
    expansion: FloatArray
    radius: FloatArray
    square: FloatArray
    outcomes: list[Outcome]
    certificates: list[Certificate | None]
    records: list[Record | None]
    traces: list[Trace]
    evaluations: int = 0
    hits: int = 0
    misses: int = 0
    is_indefinite: bool = False

    def balls(self, support: Any, is_free: bool) -> PairBalls:
        """Return where the optimum lies, as expansions over support vectors."""
        origin = self.origin[support] if is_free else None
        return PairBalls(
            self.B[support], origin, self.radius, self.ends, self.square, self.expansion
        )


def new_pairs(task: Task) -> Pairs:
    """Return models of which nothing is known yet."""
    n, K = shape(task.rows)[0], task.n_classes
    P, empty = K * (K - 1) // 2, np.zeros((n, K - 1))
    names = ("primal", "dual", "gap", "relative_gap")
    return Pairs(
        n_pairs=P, B=empty, origin=np.zeros_like(empty),
        last=np.zeros_like(empty) if task.goes_on else None,
        b=np.zeros(P), C=np.full(P, task.C), facts={name: np.zeros(P) for name in names},
        ends=np.array([np.full(P, -np.inf), np.full(P, np.inf)]),
        expansion=np.zeros((2, P)), radius=np.zeros(P), square=np.zeros(P),
        outcomes=[Outcome.TIME] * P, certificates=[None] * P, records=[None] * P,
        traces=[Trace() for _ in range(P)],
    )  # fmt: skip


class PairExpansion(NamedTuple):
    """What a warm start of pairs goes on from: coefficients (n, K - 1), see `class_pairs`."""

    of_pairs: FloatArray


def values_of_pairs(codes: Any, n_classes: int) -> int:
    """Return how many values the kernel matrices of all pairs have together."""
    counts = np.bincount(codes, minlength=n_classes).astype(float)
    return int((n_classes - 2) * (counts**2).sum() + counts.sum() ** 2)
