"""One of the iterates at random, or the best of a few such: the output of [SSSC11] Lemma 3.

At least half of the iterates w_1, ..., w_T (w_t: the weights before step t) are nearly as good as
their average: so one drawn at random is, with probability 1/2, and the best of m with 1 - 2^-m. The
best is told by the objective on a sample of rows, as the lemma's footnote has it.

T need not be known: after every step each candidate is any of the iterates so far with the same
probability. One chosen at step t stays until step t' > s with probability t/s, so that
t' = floor(t/u) + 1 for a uniform u. Weights are copied about log(T) times.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011.
          Lemma 3 and its footnote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.order import below, draw, identity
from pegasos.data.rows import FloatArray, scores
from pegasos.dispatch import compiled
from pegasos.problem.losses import value
from pegasos.problem.objective import Problem, flat, weight

DRAWS = 4294967295  # 2^32 - 1 equally likely numbers
ACCURACY = 0.01  # of a sampled objective: on 1/(lam ACCURACY) rows, as the footnote has it
FEWEST = 1000  # rows, however large lam is


@dataclass
class Candidates:
    """Iterates chosen at random: the steps taken so far, when to choose anew, what was chosen."""

    taken: int = 0
    due: list[int] = field(default_factory=list)  # per candidate, the step before which
    chosen: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)

    def steps_to_next(self) -> int:
        """Return how many steps may be taken before weights are to be kept again."""
        return min(self.due, default=2**62) - self.taken - 1

    def keep(self, W: FloatArray, b: FloatArray, random: Any) -> None:
        """Keep the weights before the next step, for those candidates that are due."""
        t = self.taken + 1
        for c, due in enumerate(self.due):
            if due == t:
                self.chosen[c] = W, b
                u = (below(DRAWS, random) + 0.5) / DRAWS
                self.due[c] = int(t / u) + 1


def new_candidates(count: int, W: FloatArray, b: FloatArray) -> Candidates:
    """Return so many candidates, all at the weights before the first step."""
    return Candidates(0, [1] * count, [(W, b)] * count)


def best_of(
    problem: Problem, candidates: Candidates, random: Any
) -> tuple[FloatArray, FloatArray]:
    """Return, of each model, the candidate of least objective on a sample of rows.

    `random` is left as it is: who asks twice is told the same.
    """
    if len(candidates.chosen) == 1:
        return candidates.chosen[0]
    n = len(problem.costs.Y)
    size, order = max(FEWEST, int(1.0 / (problem.lam * ACCURACY))), identity(n)
    if size < n:
        order = order[:size]
        draw(order, n, random.copy())
    worth = [sampled_objective(problem, order, W, b) for W, b in candidates.chosen]
    best = np.argmin(worth, axis=0)
    W, b = (np.stack(parts) for parts in zip(*candidates.chosen, strict=True))
    models = np.arange(len(best))
    return W[best, :, models].T.copy(), b[best, models]


def sampled_objective(
    problem: Problem, order: Any, W: FloatArray, b: FloatArray
) -> FloatArray:
    """Return lam/2 ||w||^2 and the mean loss over the rows of `order`, of every model."""
    sums = np.zeros((2, W.shape[1]))
    add_sampled_losses(problem, order, flat(np.ascontiguousarray(W)), b, sums)
    square = np.einsum("jk,jk->k", W, W)
    if problem.bias_scale > 0.0:
        square += (b / problem.bias_scale) ** 2
    return 0.5 * problem.lam * square + sums[0] / np.maximum(sums[1], 1e-300)


@compiled
def add_sampled_losses(problem, order, W, b, sums):  # type: ignore[no-untyped-def]
    """Add s_i loss_i and s_i over the rows of `order` to the rows of `sums`."""
    z = np.empty(len(b))
    for i in order:
        s = weight(problem.costs.weights, i)
        scores(problem.rows, i, W, z)
        for k in range(len(b)):
            sums[0, k] += s * value(problem.costs.loss, z[k] + b[k], problem.costs.Y[i, k])
            sums[1, k] += s
