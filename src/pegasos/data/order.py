"""Index streams: in which order a solver visits the rows.

A stream is a plain array of row numbers and the 64-bit state of a generator, so that a run can be
stored and resumed exactly. The generator is SplitMix64: the same numbers on every machine.

[SLF14]  Steele, Lea, Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, Rows, shape, stored_bytes
from pegasos.dispatch import compiled

Sampling = Literal["epoch", "permutation", "fixed", "iid", "multiset"]
SAMPLINGS = ("epoch", "permutation", "fixed", "iid", "multiset")
INDEPENDENT = ("iid", "multiset")  # of earlier draws: rows are not met equally often

STRETCH_BYTES = 16_384  # of neighbouring dense rows: a few pages of memory
CACHE_BYTES = 1_000_000
NEVER_IDLE = 256  # above any count of idle visits: no row is left out


def identity(n: int) -> Any:
    """Return the row numbers 0..n-1, four bytes each while they fit."""
    return np.arange(n, dtype=np.uint32)


@dataclass
class Draws:
    """Random choices, of which the whole state is a seed and how many were made."""

    seed: int
    made: int = 0

    def _next(self) -> Any:
        self.made += 1
        return np.random.default_rng((self.seed, self.made))

    def choice(self, some: Any, size: int, replace: bool) -> Any:
        """Choose `size` of some things, or of so many numbers."""
        return self._next().choice(some, size, replace=replace)

    def permutation(self, some: Any) -> Any:
        """Return some things in random order."""
        return self._next().permutation(some)


@compiled
def shuffle(order, state):  # type: ignore[no-untyped-def]
    """Permute `order` at random, in place (Fisher-Yates); advance `state`, shape (1,)."""
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]


class Stretches(NamedTuple):
    """How the rows are cut for a permutation that reads memory in stretches.

    `length` neighbouring rows make a stretch; `together` stretches are visited together: shuffled
    into each other, or `in_turn`, one row of each after the other.
    """

    length: int
    together: int
    in_turn: bool


def stretches_of(rows: Rows, in_turn: bool) -> Stretches:
    """Choose how to cut the rows; small data, which stays in cache, is permuted row by row.

    Neighbouring rows of a dense table are often alike (sorted by place or time), so many short
    stretches are shuffled. Sparse rows may be read from a few long ones in turn, which processors
    recognise and fetch ahead of; methods that step exactly to a maximum do not bear it (dual
    coordinate ascent then takes many times the epochs), averaging ones do.
    """
    n, _ = shape(rows)
    bytes_per_row = stored_bytes(rows) / max(1, n)
    if n * bytes_per_row <= CACHE_BYTES:
        return Stretches(1, 1, False)
    if in_turn and isinstance(rows, CsrRows):
        return Stretches(128, 8, True)
    length = int(np.clip(STRETCH_BYTES / max(1.0, bytes_per_row), 1, 64))
    return Stretches(length, 128, False)


@compiled
def _gather_and_shuffle(order, idle, idle_visits, state):  # type: ignore[no-untyped-def]
    """Write the rows that are not idle into `order`, shuffled; return how many they are."""
    t = 0
    for i in range(len(idle)):
        order[t] = i  # the next one takes the place of a row that is left out
        t += idle[i] < idle_visits
    shuffle(order[:t], state)
    return t


@compiled
def permute(order, stretches, idle, idle_visits, state):  # type: ignore[no-untyped-def]
    """Write the rows in a random order into `order`; return how many they are.

    Stretches of neighbouring rows are drawn at random, a few at a time, and their rows mixed: not
    every permutation can occur, but little memory is in use at a time, which doubles the speed.
    (Stretch after stretch would be faster still, but where neighbouring rows are alike, as in
    covtype, it takes ten times the epochs.) Rows with idle[i] >= idle_visits are left out.
    """
    length, together, in_turn = stretches
    n = len(idle)
    if length == 1:  # one window, and no list of stretches
        return _gather_and_shuffle(order, idle, idle_visits, state)
    starts = np.empty((n + length - 1) // length, dtype=np.uint32)
    for b in range(len(starts)):
        starts[b] = b * length
    shuffle(starts, state)
    t = 0
    for first in range(0, len(starts), together):
        window = starts[first : first + together]
        begin = t
        for r in range(length):
            for b in range(len(window)):
                i = np.int64(window[b]) + r
                if i < n:
                    order[t] = i  # the next one takes the place of a row that is left out
                    t += idle[i] < idle_visits
        if not in_turn:
            shuffle(order[begin:t], state)
    return t


@compiled
def draw(order, n, state):  # type: ignore[no-untyped-def]
    """Fill `order` with independent uniform row numbers below n; advance `state`."""
    for i in range(len(order)):
        order[i] = below(n, state)


@compiled
def draw_sets(order, pool, size, state):  # type: ignore[no-untyped-def]
    """Fill `order` with sets of `size` different rows, each set uniform and independent.

    `pool`, any permutation of all rows, is permuted in place: a set is its beginning after as many
    swaps as the set has members. Where `order` is not a multiple of `size` long, the last is short.
    """
    n = len(pool)
    for first in range(0, len(order), size):
        for j in range(min(size, len(order) - first)):
            p = j + below(n - j, state)
            pool[j], pool[p] = pool[p], pool[j]
            order[first + j] = pool[j]


@compiled
def below(n, state):  # type: ignore[no-untyped-def]
    """Return a uniform integer in [0, n), n < 2^32; the bias of 2^-32 is left in."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
