"""Kernel matrices of pairs of classes, which share the blocks of each class with itself.

One-vs-one training of K classes needs, for every pair (a, b), the matrix of the rows of both,

    | K[a, a]  K[a, b] |
    | K[b, a]  K[b, b] |

of which K[a, a] is the same in all K - 1 pairs of a. Where pairs are small the blocks of all classes
are computed once and kept; a pair's matrix is put together in a room that the next pair takes over,
so that no page of memory is touched for the first time twice. Larger pairs bring rows of their
matrix into a store of their own as they need them (`Gram`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, Rows, as_rows, float_type, shape
from pegasos.dispatch import compiled
from pegasos.parallel import cores, each
from pegasos.problem.gram import Gram, diagonal, quickest
from pegasos.problem.kernels import Kernel, Precomputed, is_psd
from pegasos.problem.pairs import Side, fill, left_rows, matrix, side

SMALL_PAIR = 3000  # rows, up to which all of a pair's matrix is computed: most of it is used
LEAST_BUDGET = 32 << 20  # bytes, for tiles that are computed at a time
SHARE_OF_BLOCKS = 0.5  # of the memory budget, for the blocks of classes
SQUARE = 64  # rows and columns that are transposed together: they fit a cache


class HeldGram(Gram):
    """Kernel matrix of a pair of classes that is there in full; `room` holds its values."""

    def __init__(self, blocks: ClassBlocks, chosen: Any, room: Any) -> None:
        n = len(chosen)
        self.kernel, self.budget = blocks.kernel, 4 * n * n * 8 + LEAST_BUDGET  # should it widen
        self.n, self.shape = n, (n, n)
        self.evaluations = self.hits = self.misses = 0
        self.noise, self.is_indefinite = 0.0, False
        self.diagonal, self.precision = blocks.diagonal[chosen], blocks.precision
        self.blocks, self.chosen = blocks, chosen
        self.room, self.store = room, room[: n * n].reshape(n, n)
        self.capacity = self.block_rows = self.used = n
        self.scratch_rows = self.tiles = 1
        self.slot_of = np.arange(n, dtype=np.int32)
        self.owner = np.arange(n, dtype=np.int32)
        self.last_use, self.clock = np.zeros(n, dtype=np.int64), 0

    @cached_property
    def rows(self) -> Rows:  # type: ignore[override]
        return taken(self.kernel, self.blocks.rows, self.chosen)

    @cached_property
    def side(self) -> Side:  # type: ignore[override]
        return self._part_of(self.blocks.side)

    @cached_property
    def in_double(self) -> Side:
        return self._part_of(self.blocks.in_double)

    def _part_of(self, whole: Side) -> Side:
        exponents = whole.exponents[self.chosen] if len(whole.exponents) else whole.exponents
        return whole._replace(rows=self.rows, exponents=exponents)

    @property
    def rounding(self) -> float:
        return float(vars(self).get("side", self.blocks.side).error)

    @property
    def is_cheap(self) -> bool:
        return self.used < self.n and super().is_cheap

    def batches(self, rows: Any) -> list[Any]:
        if self.used < self.n:  # after `widen`
            return super().batches(rows)
        return [rows] if len(rows) else []


class ClassBlocks:
    """Rows by class, and the kernel matrices of pairs of classes.

    `members` holds the row numbers of every class. `budget` is the memory for kernel values in
    bytes, for all pairs that are under way together.
    """

    def __init__(
        self, kernel: Kernel, rows: Rows, members: list[Any], budget: int, precision: Any = None
    ) -> None:
        self.kernel, self.rows, self.members, self.budget = kernel, rows, members, budget
        self.precision = np.dtype(precision or float_type(rows))
        self.diagonal = diagonal(kernel, rows)
        self.evaluations = 0
        self.at_once = 1
        self.own: dict[int, Any] = {}
        self.rooms: list[Any] = []  # that no pair uses at present
        if is_psd(kernel):  # of others, values are looked at
            self._keep_own()

    @cached_property
    def side(self) -> Side:
        """All rows as they are multiplied."""
        own = side(self.kernel, self.rows, precision=self.precision)
        return quickest(self.kernel, own, self.budget // 10)

    @cached_property
    def in_double(self) -> Side:
        """All rows as they are multiplied where kernel values are wanted in double precision."""
        return side(self.kernel, self.rows, precision=np.float64)

    def _keep_own(self) -> None:
        """Compute the blocks of classes that are part of a small pair, if they fit the budget."""
        sizes = np.array([len(some) for some in self.members])
        least = np.array([np.delete(sizes, c).min() for c in range(len(sizes))])
        kept = np.flatnonzero(sizes + least <= SMALL_PAIR)
        if (sizes[kept] ** 2).sum() * self.precision.itemsize > SHARE_OF_BLOCKS * self.budget:
            return
        self.own = {int(c): np.empty((sizes[c], sizes[c]), self.precision) for c in kept}
        self.evaluations = int((sizes[kept] ** 2).sum())
        _ = self.side, self.in_double  # before threads ask for them
        each(self._fill_own, self.own)

    def _fill_own(self, c: int) -> None:
        some, out = self.members[c], self.own[c]
        fill(self.kernel, self.side, some, self.side, some, out, np.arange(len(some)))
        np.fill_diagonal(out, self.diagonal[some])

    def schedule(self, pairs: list[tuple[int, int]]) -> tuple[list[int], list[int], int]:
        """Return the numbers of pairs to be run one at a time, and side by side, and how many so.

        Whatever runs side by side has all the memory it can use: how many do changes nothing else.
        The first of those is the smallest, then comes the largest, so that no thread ends late.
        """
        kept = sum(block.nbytes for block in self.own.values())
        needs = np.array([self._need(a, b) for a, b in pairs], dtype=float)
        is_large = needs > 0.5 * (self.budget - kept)
        order = np.argsort(-needs, kind="stable")
        alone, together = ([int(p) for p in order if is_large[p] == which] for which in (True, False))
        if together:
            self.at_once = int((self.budget - kept) // max(1.0, needs[together].max()))
            self.at_once = min(self.at_once, cores())
        return alone, together[-1:] + together[:-1], self.at_once

    def _need(self, a: int, b: int) -> int:
        """Return the bytes of memory for kernel values that a pair can use."""
        n = len(self.members[a]) + len(self.members[b])
        if self.is_held(a, b):
            return n * n * self.precision.itemsize
        gathered = 4 * left_rows(self.rows) * shape(self.rows)[1] * self.precision.itemsize
        return 2 * n * n * self.precision.itemsize + gathered + LEAST_BUDGET

    def is_held(self, a: int, b: int) -> bool:
        """Whether all of a pair's matrix is computed."""
        size = len(self.members[a]) + len(self.members[b])
        return size <= SMALL_PAIR and a in self.own and b in self.own

    def gram(self, a: int, b: int) -> Gram:
        """Return the kernel matrix of the rows of class a, then those of b."""
        first, second = self.members[a], self.members[b]
        chosen = np.concatenate([first, second])
        if not self.is_held(a, b):
            rows = taken(self.kernel, self.rows, chosen)
            budget = min(self.budget, self._need(a, b))
            return Gram(self.kernel, rows, budget, self.diagonal[chosen])
        m, n = len(first), len(chosen)
        gram = HeldGram(self, chosen, self._room(n * n))
        K = gram.store
        fill(self.kernel, self.side, first, self.side, second, K[:, m:], np.arange(m))
        assemble(K, self.own[a], self.own[b])
        gram.evaluations = gram.misses = m * (n - m)
        return gram

    def _room(self, values: int) -> Any:
        """Return room for a matrix: of an earlier pair, if there is one large enough."""
        try:
            room = self.rooms.pop()
        except IndexError:
            room = None
        if room is None or len(room) < values:
            most = max(len(some) for some in self.members)
            room = np.empty(max(values, min(SMALL_PAIR, 2 * most) ** 2), dtype=self.precision)
        return room

    def release(self, gram: Gram) -> None:
        """Take note that a pair's matrix is no longer used."""
        if isinstance(gram, HeldGram):
            self.rooms.append(gram.room)


def taken(kernel: Kernel, rows: Rows, chosen: Any) -> Rows:
    """Return some of the rows; of a precomputed kernel, their values among themselves."""
    if isinstance(kernel, Precomputed):
        return as_rows(rows.X[np.ix_(chosen, chosen)])
    return as_rows(matrix(rows, chosen))


@compiled
def assemble(K, first, second):  # type: ignore[no-untyped-def]
    """Put the blocks of two classes into place; what lies right of the first is mirrored below."""
    m, n = len(first), len(K)
    for i in range(m):
        K[i, :m] = first[i]
    for i in range(m, n):
        K[i, m:] = second[i - m]
    for corner in range(0, m, SQUARE):
        for start in range(m, n, SQUARE):
            for i in range(start, min(n, start + SQUARE)):
                for j in range(corner, min(m, corner + SQUARE)):
                    K[i, j] = K[j, i]
