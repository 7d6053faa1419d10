"""Dual ascent, one sequence at a time, for the log-loss of a conditional random field.

Maximises   D(a) = 1/S sum_i s_i entropy(p_i) - lam/2 ||w(a)||^2   over distributions p_i. With all
other p fixed, the best p_i is the model's own distribution at weights that already include it. The
step goes towards q, the model's distribution at the present weights, along scores: p_i is kept as
node scores theta and transitions of its own, and theta + eta (z - theta) moves it from p_i to q
without ever leaving the distributions of a chain, in as little memory as scores take. The length

    eta = R J / (J + C s_i ||E_q phi - E_p phi||^2),    J = KL(p || q) + KL(q || p),    R = 1.7

would, for R = 1, maximise D along the straight line to second order, with the curvature of the
entropy taken from its ends. Going further (over-relaxation, as of Gauss-Seidel) takes half the
epochs on handwritten words. The gain is then computed, and a step without one is halved.

A sequence begins with its true labels, where J is infinite. Its first step is that to z plus B at
the true labels: what its own weights will add to their scores, if all its tokens are alike.

Where C ||x||^2 is large, a run begins with a larger lam and comes down in steps of STEP, each once
the gap at the lam before is a tenth. Distributions stay, w(a) grows by the step. On handwritten
words (a tenth of the set), C = 10 then takes 139 epochs instead of 296, and C = 100 ends after 769,
where without it the gap was 7 after 400.

[CGKCB08]  Collins, Globerson, Koo, Carreras, Bartlett. Exponentiated gradient algorithms for
           conditional random fields and max-margin Markov networks. JMLR 9, 2008. Sec. 4.
[LPL18]    Le Priol, Piche, Lacoste-Julien. Adaptive stochastic dual coordinate ascent for
           conditional random fields. UAI 2018. Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, square_norm
from pegasos.dispatch import inlined, kernel
from pegasos.options import Options
from pegasos.problem.chain import expected_score, write_marginals
from pegasos.problem.objective import weight
from pegasos.problem.sequence_duals import Scored, combination
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

HALVINGS = 8  # of a step without gain, before the sequence is left for later
RELAXATION = 1.7  # of steps: below 2, where the gain would be none
STEP = 3.0  # by which lam falls, where the run begins with a larger one
EASY = 30.0  # C ||x||^2 of a typical token up to which it does not
ENOUGH = 0.1  # estimate of the relative gap at which lam falls
CERTAIN = 40.0  # by which the true labels are ahead before a sequence's first step: exp(-40) is 0


class Trial(NamedTuple):
    """Scores of a step that is tried: nodes (L, K), transitions (K, K)."""

    nodes: FloatArray
    edges: FloatArray


@dataclass
class ChainSDCAState:
    """A run: scores of the distributions, the weights that follow, who has not been visited yet.

    The weights are w(a) for `lam`, which is the problem's in the end.
    """

    dual: Scored
    model: Model
    is_new: Any
    trial: Trial
    visits: Visits
    lam: float


@dataclass
class ChainSDCA(Options):
    """Dual ascent on a conditional random field, with a closed-form step for each sequence."""

    name: ClassVar[str] = "sdca"
    losses: ClassVar[tuple[str, ...]] = ("logistic",)

    def start(
        self, problem: Sequences, K: int, seed: int, previous: Any | None = None
    ) -> ChainSDCAState:
        """Begin with the true labels, or where an earlier run ended."""
        n, T, _, L = sizes(problem)
        trial = Trial(np.zeros((L, K)), np.zeros((K, K)))
        if isinstance(previous, ChainSDCAState):
            dual, is_new, lam = previous.dual, previous.is_new, max(previous.lam, problem.lam)
            model = combination(problem._replace(lam=lam), dual, K)
        else:
            lam = first_lam(problem)
            dual, is_new = Scored(np.zeros((T, K)), np.zeros((n, K, K))), np.ones(n, dtype=np.uint8)
            dual.nodes[np.arange(T), problem.labels] = CERTAIN
            model = zero_model(problem, K)
        return ChainSDCAState(dual, model, is_new, trial, first_visits(problem, K, seed), lam)

    def advance(self, problem: Sequences, state: ChainSDCAState) -> Advance:
        """Visit sequences in a random order, each once per epoch."""
        way, present = state.visits, problem._replace(lam=state.lam)
        order = way.draw(problem, state.model.U.shape[1])
        room = (way.work, way.block, state.trial, way.sums)
        sdca_pass(present, order, (state.dual, state.is_new), state.model, room)
        step = way.note(present, len(order), state.model)
        if state.lam == problem.lam:
            return step
        if step.ends_epoch and step.estimate <= ENOUGH:
            lower_lam(state, problem.lam)
        return Advance(step.rows_visited, step.ends_epoch)

    def iterate(self, problem: Sequences, state: ChainSDCAState) -> Model:
        """Return the weights that were kept up to date: those of the dual point."""
        return state.model

    def dual_point(self, problem: Sequences, state: ChainSDCAState) -> Scored:
        """Return the distributions."""
        return state.dual


def first_lam(problem: Sequences) -> float:
    """Return the lam to begin with: the problem's, or a larger one where C ||x||^2 is large."""
    values, tokens = problem.rows.data, sizes(problem)[1]
    square = float(np.einsum("i,i->", values, values)) / tokens
    n = len(problem.starts) - 1
    return max(problem.lam, square / (EASY * n))


