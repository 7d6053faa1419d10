"""Streams: `partial_fit` takes Pegasos steps on rows as they come, once each, in the order given.

With N the weight of all rows seen so far, a row of weight s does

    w <- (1 - s/N) w + s a / (lam N) x,      a = -slope of the loss at the row's score

so that two blocks are the same as one after the other, a row of weight 0 as no row. Where the user
gives C, lam = 1/(C N) with the N at the end of a block: the weights stay, lam falls. No dual point
is kept: a stream has no end, and so no optimum that a certificate could speak of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.order import identity
from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.errors import InvalidParameter
from pegasos.estimators.parameters import Parameters
from pegasos.problem.objective import Problem, blocks, make_problem
from pegasos.problem.scaling import lam_of
from pegasos.solvers.linear import primal
from pegasos.solvers.linear.pegasos import Pegasos, pegasos_pass

FREE = "free-subgradient"  # a free bias follows its own sub-gradient: all that a stream allows


@dataclass(frozen=True)
class Stream:
    """Where a stream stands: weights V = lam N w, the bias (see `constant`), and the time N."""

    V: FloatArray
    total: FloatArray
    offset: FloatArray
    N: float
    lam: float

    def under(self, lam: float, bias: str) -> Stream:
        """Return the same weights for another lam; an offset is dropped where there is no bias."""
        ratio = lam / self.lam
        offset = self.offset if bias.startswith("free") else np.zeros_like(self.offset)
        return Stream(self.V * ratio, self.total * ratio, offset, self.N, lam)


def weight_so_far(estimator: Any) -> float:
    """Return the weight of the rows that a fitted estimator has seen; 0 for a new one."""
    fitted = vars(estimator)
    if "C_" not in fitted:
        return 0.0
    return 1.0 / float(np.ravel(fitted["C_"] * fitted["lam_"])[0])  # the same for all models


def penalty_of_stream(
    estimator: Any, seen: float, n: int, sample_weight: FloatArray | None
) -> tuple[float, float]:
    """Return (C, lam) of a stream after n more rows: what they are for all rows so far."""
    N = seen + (float(n) if sample_weight is None else float(sample_weight.sum()))
    return lam_of(estimator.C, estimator.lam, N if N > 0.0 else 1.0)


def stream_solver(solver: Any, bias: str) -> Pegasos:
    """Return the Pegasos that takes the steps, or refuse what it cannot do in a stream."""
    if isinstance(solver, str) and solver in ("auto", "pegasos"):
        solver = Pegasos()
    if not isinstance(solver, Pegasos):
        raise InvalidParameter(
            f'partial_fit takes Pegasos steps; got solver={solver!r}. Use "auto" or "pegasos".'
        )
    if bias not in ("free", FREE, "regularized", "none"):
        raise InvalidParameter(
            f'partial_fit has no bias={bias!r}, which needs all rows; use "free", "regularized" or '
            '"none".'
        )
    defaults = Pegasos(batch_size=solver.batch_size, output=solver.output)
    if solver.get_params() != defaults.get_params() or solver.output not in ("tail", "last"):
        raise InvalidParameter(
            f"partial_fit takes rows as they come and hands out the last weights; {solver!r} asks "
            "for something else. Only batch_size may be set."
        )
    return solver


def go_on(
    stream: Stream | None,
    parameters: Parameters,
    rows: Rows,
    Y: FloatArray,
    sample_weight: FloatArray | None,
    lam: float,
    bias_scale: float,
) -> tuple[Stream, FloatArray, FloatArray]:
    """Take steps on new rows; return the stream, the weights (d, K) and the biases (K,)."""
    bias = parameters.bias
    problem = make_problem(parameters.loss, rows, Y, sample_weight, lam, bias, bias_scale)
    state = primal.new_state(problem, 0, FREE, False)
    if stream is not None:
        state.V[:], state.course.N[0] = stream.V, stream.N
        state.constant.total[:], state.constant.offset[:] = stream.total, stream.offset
    _take_steps(problem, state, int(parameters.solver.batch_size))
    W, b = primal.last_weights(problem, state)
    constant = state.constant
    stream = Stream(state.V, constant.total, constant.offset, float(state.course.N[0]), lam)
    return stream, W, b


def _take_steps(problem: Problem, state: primal.PrimalState, k: int) -> None:
    n, _ = shape(problem.rows)
    order, run = identity(n), primal.run_of(state, min(k, n))
    _, length = blocks(problem.rows)[0]
    length = max(k, length // k * k)
    for first in range(0, n, length):
        pegasos_pass(problem, order[first : first + length], min(k, n), run)


def stream_after_fit(
    W: FloatArray, b: FloatArray, lam: float, S: float, scale: float, is_free: bool
) -> Stream:
    """Return the stream that goes on from a fit on rows of total weight S."""
    nothing = np.zeros(len(b))
    has_scale = scale > 0.0 and not is_free
    total = b * (lam * S / scale**2) if has_scale else nothing
    return Stream(W * (lam * S), total, nothing if has_scale else b.astype(np.float64), S, lam)
