"""The online perceptron: add every row that is misclassified.

    if y_i <w, x_i> <= 0:   w <- w + s_i y_i x_i        the first row always errs: w = 0

It minimises no objective, so it ends by itself, after one pass over the rows in random order, and
the certificate only tells how far from the optimum that is. Its guarantee is on the errors of the
hypotheses w_1, w_2, ... that rows were classified with; it turns into one on new rows for a
hypothesis that is chosen among them or is their mean, and for a single pass over independent rows.

    average     the mean of the hypotheses, each weighted by the rows it classified [FS99]; for
                convex losses no worse than they are on the average [CCG04]
    random      one of them, drawn with those weights: what [CSS12] Theorem D.4 is about
    longest     the one that survived the longest run of rows without an error [Gal90]
    last        the last one: no guarantee

Only the direction of w is learned: it is handed out at the length that suits the objective best. A
bias is the weight of a constant feature: of `bias_scale` if it is penalised, and of the length of a
typical row if it is free. What is handed out as a free bias is the best one for the weights, as
with every solver. Time is weight: a row of weight 0 is no row.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Sec. 4.5, Theorem D.4.
[CCG04]  Cesa-Bianchi, Conconi, Gentile. On the generalization ability of on-line learning
         algorithms. IEEE Trans. Information Theory 50(9), 2004.
[FS99]   Freund, Schapire. Large margin classification using the perceptron algorithm. Machine
         Learning 37(3), 1999.
[Gal90]  Gallant. Perceptron-based learning algorithms. IEEE Trans. Neural Networks 1(2), 1990.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.centre import as_from_centre, as_from_origin, weight_count
from pegasos.data.order import below, identity, shuffle
from pegasos.data.rows import AHEAD, Centre, FloatArray, add, fetch, scores, shape
from pegasos.dispatch import inlined, kernel
from pegasos.problem.objective import (
    Problem,
    blocks,
    flat,
    typical_length,
    weight,
)
from pegasos.solvers.offsets import centred, seen
from pegasos.solvers.perceptron.best_length import at_best_length
from pegasos.solvers.perceptron.options import PerceptronOptions
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_is_hinge

DRAWS = 1 << 31  # different times at which a random hypothesis may be picked


class Hypothesis(NamedTuple):
    """Weights W of K models, (d, K) or (d,), and the weights beta (K,) of the constant feature."""

    W: Any
    beta: FloatArray


class Diary(NamedTuple):
    """What a run remembers from row to row.

    time : ndarray of shape (2,)
        Weight of the rows so far; and when to pick a random hypothesis.
    age, record : ndarray of shape (K,)
        Weight of the rows that the present hypothesis has survived, and the hypothesis kept.
    z, c : ndarray of shape (K,)
        Scores of the present row, and what is added of it to each model.
    """

    time: FloatArray
    age: FloatArray
    record: FloatArray
    z: FloatArray
    c: FloatArray


class PerceptronRun(NamedTuple):
    """A run: the present hypothesis, the sum of time times change, the one kept; the constant.

    `sums` and `kept` are empty where the output does not need them.
    """

    now: Hypothesis
    sums: Hypothesis
    kept: Hypothesis
    diary: Diary
    scale: float


@dataclass
class PerceptronState:
    """A run and where it stands: the order of the rows and the next place in it.

    Rows far from the origin are seen from `centre` (`offsets`).
    """

    run: PerceptronRun
    order: Any
    random: Any
    centre: Centre
    position: int = 0
    passes: int = 0

    @property
    def A(self) -> None:  # noqa: N802
        """There are no dual numbers to go on from."""


@dataclass
class Perceptron(PerceptronOptions, Solver):
    """The online perceptron: one pass, or a few; no objective, so no tolerance to reach.

    Parameters
    ----------
    passes : int, default=1
        Passes over the rows. What is known of its errors on new rows holds for one.
    output : {"average", "random", "longest", "last"}, default="average"
        Which weights to hand out: the mean of all along the way, one of them at random, the one
        that made no error for longest, or the last.
    """

    def start(self, problem: Problem, seed: int, previous: Any | None) -> PerceptronState:
        scale = problem.bias_scale
        if problem.is_free:
            problem, squares = centred(problem)
            scale = typical_length(problem, squares)
        rows, random = problem.rows, np.array([seed], dtype=np.uint64)
        size = weight_count(rows), scale
        run = new_run(problem, size, self.output, self.passes, random)
        if isinstance(previous, PerceptronState):  # a pass of another method is no pass of this
            W, b = as_from_origin(previous.centre, *handed_out(previous.run, "last"))
            run.now.W[:], b = as_from_centre(rows, W, b)
            run.now.beta[:] = b / scale if scale > 0.0 else 0.0
        return PerceptronState(run, identity(shape(rows)[0]), random, rows.centre)

    def advance(self, problem: Problem, state: PerceptronState) -> Advance:
        return self.advance_by(problem, state, len(state.order))

    def advance_by(self, problem: Problem, state: PerceptronState, most: int) -> Advance:
        n, problem = len(state.order), seen(problem, state.centre)
        if state.position == 0:
            shuffle(state.order, state.random)
        _, length = blocks(problem.rows)[0]
        order = state.order[state.position : state.position + min(length, most)]
        perceptron_pass(problem, order, flattened(state.run))
        state.position = (state.position + len(order)) % n
        state.passes += state.position == 0
        return Advance(
            len(order), state.position == 0, is_done=state.passes >= self.passes
        )  # fmt: skip

    def iterate(
        self, problem: Problem, state: PerceptronState
    ) -> tuple[FloatArray, FloatArray]:
        W, b = as_from_origin(state.centre, *handed_out(state.run, self.output))
        return at_best_length(problem, W, b)

    def dual_point(self, problem: Problem, state: PerceptronState) -> DualPoint | None:
        return None


def new_run(
    problem: Problem, size: tuple[int, float], output: str, passes: int, random: Any
) -> PerceptronRun:
    """Return a run at w = 0 over weights of `size` d and a constant feature."""
    check_is_hinge("perceptron", problem.costs.loss)
    (d, scale), K = size, problem.costs.Y.shape[1]
    pick = np.inf
    if output == "random":
        pick = passes * problem.S * (1.0 - below(DRAWS, random) / DRAWS)
    diary = Diary(
        time=np.array([0.0, pick]),
        age=np.zeros(K),
        record=np.full(K, 0.0 if output == "longest" else np.inf),
        z=np.zeros(K),
        c=np.zeros(K),
    )
    sizes = d, d * (output == "average"), d * (output in ("longest", "random"))
    now, sums, kept = (Hypothesis(np.zeros((rows, K)), np.zeros(K)) for rows in sizes)
    return PerceptronRun(now, sums, kept, diary, float(scale))


def flattened(run: PerceptronRun) -> PerceptronRun:
    """View the weights of one model as a vector, which kernels serve with one fused loop."""
    now, sums, kept = (h._replace(W=flat(h.W)) for h in (run.now, run.sums, run.kept))
    return run._replace(now=now, sums=sums, kept=kept)


def handed_out(run: PerceptronRun, output: str) -> tuple[FloatArray, FloatArray]:
    """Return the weights and the biases that a run stands for, at the length they have."""
    now, sums, kept, diary, scale = run
    T = max(diary.time[0], 1e-300)
    W, beta = now.W, now.beta
    if output == "average":
        W, beta = W - sums.W / T, beta - sums.beta / T
    elif output == "longest" or diary.time[0] >= diary.time[1]:
        is_kept = diary.age <= diary.record
        W, beta = np.where(is_kept, kept.W, W), np.where(is_kept, kept.beta, beta)
    return W, scale * beta


@kernel
def perceptron_pass(problem, order, run):  # type: ignore[no-untyped-def]
    """Visit the rows of `order`; the run changes."""
    costs, diary, last = problem.costs, run.diary, len(order) - 1
    for t in range(len(order)):                                # [CSS12] Sec. 4.5
        i = order[t]
        fetch(problem.rows, order[min(t + AHEAD, last)])
        scores(problem.rows, i, run.now.W, diary.z)
        if errs(costs.Y, i, weight(costs.weights, i), run):    # if y_i <w, x_i> <= 0
            add(problem.rows, i, diary.c, run.now.W)           #     w <- w + y_i x_i
            if len(run.sums.W) > 0:
                for k in range(len(diary.c)):
                    diary.c[k] *= diary.time[0]
                add(problem.rows, i, diary.c, run.sums.W)


@inlined
def errs(Y, i, s, run):  # type: ignore[no-untyped-def]
    """Write what row i adds to each model, given its scores; return whether any model errs.

    Does all that a change of hypothesis brings with it but the change of the weights themselves.
    """
    now, sums, kept, diary, scale = run
    if s == 0.0:
        return False
    if diary.time[0] < diary.time[1] <= diary.time[0] + s:
        for k in range(len(diary.c)):
            keep(now, k, kept)
    diary.time[0] += s
    some = False
    for k in range(len(diary.c)):
        y = Y[i, k]
        diary.c[k] = 0.0
        if y * (diary.z[k] + scale * now.beta[k]) <= 0.0:
            if diary.age[k] > diary.record[k]:
                keep(now, k, kept)
                diary.record[k] = diary.age[k]
            diary.age[k] = 0.0
            diary.c[k], some = s * y, True
            now.beta[k] += scale * s * y
            sums.beta[k] += scale * s * y * diary.time[0]
        else:
            diary.age[k] += s
    return some


@inlined
def keep(now, k, kept):  # type: ignore[no-untyped-def]
    """Copy the hypothesis of model k."""
    kept.beta[k] = now.beta[k]
    if len(kept.W) > 0:
        copy_model(now.W, k, kept.W)


@inlined
def copy_model(W, k, out):  # type: ignore[no-untyped-def]
    """Copy the weights of model k."""
    for j in range(len(W)):
        if W.ndim == 1:
            out[j] = W[j]
        else:
            out[j, k] = W[j, k]
