"""CoCoA+: a pass of dual coordinate ascent over blocks of rows side by side.

Large sparse data of one model is visited in rounds, of which there are several in a pass. In a
round, each of two blocks of rows has a copy of w for itself and maximises

    1/S sum_{i in block} s_i gain(a_i)  -  lam <w, d>  -  lam sigma/2 ||d||^2,     d its part of w,

over its rows, one after the other (`sdca.sdca_pass` with lam / sigma: the copy moves by sigma d).
Then the blocks' d_b are added up. The dual rises as long as

    rho = ||sum_b d_b||^2 / sum_b ||d_b||^2

is at most sigma. sigma = number of blocks is always safe, and slow [MSJJRT15]. But rows of text
have little in common: rho is close to 1. So sigma is a little above the last rho. Where that
turns out too little, a share theta of the step is taken: the best by the dual on that line, whose
gains are taken to be linear (they are concave: it rises by more), but no less than sigma/rho, at
which it rises by theta times what the blocks gain by their own measure (docs/mathematics.md,
section 8).

On text, passes are as many as those of plain coordinate ascent, or a tenth more. The blocks are the
same whatever the number of threads, and so is every bit of the result.

[MSJJRT15]  Ma, Smith, Jaggi, Jordan, Richtarik, Takac. Adding vs. averaging in distributed
            primal-dual optimization. ICML 2015. Algorithm 1 with gamma = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import PER_LINE, CsrRows, FloatArray, Rows, shape, stored_values
from pegasos.dispatch import kernel, reordering_sums
from pegasos.problem.losses import gain
from pegasos.problem.objective import Problem, weight

APART = 2 * PER_LINE  # numbers from those of one block to those of the other
BLOCKS = 2  # of four, a pass achieves much less
LARGE = 4_000_000  # stored values from which blocks pay
ROUNDS = 8  # in a pass, at most: of 16, handing them over takes a tenth of the time
FEWEST = 2  # rounds in a pass: with fewer, blocks would know too little of each other
VALUES_PER_ROUND = 400_000  # at least: less would not pay for threads
VALUES_PER_WEIGHT = 10  # of a round: copies of w must be little beside it
RISE, ROOM = 1.5, 1.05  # sigma against rho - 1, and in all: the next rho may be larger


@dataclass
class Blocks:
    """What blocks have for themselves: copies V (BLOCKS, len(w)) of w, and few numbers.

    What a block writes to all the time lies apart from what the other does, in `few` (BLOCKS, 3,
    APART, 1): threads that write to one line of memory wait for each other. `before` are the dual
    numbers of a round's rows when it began, `sigma` what the next round takes rho to be.
    """

    V: FloatArray
    few: FloatArray
    before: FloatArray
    sigma: float = float(BLOCKS)

    @property
    def beta(self) -> FloatArray:
        """Copies (BLOCKS, 1) of beta."""
        return self.few[:, 0, 0]

    @property
    def met(self) -> FloatArray:
        """Sums over sampled rows, (BLOCKS, 3, 1)."""
        return self.few[:, 1, :3]

    @property
    def room(self) -> FloatArray:
        """Room for a row's score and its step, (BLOCKS, 2, 1)."""
        return self.few[:, 2, :2]


class Weights(NamedTuple):
    """What the blocks of a round go on from: w as kernels see it, the bias's beta and offset."""

    w: FloatArray
    beta: FloatArray
    offset: FloatArray


def new_blocks(rows: Rows, height: int, K: int) -> Blocks | None:
    """Return the blocks of a run with weights of that height; None where one does better."""
    n, _ = shape(rows)
    is_large = isinstance(rows, CsrRows) and stored_values(rows) >= LARGE
    if K > 1 or not is_large or round_length(rows, n, height) == 0:
        return None
    return Blocks(np.zeros((BLOCKS, height)), np.zeros((BLOCKS, 3, APART, 1)), np.zeros(0))


