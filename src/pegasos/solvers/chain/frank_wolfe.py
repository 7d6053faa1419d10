"""Block-coordinate Frank-Wolfe on the dual of the structured hinge.

Maximises   D(a) = 1/S sum_i s_i E_p cost_i - lam/2 ||w(a)||^2   over distributions p_i, one
sequence at a time: loss-augmented decoding finds the best corner of p_i's simplex, and a step
towards it has an exact length. The distribution is kept as the few label sequences that have mass,
which makes it one without fail, and lets steps be pairwise: mass goes to the best sequence from the
worst that has some, which forgets a sequence for good where the plain step only ever halves it.

[LJJSP13]  Lacoste-Julien, Jaggi, Schmidt, Pletscher. Block-coordinate Frank-Wolfe optimization for
           structural SVMs. ICML 2013. Algorithm 4.
[OALDL16]  Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien. Minding the gaps for block
           Frank-Wolfe optimization of structured SVMs. ICML 2016. Sec. 3.4 (pairwise steps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.dispatch import kernel
from pegasos.options import Options
from pegasos.problem.chain import add_path, path_score
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import Paths, combination
from pegasos.problem.sequences import (
    Model,
    Sequences,
    add_block,
    loss_value,
    respond,
    sizes,
    write_block,
    write_scores,
)
from pegasos.solvers.chain.visits import Visits, first_visits, zero_model
from pegasos.solvers.protocol import Advance

ROOM = 4  # label sequences kept per sequence, to begin with
FULL = 0.1  # share of the gap that sequences without a free place may have: above, room is made


@dataclass
class FrankWolfeState:
    """A run: label sequences and their mass, and the weights that follow."""

    dual: Paths
    model: Model
    visits: Visits


@dataclass
class ChainFrankWolfe(Options):
    """Block-coordinate Frank-Wolfe with pairwise steps of exact length."""

    name: ClassVar[str] = "frank_wolfe"
    losses: ClassVar[tuple[str, ...]] = ("hinge",)

    def start(
        self, problem: Sequences, K: int, seed: int, previous: Any | None = None
    ) -> FrankWolfeState:
        """Begin with all mass on the true labels, or where an earlier run ended."""
        n, T, _, _ = sizes(problem)
        if isinstance(previous, FrankWolfeState):
            dual = previous.dual
            model = combination(problem, dual, K)
        else:
            dual = Paths(np.zeros((ROOM, T), dtype=np.uint16), np.zeros((n, ROOM)))
            dual.paths[0], dual.mass[:, 0] = problem.labels, 1.0
            model = zero_model(problem, K)
        return FrankWolfeState(dual, model, first_visits(problem, K, seed))

    def advance(self, problem: Sequences, state: FrankWolfeState) -> Advance:
        """Visit sequences in a random order, each once per epoch."""
        way = state.visits
        order = way.draw(problem, state.model.U.shape[1])
        room = (way.work, way.block, way.sums)
        frank_wolfe_pass(problem, order, state.dual, state.model, room)
        step = way.note(problem, len(order), state.model)
        if step.ends_epoch and way.sums[2] > FULL * way.sums[0]:
            state.dual = _with_more_room(state.dual)
        return step

    def iterate(self, problem: Sequences, state: FrankWolfeState) -> Model:
        """Return the weights that were kept up to date: those of the dual point."""
        return state.model

    def dual_point(self, problem: Sequences, state: FrankWolfeState) -> Paths:
        """Return the distributions."""
        return state.dual


def _with_more_room(dual: Paths) -> Paths:
    """Double the label sequences that can be kept."""
    return Paths(
        np.concatenate([dual.paths, np.zeros_like(dual.paths)]),
        np.concatenate([dual.mass, np.zeros_like(dual.mass)], axis=1),
    )


@kernel
def frank_wolfe_pass(problem, order, dual, model, room):  # type: ignore[no-untyped-def]
    """Take one step per sequence of `order`; `dual` and `model` change in place."""
    work, block, sums = room
    C = 1.0 / (problem.lam * problem.S)
    for i in order:                                            # [LJJSP13] Alg. 4, 4: pick i
        s = weight(problem.weights, i)
        if s == 0.0:
            continue
        start, stop = problem.starts[i], problem.starts[i + 1]
        L, z = stop - start, work.room.z
        write_scores(problem, i, model, z)
        top = respond(problem.loss, problem, i, model.V, work.room, work.response)   # 5: oracle
        mass, path = dual.mass[i], work.response.path
        worst, free, same = -1, -1, -1
        least, gap = np.inf, 0.0
        for m in range(len(mass)):
            if mass[m] == 0.0:
                free = m
                continue
            known = dual.paths[m, start:stop]
            score = path_score(z, model.V, L, known)
            gap += mass[m] * max(0.0, top - score)
            if score < least:
                worst, least = m, score
            is_same = True
            for t in range(L):
                is_same &= known[t] == path[t]
            same = m if is_same else same
        sums[0] += s * gap
        sums[1] += s * loss_value(problem, i, model.V, top, work.room)
        to = same if same >= 0 else free
        sums[2] += s * gap if to < 0 else 0.0
        if to < 0 or to == worst or top <= least:
            continue
        add_path(dual.paths[worst, start:stop], L, -1.0, work.response.nodes, work.response.edges)
        square = C * s * write_block(problem, i, work.response.nodes, work.response.edges, block)
        is_all = top - least >= mass[worst] * square
        step = mass[worst] if is_all else (top - least) / square    # 6: line search
        for t in range(L):
            dual.paths[to, start + t] = path[t]
        mass[to] += step
        mass[worst] = mass[worst] - step if step < mass[worst] else 0.0
        add_block(problem, i, -C * s * step, block, model)     # 7-8: w