def lower_lam(state: ChainSDCAState, last: float) -> None:
    """Go on with a smaller lam, for which the weights of the same distributions are larger."""
    lam = max(last, state.lam / STEP)
    for part in state.model:
        part *= state.lam / lam
    state.lam = lam


@kernel
def sdca_pass(problem, order, point, model, room):  # type: ignore[no-untyped-def]
    """Take one step per sequence of `order`; `point` and `model` change in place."""
    (dual, is_new), (work, block, trial, sums) = point, room
    C, V, p, q = 1.0 / (problem.lam * problem.S), model.V, work.own, work.response
    for i in order:                                            # [LPL18] Alg. 1: pick i
        s = weight(problem.weights, i)
        if s == 0.0:
            continue
        start, stop = problem.starts[i], problem.starts[i + 1]
        theta, edges, L, z = dual.nodes[start:stop], dual.edges[i], stop - start, work.room.z
        write_scores(problem, i, model, z)
        top = respond(problem.loss, problem, i, V, work.room, q)
        log_sum = write_marginals(theta, edges, L, work.other, p.nodes, p.edges)
        away = divergence(z, V, top, theta, edges, log_sum, L, p)
        sums[0] += s * max(0.0, away)
        sums[1] += s * loss_value(problem, i, V, top, work.room)
        eta, goal = 1.0, z
        if is_new[i]:
            goal = work.other.z
            write_goal(problem, i, C * s, z, goal)
        else:
            eta = length(problem, i, C * s, V, work, theta, edges, block)
        for _ in range(HALVINGS):
            mix(theta, goal, eta, L, trial.nodes)
            mix(edges, V, eta, len(edges), trial.edges)
            log_sum = write_marginals(trial.nodes, trial.edges, L, work.other, q.nodes, q.edges)
            left = divergence(z, V, top, trial.nodes, trial.edges, log_sum, L, q)
            subtract(p, L, q)
            square = C * s * write_block(problem, i, q.nodes, q.edges, block)
            if away - left - 0.5 * square >= 0.0:
                mix(trial.nodes, trial.nodes, 0.0, L, theta)
                mix(trial.edges, trial.edges, 0.0, len(edges), edges)
                add_block(problem, i, -C * s, block, model)
                is_new[i] = 0
                break
            eta *= 0.5


@inlined
def divergence(z, V, top, theta, edges, log_sum, L, p):  # type: ignore[no-untyped-def]
    """Return KL(p || q) of p with scores theta and q with scores z, given their log Z."""
    theirs = top - expected_score(z, V, L, p.nodes, p.edges)
    return theirs - (log_sum - expected_score(theta, edges, L, p.nodes, p.edges))


@inlined
def length(problem, i, c, V, work, theta, edges, block):  # type: ignore[no-untyped-def]
    """Return the length eta of a step; q - p is left in work.response."""
    L, q = problem.starts[i + 1] - problem.starts[i], work.response
    subtract(work.own, L, q)
    J = expected_score(work.room.z, V, L, q.nodes, q.edges)
    J = max(0.0, J - expected_score(theta, edges, L, q.nodes, q.edges))
    square = c * write_block(problem, i, q.nodes, q.edges, block)
    return min(1.0, RELAXATION * J / (J + square)) if J > 0.0 else 0.0


@inlined
def write_goal(problem, i, c, z, goal):  # type: ignore[no-untyped-def]
    """Write z, and B more for the true labels: B = c L ||x||^2 (1 - p) at the p it leads to."""
    start, K = problem.starts[i], z.shape[1]
    L = problem.starts[i + 1] - start
    for t in range(L):
        norm = c * L * square_norm(problem.rows, start + t)
        low, high = 0.0, norm
        for _ in range(20):
            B = 0.5 * (low + high)
            rest = (K - 1) * math.exp(-B)
            if B < norm * rest / (1.0 + rest):
                low = B
            else:
                high = B
        for k in range(K):
            goal[t, k] = z[t, k]
        goal[t, problem.labels[start + t]] += high


@inlined
def subtract(p, L, q):  # type: ignore[no-untyped-def]
    """Subtract the marginals p from q, in place."""
    K = p.edges.shape[0]
    for t in range(L):
        for k in range(K):
            q.nodes[t, k] -= p.nodes[t, k]
    for r in range(K):
        for k in range(K):
            q.edges[r, k] -= p.edges[r, k]


@inlined
def mix(old, new, eta, L, out):  # type: ignore[no-untyped-def]
    """Write (1 - eta) old + eta new, of the first L rows."""
    for t in range(L):
        for k in range(out.shape[1]):
            out[t, k] = old[t, k] + eta * (new[t, k] - old[t, k])
