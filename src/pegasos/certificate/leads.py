"""Certified labels of a joint model: which class leads all others at the optimum, too.

The K outputs are one model: ||W - W*||_F <= r. So the lead of class q over class k at a row x,

    f*_q(x) - f*_k(x)  >=  <w_q - w_k, x> - above[k, q] - sqrt(2) r ||x - m||,

where above[k, q] bounds (b*_k - b*_q) + <(w* - w)_k - (w* - w)_q, m>, the pair's part of what
`predictions` writes as [lo, hi]: two classes together know more than each alone, whose bounds
would be 2 r ||x - m|| apart.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, shape
from pegasos.problem.geometry import geometry

ROOT_OF_TWO = math.sqrt(2.0) * (1.0 + 1e-15)


class Pairs(NamedTuple):
    """Of a joint model: the biases b (K,) it hands out, and `above` (K, K); infinite if unknown."""

    b: FloatArray
    above: FloatArray


def known_biases(b: FloatArray) -> Pairs:
    """Return what is known of biases that are coordinates of the weights, or 0."""
    return Pairs(b, b[:, None] - b)


def unknown_biases(b: FloatArray) -> Pairs:
    """Return what is known if nothing is."""
    K = len(b)
    return Pairs(b, np.where(np.eye(K, dtype=np.bool_), 0.0, np.inf))


def ends(pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """Return bounds (K,) on the biases that sum to 0: each is the mean of its differences."""
    return -pairs.above.mean(axis=0), pairs.above.mean(axis=1)


def sure_leaders(ball: Any, rows: Any) -> Any:
    """Return the class that leads at the optimum for every row; -1 where that is not known."""
    space, pairs = geometry(rows), ball.pairs
    Z = np.empty((shape(rows)[0], len(pairs.b)))
    space.write_scores(ball.centre, Z)
    room = np.zeros((len(Z), 1))
    space.push_scores(ball.origin, ball.square, ROOT_OF_TWO * ball.radius[:1], room)
    best = (Z + pairs.b).argmax(axis=1)
    leaders = np.full(len(Z), -1)
    for q in np.unique(best):
        mine = np.flatnonzero(best == q)
        rivals = np.delete(Z[mine] + pairs.above[:, q], q, axis=1)
        leads = Z[mine, q] - room[mine, 0] > rivals.max(axis=1)
        leaders[mine[leads]] = q
    return leaders
