"""Pegasos on a stream: a step per row as it comes, once each, in the order given.

With N the weight of all rows seen so far, a row of weight s does

    w <- (1 - s/N) w + s a / (lam N) x,      a = -slope of the loss at the row's score

so that two blocks are the same as one after the other, a row of weight 0 as no row. Where the user
gives C, lam = 1/(C N) with the N at the end of a block: the weights stay, lam falls. No dual point
is kept: a stream has no end, and so no optimum that a certificate could speak of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pegasos.data.order import identity
from pegasos.data.rows import FloatArray, shape
from pegasos.problem.objective import Problem, blocks
from pegasos.solvers.pegasos.linear import pegasos_pass
from pegasos.solvers.primal import run as primal

FREE = "free-subgradient"  # a free bias follows its own sub-gradient: all that a stream allows


@dataclass(frozen=True)
class Stream:
    """Where a stream stands: weights V = lam N w, the bias (see `primal.bias`), and the time N."""

    V: FloatArray
    total: FloatArray
    offset: FloatArray
    N: float
    lam: float

    def under(self, problem: Problem) -> Stream:
        """Return the same weights for a problem's lam; an offset only where its bias is free."""
        ratio = problem.lam / self.lam
        offset = self.offset if problem.is_free else np.zeros_like(self.offset)
        return Stream(self.V * ratio, self.total * ratio, offset, self.N, problem.lam)


def go_on(
    stream: Stream | None, problem: Problem, batch_size: int
) -> tuple[Stream, FloatArray, FloatArray]:
    """Take steps on the rows of a problem, under its lam; a stream of None begins at w = 0.

    Returns the stream, the weights (d, K) and the biases (K,).
    """
    state = primal.new_state(problem, 0, FREE, False)
    if stream is not None:
        stream = stream.under(problem)
        state.V[:], state.scaling.N[0] = stream.V, stream.N
        state.bias.total[:], state.bias.offset[:] = stream.total, stream.offset
    _take_steps(problem, state, batch_size)
    W, b = primal.last_weights(problem, state)
    bias = state.bias
    N = float(state.scaling.N[0])
    return Stream(state.V, bias.total, bias.offset, N, problem.lam), W, b


def _take_steps(problem: Problem, state: primal.PrimalState, k: int) -> None:
    n, _ = shape(problem.rows)
    order, run = identity(n), primal.run_of(state, min(k, n))
    _, length = blocks(problem.rows)[0]
    length = max(k, length // k * k)
    for first in range(0, n, length):
        pegasos_pass(problem, order[first : first + length], min(k, n), run)


def stream_after_fit(W: FloatArray, b: FloatArray, S: float, problem: Problem) -> Stream:
    """Return the stream that goes on from a fit on rows of weight S, under a problem's lam."""
    lam, nothing = problem.lam, np.zeros(len(b))
    if problem.bias_scale > 0.0:
        total, offset = b * (lam * S / problem.bias_scale**2), nothing
    else:
        total, offset = nothing, b.astype(np.float64)
    return Stream(W * (lam * S), total, offset, S, lam)
