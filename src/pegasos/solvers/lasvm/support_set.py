"""The rows that LASVM looks at: their coefficients, residuals and kernel values, in places 0..m-1.

Models share the places and the square of kernel values; each has its own members (see `process`).
Places fill from the end; a row that is a member of no model loses its place when `pack` closes the
gaps. The order of the rows is always that of their arrival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.solvers.decomposition.smo import Ascent, Box
from pegasos.solvers.lasvm.process import forget

BETA, R, UP, DOWN, LOW, HIGH = range(6)
FEWEST, MOST = 16, 256  # rows that are looked at together, and their share of those known: the
SHARE = 0.125  # kernel values among themselves are a part of the cost that grows with their number
GAPS = 0.1  # share of places that may be empty


@dataclass
class SupportSet:
    """Places for rows, of which the first `m` are taken.

    numbers : ndarray of shape (6, models, places)
        Of every model: coefficient, residual, prices (`smo`), lower and upper bound.
    diagonal : ndarray of shape (places,)
    square : ndarray of shape (places, places) or None
        Kernel values; None where they do not fit.
    """

    numbers: FloatArray
    diagonal: FloatArray
    square: Any
    m: int = 0

    @property
    def beta(self) -> FloatArray:
        """Coefficients, of shape (models, m)."""
        return self.numbers[BETA, :, : self.m]

    def ascent(self, k: int) -> Ascent:
        """Return model k as `process` sees it."""
        m = self.m
        beta, r, up, down = (self.numbers[which, k, :m] for which in (BETA, R, UP, DOWN))
        return Ascent(beta, r, up, down)

    def box(self, k: int) -> Box:
        """Return the feasible coefficients of model k."""
        low, high = self.numbers[LOW, k, : self.m], self.numbers[HIGH, k, : self.m]
        return Box(low, high, 0.0, np.zeros(self.m))

    def block_length(self) -> int:
        """Return how many rows to look at together."""
        return int(np.clip(SHARE * self.m, FEWEST, MOST))

    def append(self, values: Any, Y: FloatArray, C: FloatArray, diagonal: FloatArray) -> None:
        """Give places to q rows, members of no model yet.

        values : ndarray of shape (q, m + q)
            Kernel values with the rows that have places, and with each other.
        Y, C, diagonal : ndarray of shape (q, models), (q,), (q,)
            Labels, bounds on abs(beta), and K(x_i, x_i).
        """
        m, stop = self.m, self.m + len(Y)
        self._reserve(stop)
        new, bound = self.numbers[:, :, m:stop], (C[:, None] * Y).T
        new[BETA], new[UP], new[DOWN] = 0.0, -np.inf, np.inf
        new[LOW], new[HIGH] = np.minimum(0.0, bound), np.maximum(0.0, bound)
        new[R] = Y.T - self.beta @ values[:, :m].T
        self.diagonal[m:stop] = diagonal
        if self.square is not None:
            self.square[m:stop, :stop] = values
            self.square[:m, m:stop] = values[:, :m].T
            own = np.arange(m, stop)
            self.square[own, own] = diagonal
        self.m = stop

    def pack(self, first: int = 0) -> Any:
        """Take the places from rows that are no members; return the places that were kept.

        Closing a gap moves all that is behind it. Gaps before place `first` stay as they are, to be
        used again by the row that is there, until there are many.
        """
        used = self.numbers[:, :, : self.m]
        is_kept = ((used[UP] > -np.inf) | (used[DOWN] < np.inf)).any(axis=0)
        if np.count_nonzero(is_kept[:first]) > (1.0 - GAPS) * first:
            is_kept[:first] = True
        keep = np.flatnonzero(is_kept)
        self.numbers[:, :, : len(keep)] = self.numbers[:, :, keep]
        self.diagonal[: len(keep)] = self.diagonal[keep]
        if self.square is not None:
            pack_square(self.square, keep)
        self.m = len(keep)
        return keep

    def forget(self, is_free: bool) -> None:
        """Let members that do not support their model leave."""
        for k in range(self.numbers.shape[1]):
            forget(self.ascent(k), is_free)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the empty places out."""
        m, square = self.m, self.square
        return {
            "numbers": self.numbers[:, :, :m].copy(),
            "diagonal": self.diagonal[:m].copy(),
            "square": None if square is None else square[:m, :m].copy(),
            "m": m,
        }

    def _reserve(self, places: int) -> None:
        """Make room for so many rows; arrays grow by half at least."""
        have = self.numbers.shape[2]
        if places <= have:
            return
        have = max(places, have + have // 2)
        m, count = self.m, self.numbers.shape[1]
        numbers, diagonal = np.empty((6, count, have)), np.empty(have)
        numbers[:, :, :m], diagonal[:m] = self.numbers[:, :, :m], self.diagonal[:m]
        self.numbers, self.diagonal = numbers, diagonal
        if self.square is not None:
            self.square = enlarged(self.square[:m, :m], have)


def new_support_set(models: int, precision: Any) -> SupportSet:
    """Return an empty set."""
    return SupportSet(np.empty((6, models, 0)), np.empty(0), np.empty((0, 0), dtype=precision))


def balanced(B: FloatArray) -> FloatArray:
    """Shrink the heavier sign of every model until both weigh the same; B is (n, models)."""
    up, down = np.maximum(B, 0.0).sum(axis=0), -np.minimum(B, 0.0).sum(axis=0)
    light = np.minimum(up, down)
    of_up, of_down = (
        np.divide(light, whole, out=np.zeros_like(whole), where=whole > 0.0) for whole in (up, down)
    )
    return B * np.where(B > 0.0, of_up, of_down)


def enlarged(square: Any, places: int) -> Any:
    """Return a copy of kernel values with room for more."""
    out = np.empty((places, places), dtype=square.dtype)  # memory is taken as it is written
    out[: len(square), : len(square)] = square
    return out


@compiled
def pack_square(square, keep):  # type: ignore[no-untyped-def]
    """Move square[keep, keep] to the front, in place; `keep` increases."""
    first = 0
    while first < len(keep) and keep[first] == first:
        first += 1
    for a in range(len(keep)):
        for b in range(first if a < first else 0, len(keep)):
            square[a, b] = square[keep[a], keep[b]]
