"""Pegasos on label sequences: stochastic sub-gradient descent on the primal.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i loss_i(w)   (`problem.sequences`)

One random sequence per step, step size 1/(lam t), with time counted in weight so that sample
weights are exact. The weights are kept as scale * v: a step costs the stored values of one
sequence. The average of the sub-gradients that a sequence took over the later epochs (a tail that
begins anew whenever the epochs have doubled) is a dual point. For the hinge the labels that were
taken are counted, so that it is exact; for the logistic loss the model's own distribution at the
present weights is a tighter one, and nothing is kept.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011. Fig. 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.dispatch import by_tag, inlined, kernel
from pegasos.options import Options
from pegasos.problem.chain import add_path
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import Counts, OfModel
from pegasos.problem.sequences import (
    Model,
    SequenceHinge,
    SequenceLogistic,
    Sequences,
    add_block,
    respond,
    sizes,
    subtract_labels,
    write_block,
    write_scores,
)
from pegasos.solvers.chain.visits import Visits, first_visits, zero_model
from pegasos.solvers.protocol import Advance

SMALLEST = 1e-8  # scale of the weights below which they are written out


@dataclass
class ChainPegasosState:
    """A run: weights scale * v, the weight N of the visits, and what was taken in the tail."""

    model: Model
    scale: Any
    N: Any
    counts: Counts
    visits: Visits
    epochs: int = 0
    tail_began: int = 0


@dataclass
class ChainPegasos(Options):
    """Stochastic sub-gradient descent with step 1/(lam t), no step size to choose."""

    name: ClassVar[str] = "pegasos"
    losses: ClassVar[tuple[str, ...]] = ("hinge", "logistic")

    def start(
        self, problem: Sequences, K: int, seed: int, previous: Any | None = None
    ) -> ChainPegasosState:
        """Begin with weights of 0, or with those of an earlier run as if of one epoch."""
        n, T, _, _ = sizes(problem)
        keeps = isinstance(problem.loss, SequenceHinge)
        nodes, edges = np.zeros((T * keeps, K)), np.zeros((n * keeps, K, K))
        state = ChainPegasosState(
            zero_model(problem, K), np.ones(1), np.zeros(1),
            Counts(nodes, edges), first_visits(problem, K, seed),
        )
        if isinstance(previous, ChainPegasosState) and previous.epochs:
            state.model = self.iterate(problem, previous)
            state.N[0], state.epochs, state.tail_began = problem.S, 1, 1
        return state

    def advance(self, problem: Sequences, state: ChainPegasosState) -> Advance:
        """Visit sequences in a random order, each once per epoch."""
        way = state.visits
        if way.position == 0 and state.epochs >= 2 * state.tail_began and state.epochs > 0:
            state.tail_began = state.epochs
            state.counts.nodes[:], state.counts.edges[:] = 0.0, 0.0
        order = way.draw(problem, state.model.U.shape[1])
        room = (way.work, way.block)
        pegasos_pass(problem, order, state.model, state.counts, (state.scale, state.N), room)
        step = way.note(problem, len(order))
        state.epochs += step.ends_epoch
        return step

    def iterate(self, problem: Sequences, state: ChainPegasosState) -> Model:
        """Return the present weights."""
        return Model(*(state.scale[0] * part for part in state.model))

    def dual_point(self, problem: Sequences, state: ChainPegasosState) -> Any:
        """Return what was taken over the tail, on average; for the logistic loss the slope."""
        if not isinstance(problem.loss, SequenceHinge):
            return OfModel()
        return state.counts


@by_tag
def take_note(loss: Any, problem: Any, i: int, counts: Any, response: Any) -> None:
    """Count the labels that a sub-gradient takes, where they are a dual point."""


@take_note.register(SequenceLogistic)
def _(loss, problem, i, counts, response):  # type: ignore[no-untyped-def]
    pass


@take_note.register(SequenceHinge)
def _(loss, problem, i, counts, response):  # type: ignore[no-untyped-def]
    start, stop = problem.starts[i], problem.starts[i + 1]
    add_path(response.path, stop - start, 1.0, counts.nodes[start:stop], counts.edges[i])


@kernel
def pegasos_pass(problem, order, model, counts, time, room):  # type: ignore[no-untyped-def]
    """Take one step per sequence of `order`; everything but `order` changes in place."""
    (scale, N), (work, block), z = time, room, room[0].room.z
    for i in order:                                            # [SSSC11] Fig. 1: choose i
        s, L = weight(problem.weights, i), problem.starts[i + 1] - problem.starts[i]
        write_scores(problem, i, model, z)
        for t in range(L):
            for k in range(z.shape[1]):
                z[t, k] *= scale[0]
        write_transitions(model.V, scale[0], block.V)
        respond(problem.loss, problem, i, block.V, work.room, work.response)
        take_note(problem.loss, problem, i, counts, work.response)
        if s == 0.0:
            continue
        N[0] += s
        eta = s / (problem.lam * N[0])                         # eta_t = 1 / (lam t)
        subtract_labels(problem, i, work.response.nodes, work.response.edges)
        write_block(problem, i, work.response.nodes, work.response.edges, block)
        if N[0] == s:                                          # w <- (1 - eta lam) w: forget all
            empty(model)
            scale[0] = 1.0
        else:
            scale[0] *= 1.0 - s / N[0]
        add_block(problem, i, -eta / scale[0], block, model)   #      + eta (phi_y - E phi)
        if scale[0] < SMALLEST:
            write_out(model, scale)


@inlined
def write_transitions(V, c, out):  # type: ignore[no-untyped-def]
    """Write c V."""
    for r in range(V.shape[0]):
        for k in range(V.shape[1]):
            out[r, k] = c * V[r, k]


@inlined
def empty(model):  # type: ignore[no-untyped-def]
    """Set all weights to 0."""
    for r in range(model.U.shape[0]):
        for k in range(model.U.shape[1]):
            model.U[r, k] = 0.0
    for r in range(model.V.shape[0]):
        for k in range(model.V.shape[1]):
            model.V[r, k] = 0.0


@inlined
def write_out(model, scale):  # type: ignore[no-untyped-def]
    """Multiply the weights by their scale, which is then 1."""
    for r in range(model.U.shape[0]):
        for k in range(model.U.shape[1]):
            model.U[r, k] *= scale[0]
    write_transitions(model.V, scale[0], model.V)
    scale[0] = 1.0
