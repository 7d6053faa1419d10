"""What a run of the batch perceptron is, and what it hands out: weights, duals, their gap.

Weights come from averages of w over the later steps. Two are kept, since a quarter to a half and
since a half to all of the steps were taken; as the error of both falls like 1/t, the line through
them passes closer to the optimum than either, beyond the later one. The best point on it, at its
best length, is handed out. With output="average" it is the plain average of all steps, as in
[CSS12] Lemma 3.2: given nu, divided by its value gamma; given lam, at its best length.

Duals are the average p* of the later steps, confined to rows that were stepped on, whose rows of K
have been paid for. Given lam, they are brought to their best size, and capped at 1 (`slack`).

What both are worth is computed, not assumed: docs/mathematics.md, section 13.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.batch_perceptron.best_level import best_scale
from pegasos.solvers.batch_perceptron.slack import (
    balanced,
    basin,
    best_duals,
    bounds_of,
    curves,
    distribution,
    level,
    volume_below,
)
from pegasos.solvers.batch_perceptron.steps import Now, Path
from pegasos.solvers.batch_perceptron.water import balanced_water_level

FIRST_TURN = 32  # steps before averages first leave the earliest ones out
FARTHEST = 5.0  # that the line is followed, in distances of the two averages from the earlier one


class Sums(NamedTuple):
    """Sums over the steps of a run up to some step; differences are those over later steps."""

    steps: int
    alpha: FloatArray
    c: FloatArray
    p: FloatArray


class Point(NamedTuple):
    """A w with its responses and square norm."""

    alpha: FloatArray
    c: FloatArray
    square: float


@dataclass
class BatchRun:
    """One model: its path, where it stands, and the two steps since which averages are taken."""

    y: FloatArray
    path: Path
    now: Now
    marks: list[Sums]
    first: int = 0  # steps that an earlier run counts for

    @property
    def steps(self) -> int:
        """Return the steps of this run."""
        return self.now.t - self.first

    @property
    def next_turn(self) -> int:
        """Return the step at which the later mark takes the place of the earlier: the doubled."""
        return max(FIRST_TURN, 2 * self.marks[1].steps)

    def turn(self) -> None:
        """Begin a new average."""
        self.marks = [self.marks[1], self.sums()]

    def sums(self) -> Sums:
        """Return the sums up to now."""
        path = self.path
        return Sums(self.steps, path.alpha_sum.copy(), path.c_sum.copy(), path.p_sum.copy())

    def can_move(self, is_free: bool) -> bool:
        """Whether there is anything to learn: a free bias alone serves rows of a single class."""
        return not is_free or bool((self.y > 0.0).any() and (self.y < 0.0).any())


@dataclass
class BatchPerceptronState:
    """A run: its models, and what was handed out after `offered` of its steps.

    `W`, `A` of shape (n, models) are weights and dual numbers, `b`, `primal`, `dual` biases and
    objectives; given lam, all are the best so far. Given nu, they belong to the problem with
    `implied_lam`.
    """

    runs: list[BatchRun]
    nu: float | None
    W: FloatArray
    A: FloatArray
    b: FloatArray
    primal: FloatArray
    dual: FloatArray
    implied_lam: float | None = None
    offered: int = 0
    steps: int = 0
    estimate: float = float("inf")  # relative gap after `assessed` steps
    assessed: int = 0
    place: tuple[int, int] = (0, 0)  # the model whose epoch it is; steps into it
    is_plain: bool = False  # the average of all steps is handed out, whatever was better

    def coefficients(self, problem: Problem) -> FloatArray:
        """Return the expansion of the models, (n, models): where a warm start goes on from."""
        offer(problem, self)
        return self.W


def offer(problem: Problem, state: BatchPerceptronState) -> None:
    """Bring what is handed out up to date."""
    if state.offered == state.steps:
        return
    for k, run in enumerate(state.runs):
        if run.steps > 0 and state.nu is None:
            offer_for_lam(problem, state, k)
        elif run.steps > 0:
            offer_for_nu(problem, state)
    state.offered = state.steps


def average(run: BatchRun) -> Point:
    """Return the average of w over all steps."""
    path = run.path
    alpha, c = path.alpha_sum / run.steps, path.c_sum / run.steps
    return Point(alpha, c, max(0.0, float(alpha @ c)))


def best_point(run: BatchRun, cost: Callable[[Point], float]) -> Point:
    """Return the point of least cost on the line through the two averages of w."""
    total = run.sums()
    ends = []
    for mark in run.marks:
        steps = total.steps - mark.steps
        if steps > 0:
            ends.append(((total.alpha - mark.alpha) / steps, (total.c - mark.c) / steps))

    def at(x: float) -> Point:
        alpha, c = (old + x * (new - old) for old, new in zip(ends[0], ends[-1], strict=True))
        return Point(alpha, c, max(0.0, float(alpha @ c)))

    if run.marks[0].steps == run.marks[1].steps or len(ends) < 2:
        return at(0.0)
    found = minimize_scalar(
        lambda x: cost(at(x)), bounds=(0.0, FARTHEST), method="bounded", options={"xatol": 0.02}
    )
    return min((at(x) for x in (0.0, 1.0, float(found.x))), key=cost)


def seen(run: BatchRun) -> FloatArray:
    """Return the sum of the p*_t since the earlier mark, on rows that were ever stepped on."""
    p = np.where(run.path.visits > 0.0, run.path.p_sum - run.marks[0].p, 0.0)
    return np.maximum(0.0, p)


def offer_for_lam(problem: Problem, state: BatchPerceptronState, k: int) -> None:
    """Choose the weights by the least P_lam over their length, and the duals by D_lam."""
    run, n = state.runs[k], len(state.W)
    if state.is_plain:
        w = average(run)
    else:
        w = best_point(run, lambda w: primal_of(problem, run.y, w)[0])
    keep_weights(problem, state, k, w)
    some = curves(seen(run), w.c, run.y, problem.is_free)
    keep_duals(problem, state, k, best_duals(some, n, problem.lam, w.square))


def primal_of(problem: Problem, y: FloatArray, w: Point) -> tuple[float, float]:
    """Return the least P_lam(s w) and its s, at the best bias if that is free."""
    lam, n = problem.lam, len(y)
    s = best_scale(w.c, y, problem.is_free, n * lam * w.square)
    hinges = volume_below(basin(s * w.c, y, problem.is_free), 1.0)
    return 0.5 * lam * s**2 * w.square + hinges / n, s


def keep_weights(problem: Problem, state: BatchPerceptronState, k: int, w: Point) -> None:
    """Hand out the best multiple of w, if nothing better is known."""
    y = state.runs[k].y
    primal, s = primal_of(problem, y, w)
    if primal < state.primal[k] or state.is_plain:
        state.primal[k], state.W[:, k] = primal, s * y * w.alpha
        state.b[k] = bias_of(w.c, y, s) if problem.is_free else 0.0


def keep_duals(problem: Problem, state: BatchPerceptronState, k: int, b: FloatArray) -> None:
    """Hand out duals b, if nothing better is known."""
    a, n = state.runs[k].y * b, len(b)
    dual = b.sum() / n - square_norm(problem, a) / (2.0 * problem.lam * n**2)
    if dual > state.dual[k]:
        state.dual[k], state.A[:, k] = dual, a


def offer_for_nu(problem: Problem, state: BatchPerceptronState) -> None:
    """Choose the weights by the largest value f(w); see what lam they imply with the average p*.

    Nothing is handed out while no w is known whose value is positive.
    """
    run, n, is_free, nu = state.runs[0], len(state.W), problem.is_free, float(state.nu or 0.0)

    def value(w: Point) -> tuple[float, float]:
        """Return f and the length of the better of w within the ball and w on the sphere."""
        columns, norm = basin(w.c, run.y, is_free), np.sqrt(w.square)
        if norm == 0.0:
            return level(columns, n * nu), 0.0
        scales = [min(1.0, 1.0 / norm), 1.0 / norm]
        if state.is_plain:
            scales = [1.0]
        return max((level(columns.times_height(s), n * nu), s * norm) for s in scales)

    w = average(run) if state.is_plain else best_point(run, lambda w: -value(w)[0])
    gamma, length = value(w)
    p = distribution(seen(run), run.y, is_free)
    if gamma <= 0.0 or length == 0.0 or not p.any():
        return
    square, q = square_norm(problem, p * run.y), float(p.max())
    lam = bounds_of(gamma, length, p, square, n * nu).lam
    s = length / (np.sqrt(w.square) * gamma)
    state.implied_lam = lam
    state.primal[0] = 0.5 * lam * (length / gamma) ** 2 + nu / gamma
    state.dual[0] = 1.0 / (n * q) - square / (2.0 * lam * (n * q) ** 2)
    state.W[:, 0], state.A[:, 0] = s * run.y * w.alpha, run.y * p / q
    state.b[0] = bias_of(w.c, run.y, s) if is_free else 0.0


def bias_of(c: FloatArray, y: FloatArray, s: float) -> float:
    """Return the best free bias of s w, for responses c of w."""
    if s == 0.0:
        return 0.0
    volume = volume_below(basin(c, y, True), 1.0 / s)
    return s * float(balanced_water_level(c, y, volume, np.empty_like(c)).b)


def go_on_from(problem: Problem, state: BatchPerceptronState, B: FloatArray) -> None:
    """Start from models with coefficients B, brought to length 1; they count for an epoch of steps.

    Given lam, they and their duals, as far as feasible, are handed out until better ones are known.
    """
    Z, n = np.zeros_like(B), len(B)
    problem.rows.add_scores(B, Z)
    for k, run in enumerate(state.runs):
        square = float(B[:, k] @ Z[:, k])
        if not (square > 0.0 and run.can_move(problem.is_free)):
            continue
        w = Point(run.y * B[:, k] / np.sqrt(square), run.y * Z[:, k] / np.sqrt(square), 1.0)
        run.path.alpha[:], run.path.c[:] = w.alpha, w.c
        run.first, run.now = n, run.now._replace(t=n, square=1.0)
        if state.nu is None:
            keep_weights(problem, state, k, w)
            b = np.clip(run.y * B[:, k] * problem.lam * n, 0.0, 1.0)
            keep_duals(problem, state, k, balanced(b, run.y) if problem.is_free else b)


def square_norm(problem: Problem, B: FloatArray) -> float:
    """Return ||sum_j B_j phi(x_j)||^2."""
    Z = np.zeros((len(B), 1))
    problem.rows.add_scores(B[:, None], Z)
    return max(0.0, float(B @ Z[:, 0]))


def relative_gap(problem: Problem, state: BatchPerceptronState) -> float:
    """Return the largest relative gap of what is handed out, as its responses tell it."""
    offer(problem, state)
    primal, dual = state.primal, state.dual
    ratio = np.divide(primal - dual, dual, out=np.full(len(dual), np.inf), where=dual > 0.0)
    moving = [run.can_move(problem.is_free) for run in state.runs]
    return float(max(ratio[moving], default=0.0))
