"""Index streams: in which order a solver visits the rows.

A stream is a plain array of row numbers and the 64-bit state of a generator, so that a run can be
stored and resumed exactly. The generator is SplitMix64: the same numbers on every machine.

[SLF14]  Steele, Lea, Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pegasos.data.rows import Rows, shape, stored_bytes
from pegasos.dispatch import compiled

Sampling = Literal["iid", "epoch", "fixed"]

BLOCK_BYTES = 8192  # of neighbouring rows: two pages of memory
WINDOW = 256  # blocks shuffled into each other: what the processor's page tables hold
CACHE_BYTES = 1_000_000


def identity(n: int) -> Any:
    """Return the row numbers 0..n-1, four bytes each while they fit."""
    return np.arange(n, dtype=np.uint32)


@compiled
def shuffle(order, state):  # type: ignore[no-untyped-def]
    """Permute `order` at random, in place (Fisher-Yates); advance `state`, shape (1,)."""
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]


def rows_per_block(rows: Rows) -> int:
    """Return how many neighbouring rows to visit together: about BLOCK_BYTES of them.

    Small data, which stays in the processor's cache, is permuted row by row.
    """
    n, _ = shape(rows)
    bytes_per_row = stored_bytes(rows) / max(1, n)
    if n * bytes_per_row <= CACHE_BYTES:
        return 1
    return int(np.clip(BLOCK_BYTES / max(1.0, bytes_per_row), 1, 64))


@compiled
def _gather_and_shuffle(order, idle, idle_visits, state):  # type: ignore[no-untyped-def]
    """Write the rows that are not idle into `order`, shuffled; return how many they are."""
    t = 0
    for i in range(len(idle)):
        if idle[i] < idle_visits:
            order[t] = i
            t += 1
    shuffle(order[:t], state)
    return t


@compiled
def permute(order, block, idle, idle_visits, state):  # type: ignore[no-untyped-def]
    """Write the rows in a random order into `order`; return how many they are.

    WINDOW blocks of `block` neighbouring rows are drawn at random and all their rows shuffled, then
    the next ones: not every permutation can occur, but only a few hundred pages of memory are in
    use at a time, which doubles the speed. (Visiting block after block would be faster still, but
    where neighbouring rows are alike, as in covtype, it takes ten times the epochs.) Rows with
    idle[i] >= idle_visits are left out.
    """
    n = len(idle)
    if block == 1:  # one window, and no list of blocks
        return _gather_and_shuffle(order, idle, idle_visits, state)
    starts = np.empty((n + block - 1) // block, dtype=np.uint32)
    for b in range(len(starts)):
        starts[b] = b * block
    shuffle(starts, state)
    t, first = 0, 0
    for b in range(len(starts)):
        start = np.int64(starts[b])
        for i in range(start, min(n, start + block)):
            if idle[i] < idle_visits:
                order[t] = i
                t += 1
        if (b + 1) % WINDOW == 0 or b + 1 == len(starts):
            shuffle(order[first:t], state)
            first = t
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
