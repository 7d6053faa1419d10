"""Kernel matrices of pairs of classes, which share the blocks of each class with itself.

One-vs-one training of K classes needs, for every pair (a, b), the matrix of the rows of both,

    | K[a, a]  K[a, b] |
    | K[b, a]  K[b, b] |

of which K[a, a] is the same in all K - 1 pairs of a. Where pairs are small the blocks of all
classes are computed once and kept; a pair computes K[a, b] and puts rows of its matrix together as
they are needed, in a room that the next pair takes over: no page of memory is touched for the first
time twice. Larger pairs compute rows of their matrix as they need them (`Gram`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import Rows, as_rows, float_type, shape
from pegasos.dispatch import compiled, inlined
from pegasos.kernel_matrix.blocks import Filled, fill
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kept_property import kept_property
from pegasos.kernel_matrix.kernelized import diagonal
from pegasos.kernel_matrix.memory import note_store
from pegasos.kernel_matrix.side import Side, left_rows, matrix, quickest, side
from pegasos.kernel_matrix.store import RowStore
from pegasos.parallel import cores, each
from pegasos.problem.kernels import Kernel, Precomputed, is_psd

SMALL_PAIR = 3000  # rows, up to which all of a pair's matrix is computed: most of it is used
LEAST_BUDGET = 32 << 20  # bytes, for tiles that are computed at a time
SHARE_OF_BLOCKS = 0.5  # of the memory budget, for the blocks of classes


class Parts(NamedTuple):
    """The blocks of a pair's matrix: each class with itself, and the first with the second."""

    first: Any
    second: Any
    cross: Any


class PairGram(Gram):
    """Kernel matrix of a pair of classes whose values are all there, in blocks (`parts`).

    Rows that are asked for are put together in the store; most, of rows that never come near to
    supporting a model, are not.
    """

    def __init__(self, blocks: ClassBlocks, chosen: Any, parts: Parts, room: Any) -> None:
        n = len(chosen)
        self.kernel, self.blocks, self.chosen = blocks.kernel, blocks, chosen
        self.budget = 4 * n * n * 8 + LEAST_BUDGET  # should it widen
        self.n, self.shape = n, (n, n)
        self.evaluations = self.hits = self.misses = 0
        self.noise, self.is_indefinite = 0.0, False
        self.diagonal, self.precision = blocks.diagonal[chosen], blocks.precision
        self.room, self.parts = room, parts
        self.kept = RowStore(n, room[: n * n].reshape(n, n))
        self.block_rows, self.scratch_rows, self.tiles = n, 1, 1

    @kept_property
    def rows(self) -> Rows:
        return taken(self.kernel, self.blocks.rows, self.chosen)

    @kept_property
    def side(self) -> Side:
        return self._part_of(self.blocks.side)

    @kept_property
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
        return self.parts is None and super().is_cheap

    @property
    def is_fleeting(self) -> bool:
        return self.parts is None and super().is_fleeting

    def widen(self) -> None:
        self.parts = None
        super().widen()

    def batches(self, rows: Any) -> list[Any]:
        if self.parts is None:
            return super().batches(rows)
        return [rows] if len(rows) else []

    def _compute(self, chosen: Any, others: Any | None, out: Any, places: Any, at: int = 0) -> None:
        if self.parts is None or others is not None:
            super()._compute(chosen, others, out, places, at)
        else:
            put_rows(self.parts, chosen, out, places)


class ClassBlocks:
    """Rows by class, and the kernel matrices of pairs of classes.

    `members` holds the row numbers of every class. `budget` is the memory for kernel values in
    bytes, for all pairs that are under way together.
    """

    def __init__(self, kernel: Kernel, rows: Rows, members: list[Any], budget: int) -> None:
        self.kernel, self.rows, self.members, self.budget = kernel, rows, members, budget
        self.precision = float_type(rows)
        self.diagonal = diagonal(kernel, rows)
        self.evaluations = 0
        self.at_once = 1
        self.own: dict[int, Any] = {}
        self.rooms: list[Any] = []  # that no pair uses at present
        self.bytes = 0  # of blocks and rooms
        if is_psd(kernel):  # of others, values are looked at
            self._keep_own()

    @kept_property
    def side(self) -> Side:
        """All rows as they are multiplied."""
        return quickest(self.kernel, side(self.kernel, self.rows), self.budget // 10)

    @kept_property
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
        self._note(sum(block.nbytes for block in self.own.values()))
        _ = self.side, self.in_double  # before threads ask for them
        each(self._fill_own, self.own)

    def _fill_own(self, c: int) -> None:
        some, out = self.members[c], self.own[c]
        fill(self.kernel, self.side, some, self.side, some, Filled(out, np.arange(len(some))))
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
        alone, together = (
            [int(p) for p in order if is_large[p] == which] for which in (True, False)
        )
        if together:
            self.at_once = int((self.budget - kept) // max(1.0, needs[together].max()))
            self.at_once = min(self.at_once, cores())
        return alone, together[-1:] + together[:-1], self.at_once

    def _need(self, a: int, b: int) -> int:
        """Return the bytes of memory for kernel values that a pair can use."""
        n = len(self.members[a]) + len(self.members[b])
        if self.is_held(a, b):
            return 5 * n * n * self.precision.itemsize // 4
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
        room = self._room(n * n + m * (n - m))
        cross = room[n * n : n * n + m * (n - m)].reshape(m, n - m)
        fill(self.kernel, self.side, first, self.side, second, Filled(cross, np.arange(m)))
        gram = PairGram(self, chosen, Parts(self.own[a], self.own[b], cross), room)
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
            enough = 5 * min(SMALL_PAIR, 2 * most) ** 2 // 4
            room = np.empty(max(values, enough), dtype=self.precision)
            self._note(room.nbytes)
        return room

    def _note(self, size: int) -> None:
        """Let other fits know of so much more memory."""
        self.bytes += size
        note_store(self, self.bytes)

    def release(self, gram: Gram) -> None:
        """Take note that a pair's matrix is no longer used."""
        if isinstance(gram, PairGram):
            self.rooms.append(gram.room)


def taken(kernel: Kernel, rows: Rows, chosen: Any) -> Rows:
    """Return some of the rows; of a precomputed kernel, their values among themselves."""
    if isinstance(kernel, Precomputed):
        return as_rows(rows.X[np.ix_(chosen, chosen)])
    return as_rows(matrix(rows, chosen))


@compiled
def put_rows(parts, chosen, out, places):  # type: ignore[no-untyped-def]
    """Write rows of a pair's matrix, put together from its blocks, into out[places]."""
    for k in range(len(chosen)):
        put_row(parts, chosen[k], out[places[k]])


@inlined
def put_row(parts, i, row):  # type: ignore[no-untyped-def]
    """Write row i of a pair's matrix."""
    m = len(parts.first)
    is_first = i < m
    for k in range(m):
        row[k] = parts.first[i, k] if is_first else parts.cross[k, i - m]
    for k in range(len(row) - m):
        row[m + k] = parts.cross[i, k] if is_first else parts.second[i - m, k]
