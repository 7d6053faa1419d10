"""What a learner remembers of its game: iterates, tangents and sums, in O(d) numbers.

Every cost is known from below by its tangent where it was played. With a_t a slope of the t-th loss
at its score z_t and x_t the row (or the gradient of any cost), for every fixed point u

    sum_t f_t(u) >= sum_t (loss_t - a_t z_t) + <sum_t a_t x_t, u> + (sum_t lam_t)/2 ||u||^2,

so two sums, a number and a vector, bound the best fixed point from below and the regret from above,
whatever was not kept of the costs. Next to each sum runs a bound on what rounding did to it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import inlined
from pegasos.problem.losses import value

EPS = float(np.finfo(np.float64).eps)

# Places in `State.sums`.
STEPS = 0  # t, the number of costs seen
COST = 1  # sum_t f_t(w_t)
DOUBT = 2  # by how much rounding may have moved COST
TANGENT = 3  # sum_t (loss_t - a_t z_t)
TANGENT_SIZE = 4  # sum_t (|loss_t| + |a_t z_t|): what its rounding scales with
PULL = 5  # sum_t ||a_t x_t||: what rounding of `State.pull` scales with
LAM = 6  # sum_t lam_t
AT_ZERO = 7  # sum_t f_t(0)
SQUARES = 8  # sum_t eta_t ||g_t||_*^2
LEAST_LAM = 9  # the least lam_t
SUMS = 10


class State(NamedTuple):
    """Arrays of a learner; the last two are room to work in.

    w : the point to be played next
    memory : what its rule remembers
    total : sum of the points played
    pull : sum_t a_t x_t
    sums : see the places above
    """

    w: FloatArray
    memory: FloatArray
    total: FloatArray
    pull: FloatArray
    sums: FloatArray
    room: FloatArray
    g: FloatArray


def new_state(d: int) -> State:
    """Return the state of a learner that has seen nothing, w still to be set."""
    w, memory, total, pull, room, g = np.zeros((6, d))
    sums = np.zeros(SUMS)
    sums[LEAST_LAM] = np.inf
    return State(w, memory, total, pull, sums, room, g)


class Scored(NamedTuple):
    """A row's score z and slope a, and what rounding scales with: ||w||, ||x||, values in a row."""

    z: float
    a: float
    w_norm: float
    x_norm: float
    values: float


@inlined
def book(loss, y, scored, sums):  # type: ignore[no-untyped-def]
    """Book a row's loss at the point played; the penalty is booked by `book_penalty`."""
    z, a = scored.z, scored.a
    lost = value(loss, z, y)
    radius = (scored.values + 16.0) * EPS * scored.w_norm * scored.x_norm  # of the score
    worst = max(value(loss, z - radius, y), value(loss, z + radius, y))
    sums[STEPS] += 1.0
    sums[COST] += lost
    sums[DOUBT] += max(0.0, worst - lost) + 16.0 * EPS * (lost + worst)
    sums[TANGENT] += lost - a * z
    sums[TANGENT_SIZE] += lost + abs(a * z)
    sums[PULL] += abs(a) * scored.x_norm
    sums[AT_ZERO] += value(loss, 0.0, y)


@inlined
def book_penalty(lam, square, doubt, sums):  # type: ignore[no-untyped-def]
    """Book lam/2 ||w||^2, given ||w||^2 and a bound on its error."""
    sums[COST] += 0.5 * lam * square
    sums[DOUBT] += 0.5 * lam * (doubt + 4.0 * EPS * square)
    sums[LAM] += lam
    sums[LEAST_LAM] = min(sums[LEAST_LAM], lam)


def inner(a: FloatArray, b: FloatArray) -> float:
    """Return <a, b> without BLAS, whose threads would make its bits depend on their number."""
    return float(np.einsum("i,i->", a, b))


def length(a: FloatArray) -> float:
    """Return ||a||_2, as `inner`."""
    return math.sqrt(inner(a, a))


def cost_doubt(state: State) -> float:
    """Return a bound on the error of COST, its own summation included."""
    sums: Any = state.sums
    return float(sums[DOUBT] + 2.0 * (sums[STEPS] + 16.0) * EPS * abs(sums[COST]))
