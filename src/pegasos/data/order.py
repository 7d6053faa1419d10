"""Index streams: in which order a solver visits the rows.

A stream is a plain array of row numbers and the 64-bit state of a generator, so that a run can be
stored and resumed exactly. The generator is SplitMix64: the same numbers on every machine.

[SLF14]  Steele, Lea, Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pegasos.dispatch import compiled

Sampling = Literal["iid", "epoch", "fixed"]


def identity(n: int) -> Any:
    """Return the row numbers 0..n-1, four bytes each while they fit."""
    return np.arange(n, dtype=np.uint32)


@compiled
def shuffle(order, state):  # type: ignore[no-untyped-def]
    """Permute `order` at random, in place (Fisher-Yates); advance `state`, shape (1,)."""
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]


@compiled
def draw(order, n, state):  # type: ignore[no-untyped-def]
    """Fill `order` with independent uniform row numbers below n; advance `state`."""
    for i in range(len(order)):
        order[i] = below(n, state)


@compiled
def below(n, state):  # type: ignore[no-untyped-def]
    """Return a uniform integer in [0, n), n < 2^32; the bias of 2^-32 is left in."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
