"""The bias of a primal method, and the ways a free one is found.

    b = offset + scale * beta,     beta the weight of a feature that is always `scale`

    none               scale = 0, offset = 0
    regularized        scale = bias_scale, offset = 0
    free               beta is penalised around a centre, the offset, which moves onto the present
                       bias after every epoch (proximal point; the centre is the multiplier of
                       sum_i s_i a_i = 0)
    free-search        an outer search over the offset by the sign of J'(b) = -1/S sum_i s_i a_i, J
                       the minimum over w for that b; the weights go on from value to value
    free-bisection     the same as a bisection of J: for every value w starts anew at 0, and an
                       interval is halved by the sign of J'; an end that three signs running point
                       to is doubted, since noise may have put it there, and moved away
    free-subgradient   the offset takes sub-gradient steps of its own, 1/sqrt(t): the objective is
                       not strongly convex in b, and convergence is like 1/sqrt(t)
    free-batch         the offset minimises the loss of each mini-batch (`pegasos.batch_bias`)

The offset of a free bias starts at the best bias of the first weights in every way (`offsets`).

[SSSC11] Sec. 6. Its eq. (25) drops the lam/2 ||w||^2 that J must contain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem, typical_length

FREE_SCALE = 0.3  # constant feature around the centre, in root mean square row lengths
WIDEN, NARROW = 1.2, 0.5  # the search's step: while the sign of J' stays, and when it turns
ROUND = 0.1  # epochs spent on one value of the search, as a share of those behind it
DOUBT, AWAY = 3, 4.0  # signs running towards an end of the bisection; widths it then moves away
FIRST_ROUND, BISECTION_ROUND = 4, 0.25  # epochs on a value of the bisection: at least; such a share


class PrimalBias(NamedTuple):
    """The bias as kernels see it: `total` is sum s_i a_i / c, so that beta = scale a total.

    `rate` is the size of the bias's own sub-gradient steps, 0 for none.
    """

    scale: float
    total: FloatArray
    offset: FloatArray
    rate: float


@dataclass
class Search:
    """State of the outer search: per model, the step and the last sign of J'; the next move.

    The bisection has an interval, `low` to `high`, that holds the best bias as far as is known.
    """

    step: FloatArray
    sign: FloatArray
    due: int = 1  # passes after which the bias moves
    low: FloatArray = field(default_factory=lambda: np.full(1, -np.inf))
    high: FloatArray = field(default_factory=lambda: np.full(1, np.inf))


def new_bias(problem: Problem, way: str, squares: FloatArray | None = None) -> PrimalBias:
    """Return the constant feature that a way of finding the bias begins with.

    `squares` holds ||x_i||^2 of every row, which the way "free" needs.
    """
    K = problem.costs.Y.shape[1]
    scale, rate = problem.bias_scale, 0.0
    if problem.is_free:
        scale = 0.0
        if squares is not None and way == "free":
            scale = FREE_SCALE * typical_length(problem, squares)
        rate = 1.0 if way == "free-subgradient" else 0.0
    return PrimalBias(scale, np.zeros(K), np.zeros(K), rate)


def new_search(problem: Problem) -> Search:
    """Return the start of an outer search; its first step is as long as the targets are wide."""
    Y = problem.costs.Y
    half = 0.5 * (Y.max(axis=0) - Y.min(axis=0))
    return Search(np.maximum(half, 1e-3), np.zeros(Y.shape[1]))


def move_centre(bias: PrimalBias, a: FloatArray) -> None:
    """Move the centre onto the present bias; `a` is the factor of w = a v, per model."""
    bias.offset[:] += bias.scale**2 * a * bias.total
    bias.total[:] = 0.0


def search_on(search: Search, bias: PrimalBias, passes: int) -> None:
    """Move the offset against the sign of J' as the epochs at its present value showed it.

    Later values are given more epochs: signs close to the optimum take longer to tell.
    """
    if passes < search.due:
        return
    sign = np.sign(bias.total)
    turned = sign * search.sign < 0.0
    search.step *= np.where(turned, NARROW, np.where(search.sign == 0.0, 1.0, WIDEN))
    bias.offset[:] += sign * search.step
    search.sign, bias.total[:] = sign, 0.0
    search.due = passes + 1 + int(ROUND * passes)


def bisect(search: Search, offset: FloatArray, total: FloatArray, passes: int) -> None:
    """Halve the interval of the bias; `total`, -S J' at the present offset, says which half.

    `search.sign` counts the signs running.

    Steps, doubled each time, find its ends first. Later values are given more epochs.
    """
    is_below = total > 0.0
    search.low = np.where(is_below, offset, search.low)
    search.high = np.where(is_below, search.high, offset)
    is_closed = np.isfinite(search.low) & np.isfinite(search.high)
    sign = np.where(is_below, 1.0, -1.0)
    search.sign = np.where(sign * search.sign > 0.0, search.sign + sign, sign) * is_closed
    is_doubted = np.abs(search.sign) >= DOUBT
    with np.errstate(invalid="ignore"):  # an end that is not known yet
        away = np.where(is_doubted, AWAY * (search.high - search.low), 0.0)
        search.high = np.where(is_below, search.high + away, search.high)
        search.low = np.where(is_below, search.low, search.low - away)
        middle = 0.5 * (search.low + search.high)
    search.sign[is_doubted] = 0.0
    offset[:] = np.where(is_closed, middle, offset + sign * search.step)
    search.step = np.where(is_closed, search.step, 2.0 * search.step)
    search.due = passes + FIRST_ROUND + int(BISECTION_ROUND * passes)
