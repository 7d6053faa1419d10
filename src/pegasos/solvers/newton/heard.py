"""Rows that stop a step are heard before it is taken.

A row whose dual number rests at a bound has no curvature where a step begins. Along a column that
few rows have, none of them with a curvature, H allows almost any step, and a single row of all may
then stop it after a thousandth of its way. So such rows, K, enter the model of the step with their
envelopes as they are,

    minimise  g'p + 1/2 p'Hp + 1/S sum_{i in K} s_i (e_i(z_i + <x~_i, p>) + c_i <x~_i, p>)

with g the gradient and c_i the dual numbers where the step begins. With r_i the changes of these,

    p = H^-1 (-g + 1/S sum_{i in K} s_i r_i x~_i)

and r is found one row after the other, as in dual ascent: the rows are few, and each has a
`dual_step` of an envelope that is wider by what its own r_i moves its score.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrs

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.parallel import each
from pegasos.problem.losses import dual_step
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.newton.columns import Columns, standardised
from pegasos.solvers.newton.envelope import Smoothing
from pegasos.solvers.newton.passes import parts_of_scores

MOST = 48  # rows that are heard for one length of the way: those that stop the step most there
MAJORITY = 0.5  # of what all rows do to stop it that these must do: few rows are to be heard
FURTHER = 8.0  # times the way that a step went: the next length, until it is a whole step
SHORTEST = 1e-4  # the first length, at least, over FURTHER
SWEEPS = 300  # over these rows, at most
STILL = 1e-6  # of the largest change of a dual number so far: a sweep that changes less is the last


class Stopped(NamedTuple):
    """A step that went not far: the smoothing, scores, dual numbers, change of scores."""

    smoothing: Smoothing
    Z: FloatArray
    A: FloatArray
    D: FloatArray


class Heard(NamedTuple):
    """Numbers of rows K, their x~ (k, size), H^-1 x~' (size, k), and changes of dual numbers."""

    chosen: Any
    X: FloatArray
    V: FloatArray
    r: FloatArray


def nobody(size: int) -> Heard:
    """Return that no rows were heard yet."""
    empty = np.zeros((0, size))
    return Heard(np.zeros(0, np.int64), empty, empty.T, np.zeros(0))


def with_more(
    problem: Problem, columns: Columns, factor: FloatArray, before: Heard, rows: Any
) -> Heard:
    """Hear more rows; `factor` is that of H, as LAPACK has it."""
    X, V = with_inverse(problem, columns, factor, rows)
    return Heard(
        np.append(before.chosen, rows),
        np.vstack([before.X, X]),
        np.hstack([before.V, V]),
        np.append(before.r, np.zeros(len(rows))),
    )


def with_inverse(
    problem: Problem, columns: Columns, factor: FloatArray, rows: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the x~ (k, size) of some rows, and H^-1 x~' (size, k)."""
    X = np.empty((len(rows), len(columns.m) + 1))
    standardised(problem.rows, rows, columns, np.ones(len(problem.costs.Y)), X)
    X = X[:, : len(factor)]
    return X, dpotrs(factor, X.T, lower=1)[0]


def settled(problem: Problem, stopped: Stopped, heard: Heard, p: FloatArray) -> FloatArray:
    """Return the step (size,) with rows heard; p is the one without. Changes r in place."""
    s = problem.costs.weights.values
    s = s[heard.chosen] if problem.costs.weights.mask else np.full(len(heard.chosen), s[0])
    G = heard.X @ heard.V / problem.S
    d = heard.X @ p + G @ (s * heard.r)
    settle_rows(problem.costs, stopped, heard.chosen, G, d, heard.r)
    return p + heard.V @ (s * heard.r) / problem.S


@compiled
def settle_rows(costs, stopped, chosen, G, d, r):  # type: ignore[no-untyped-def]
    """Find the changes r of the dual numbers of some rows; d is how far their scores move."""
    ((B, q), Z, A, _), top = stopped, 0.0
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(len(chosen)):
            i = chosen[k]
            s, c = weight(costs.weights, i), A[i, 0]
            own = s * G[k, k]  # what one of c moves its own score by
            if q + own > 0.0:
                z = Z[i, 0] + d[k] - own * r[k]
                beta = (q * B[i, 0] + own * c) / (q + own)
                change = dual_step(costs.loss, z, beta, q + own, costs.Y[i, 0]) - c - r[k]
                if change != 0.0:
                    for j in range(len(chosen)):
                        d[j] += s * G[j, k] * change
                    r[k] += change
                    largest, top = max(largest, abs(change)), max(top, abs(r[k]))
        if largest <= STILL * top:
            break


def stopping_rows(problem: Problem, stopped: Stopped, h: FloatArray, u: float) -> Any:
    """Return the numbers of those rows without curvature h that stop a step most, ascending.

    It went no further than u: rows that stop it soon after that are among them and, as these will
    be held, those that would stop it later. None, if it takes many rows to stop it soon.
    """
    rises, u = np.empty(len(stopped.Z)), max(u, SHORTEST)
    found: list[Any] = []
    while u < 1.0:
        u = min(1.0, FURTHER * u)
        write = partial(write_rises, problem.costs, stopped, h, u, rises)
        each(write, parts_of_scores(problem))
        rows = np.flatnonzero(rises > 0.0)
        if len(rows) > MOST:
            total = rises[rows].sum()
            rows = rows[np.argpartition(-rises[rows], MOST)[:MOST]]
            if not found and rises[rows].sum() < MAJORITY * total:
                break
        found.append(rows)
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


@compiled
def write_rises(costs, stopped, h, u, rises, span):  # type: ignore[no-untyped-def]
    """Write how much a row without curvature h adds to the slope on the way to Z + u D."""
    (B, q), Z, A, D = stopped
    for i in range(span[0], span[1]):
        rises[i], s, d = 0.0, weight(costs.weights, i), u * D[i, 0]
        if h[i] == 0.0 and s > 0.0:
            c = dual_step(costs.loss, Z[i, 0] + d, B[i, 0], q, costs.Y[i, 0])
            rises[i] = s * (A[i, 0] - c) * d