def round_length(rows: Rows, active: int, height: int) -> int:
    """Return the rows of a round in a pass over so many; 0 if these are too few for blocks."""
    n, _ = shape(rows)
    values = stored_values(rows) * active // max(1, n)
    rounds = min(ROUNDS, values // max(VALUES_PER_ROUND, VALUES_PER_WEIGHT * height))
    return -(-active // rounds) if rounds >= FEWEST else 0


def shares(order: Any) -> list[Any]:
    """Cut the rows of a round into blocks, in their order."""
    cuts = [b * len(order) // BLOCKS for b in range(BLOCKS + 1)]
    return [order[cuts[b] : cuts[b + 1]] for b in range(BLOCKS)]


def join(blocks: Blocks, problem: Problem, weights: Weights, order: Any, A: FloatArray) -> None:
    """Add up what the blocks of a round changed, as much of it as is safe; w, beta and A change."""
    (w, beta, offset), (u, v), sigma, theta = weights, blocks.V, blocks.sigma, 1.0
    own, total, along = changes(w, u, v, problem.rows.centre)
    moved = blocks.beta - beta
    own, total = own + float((moved**2).sum()), total + float(moved.sum() ** 2)
    along += float((beta * moved).sum())
    rho = total / own if own > 0.0 else 1.0
    if rho > sigma:
        gained = gain_of_step(problem.costs, order, blocks.before, A, offset[0])
        rise = sigma * gained / (problem.lam * problem.S) - along
        theta = min(1.0, max(sigma / rho, sigma * rise / total))
    if theta < 1.0:
        step_back(A, order, blocks.before, theta)
    add_changes(w, u, v, theta / sigma)
    beta += theta / sigma * moved.sum(axis=0)
    blocks.sigma = min(float(BLOCKS), ROOM * (1.0 + RISE * max(0.0, rho - 1.0)))


@kernel
def write_before(A, order, before):  # type: ignore[no-untyped-def]
    """Write the dual numbers of the rows of `order` into `before`."""
    for t in range(len(order)):
        before[t] = A[order[t], 0]


@kernel
def step_back(A, order, before, theta):  # type: ignore[no-untyped-def]
    """Move the dual numbers of the rows of `order` back: `theta` of their step remains."""
    for t in range(len(order)):
        i = order[t]
        A[i, 0] = before[t] + theta * (A[i, 0] - before[t])


@kernel
def gain_of_step(costs, order, before, A, offset):  # type: ignore[no-untyped-def]
    """Return what a round adds to sum_i s_i (gain(a_i) - a_i offset) over the rows of `order`."""
    total = 0.0
    for t in range(len(order)):
        i = order[t]
        a, c, y = before[t], A[i, 0], costs.Y[i, 0]
        if a != c:
            change = gain(costs.loss, c, y) - gain(costs.loss, a, y) - offset * (c - a)
            total += weight(costs.weights, i) * change
    return total


@kernel
def changes(w, u, v, centre):  # type: ignore[no-untyped-def]
    """Return ||u - w||^2 + ||v - w||^2, ||u + v - 2 w||^2 and <w, u + v - 2 w>.

    Seen from a centre m, weights v - t m are kept as v, t and <v, m> (`data.rows.CsrRows`).
    """
    d = len(w) if len(centre.q) == 0 else len(w) - 2
    own, total, along = sums_of_changes(w, u, v, d)
    if d < len(w):
        square, e = centre.square, d + 1
        p, q, of_p, of_q = u[d] - w[d], v[d] - w[d], u[e] - w[e], v[e] - w[e]
        own += p * (p * square - 2.0 * of_p) + q * (q * square - 2.0 * of_q)
        p, of_p = p + q, of_p + of_q
        total += p * (p * square - 2.0 * of_p)
        along += w[d] * (p * square - of_p) - p * w[e]
    return own, total, along


@reordering_sums
def sums_of_changes(w, u, v, d):  # type: ignore[no-untyped-def]
    """Return what `changes` does, of the first d places and without a centre."""
    own, total, along = 0.0, 0.0, 0.0
    for j in range(d):
        x, y = u[j] - w[j], v[j] - w[j]
        own += x * x + y * y
        total += (x + y) * (x + y)
        along += w[j] * (x + y)
    return own, total, along


@kernel
def add_changes(w, u, v, factor):  # type: ignore[no-untyped-def]
    """Add factor times (u - w) + (v - w) to w, in place."""
    for j in range(len(w)):
        w[j] += factor * ((u[j] - w[j]) + (v[j] - w[j]))
