"""One model of a run: its scores, dual numbers and multipliers, and a Newton step on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.envelope import BALANCE, GAP, VALUE, Smoothing
from pegasos.solvers.newton.hessian import hessian
from pegasos.solvers.newton.passes import curvatures_of, move_rows, secants_of, slopes, write_scores
from pegasos.solvers.newton.path import some_of

NARROWER, SLOWLY = 0.3, 0.7  # factors on the width; the second below THIN, or after failures
THIN, THINNEST = 0.05, 1e-9
ENOUGH = 0.3  # of the gap that smoothing leaves: what an inner minimum may lack
PATIENCE = 60  # steps for one width, at most
REACH = 16.0  # change of scores that one column alone may cause in a step
DAMPING = 1e-3  # to begin with, against 0.01 of the largest curvature
FLAT = 0.1  # of the slope at its beginning: where a line search ends
TRIALS = 30
SHORT, ONWARD = 0.3, 4.0  # a step below is tried again, with curvatures of ONWARD times its way
TOO_SHORT = 0.1  # a step below is a failure: so many of them, and the smoothing is made wider
FAILURES, WIDENINGS = 3, 12
WIDER, BACK = 10.0, 3.0  # factors on the width; the second once multipliers are known
SATISFIED = 0.5  # of the unit: rows that lack less, all of them, are nearly separated


@dataclass
class Model:
    """Weights w (d, 1) and bias b for rows seen from the mean of their columns.

    Z, A, B are (n, 1): scores, dual numbers at these scores, multipliers; D is room for a change.
    """

    w: FloatArray
    b: float
    Z: FloatArray
    A: FloatArray
    B: FloatArray
    D: FloatArray
    v: FloatArray  # sum_i s_i a_i (x_i - m) / S, shape (d, 1)
    sums: FloatArray  # of `envelope.move`
    q: float  # width of the smoothing; 0 for smooth losses
    unit: float  # the targets' scale, in which widths are measured
    damping: float = DAMPING
    is_smooth: bool = False  # the loss itself: no smoothing is needed in the end
    is_rough: bool = False  # some rows stand for all in the Hessian: see `path`
    steps: int = 0  # at the present width
    failures: int = 0
    has_failed: bool = False  # at a smaller width, with multipliers known
    widenings: int = 0
    narrowings: int = 0

    @property
    def smoothing(self) -> Smoothing:
        """How the loss is smoothed at present."""
        return Smoothing(self.B, self.q)

    def move(self, problem: Problem, u: float) -> None:
        """Move scores by u D and dual numbers with them."""
        self.sums, change = move_rows(problem, self.smoothing, self.Z, self.A, self.D, u)
        self.v += change / problem.S

    def answer(self, problem: Problem) -> None:
        """Bring the dual numbers up to date with scores, multipliers and width."""
        self.D[:] = 0.0
        self.move(problem, 0.0)


def rest(problem: Problem, columns: Columns, model: Model) -> float:
    """Return lam/2 ||w - w(a)||^2, and what the dual point lacks if the bias is free."""
    lam, balance = problem.lam, model.sums[BALANCE] / problem.S
    if problem.is_free:
        g = lam * model.w - model.v
        return float(np.vdot(g, g) / (2.0 * lam) + model.unit * abs(balance))
    g = lam * model.w[:, 0] - model.v[:, 0] - balance * columns.m
    total = g @ g / (2.0 * lam)
    if problem.bias_scale > 0.0:
        scale = problem.bias_scale
        total += 0.5 * lam * (bias(columns, model) / scale - scale * balance / lam) ** 2
    return float(total)


def bias(columns: Columns, model: Model) -> float:
    """Return the bias for rows as they are."""
    return float(model.b - columns.m @ model.w[:, 0])


def primal(problem: Problem, columns: Columns, model: Model) -> float:
    """Return the objective."""
    square = float(np.vdot(model.w, model.w))
    if problem.bias_scale > 0.0:
        square += (bias(columns, model) / problem.bias_scale) ** 2
    return float(model.sums[VALUE] / problem.S + 0.5 * problem.lam * square)


def relative_gap(problem: Problem, columns: Columns, model: Model) -> float:
    """Return the relative gap of the present weights and dual numbers, nearly."""
    gap = model.sums[GAP] / problem.S + rest(problem, columns, model)
    dual = primal(problem, columns, model) - gap
    return 0.0 if gap == 0.0 else float(gap / dual) if dual > 0.0 else np.inf


def narrow(problem: Problem, columns: Columns, model: Model) -> None:
    """Once the smoothed problem is solved well enough, take on its multipliers; narrow it."""
    left = model.sums[GAP] / problem.S
    is_solved = rest(problem, columns, model) <= ENOUGH * left or model.steps >= PATIENCE
    if model.q == 0.0 or not is_solved:
        return
    model.B[:], model.steps = model.A, 0
    model.narrowings += 1
    is_thin = model.q <= THIN * model.unit
    factor = SLOWLY if is_thin or model.has_failed else NARROWER
    model.q = max(THINNEST * model.unit, factor * model.q)
    if model.is_smooth and is_thin:
        model.q = 0.0
    model.answer(problem)


def step(problem: Problem, columns: Columns, model: Model) -> None:
    """Take one Newton step, as far as the smoothed objective falls along it."""
    h = curvatures_of(problem, model.smoothing, model.Z, model.A)
    p, c, u = way(problem, columns, model, h)
    if u < SHORT:  # rows that did not answer where it began stopped it: they are to be heard
        h = secants_of(problem, model.smoothing, model.Z, model.A, model.D, ONWARD * u)
        p, c, u = way(problem, columns, model, h)
    model.w += u * p
    model.b += u * c
    model.steps += 1
    model.damping *= 0.25 if u > 0.5 else 4.0 if u < TOO_SHORT else 1.0
    model.failures = model.failures + 1 if u < TOO_SHORT else max(0, model.failures - 1)
    model.move(problem, u)
    fails = model.failures >= FAILURES
    if (fails or is_stiff(model)) and model.widenings < WIDENINGS:
        widen(problem, model)


def way(
    problem: Problem, columns: Columns, model: Model, h: FloatArray
) -> tuple[FloatArray, float, float]:
    """Return directions of w and b for curvatures h, and how far to go; D holds their scores."""
    p, c = direction(problem, columns, model, h)
    write_scores(problem, p, c, model.D)
    return p, c, line_search(problem, columns, model, p, c)


def is_stiff(model: Model) -> bool:
    """Whether rows are nearly satisfied before any multiplier is known, as separable ones are."""
    if model.narrowings > 0:
        return False
    return float(np.abs(model.A).max()) * max(model.q, model.unit) < SATISFIED * model.unit


def widen(problem: Problem, model: Model) -> None:
    """Smooth more where steps fail, as on separable rows at a large C: go there from smaller C.

    Once multipliers are known, what failed was to narrow too fast: go back, and on in small steps.
    """
    model.failures, model.steps, model.widenings = 0, 0, model.widenings + 1
    model.has_failed = model.narrowings > 0
    wider = max(WIDER * model.q, model.unit)
    model.q, model.damping = BACK * model.q if model.has_failed else wider, DAMPING
    model.answer(problem)


def direction(
    problem: Problem, columns: Columns, model: Model, h: FloatArray
) -> tuple[FloatArray, float]:
    """Solve H p = -gradient in standardised columns; return the directions of w (d, 1) and b."""
    m, scale, reach = columns
    d, lam = len(m), problem.lam
    H = hessian(problem, columns, some_of(h, columns) if model.is_rough else h)
    H /= problem.S
    H[range(d), range(d)] += lam / scale**2
    g = np.append((lam * model.w - model.v)[:, 0] / scale, -model.sums[BALANCE] / problem.S)
    if problem.bias_scale > 0.0:  # the bias as it is, of w~ and b
        e = np.append(-m / scale, 1.0) / problem.bias_scale
        H += lam * np.outer(e, e)
        g += lam * bias(columns, model) / problem.bias_scale * e
    size = d + (problem.is_free or problem.bias_scale > 0.0)
    H, g, within = H[:size, :size], g[:size], np.append(reach, 1.0)[:size]
    lacking = np.maximum(0.0, np.abs(g) * within / (REACH * model.unit) - np.diag(H))
    steepest = 0.01 * float(h.max(initial=0.0)) / float(problem.costs.weights.values.max())
    p = solved(H, -g, lacking, model.damping * steepest)
    return p[:d, None] / scale[:, None], float(p[d]) if size > d else 0.0


def solved(H: FloatArray, g: FloatArray, lacking: FloatArray, damping: float) -> FloatArray:
    """Solve (H + diag(lacking + damping)) p = g; rounding may ask for more damping."""
    diagonal = np.diag(H).copy()
    while True:
        M = H.copy()
        np.fill_diagonal(M, diagonal + lacking + damping)
        _, p, info = dposv(M, g, lower=1)
        if info == 0 and np.all(np.isfinite(p)):
            return np.asarray(p)
        damping = 10.0 * max(damping, 1e-16 * float(diagonal.max()), 1e-300)


def line_search(
    problem: Problem, columns: Columns, model: Model, p: FloatArray, c: float
) -> float:
    """Return how far to go: where the slope of the smoothed objective, which rises, is nearly 0."""
    lam, across, along = problem.lam, float(np.vdot(model.w, p)), float(np.vdot(p, p))
    if problem.bias_scale > 0.0:
        change = float(c - columns.m @ p[:, 0]) / problem.bias_scale
        across += bias(columns, model) / problem.bias_scale * change
        along += change**2

    def rise(u: float) -> tuple[float, float]:
        first, second = slopes(problem, model.smoothing, model.Z, model.D, u)
        return lam * (across + u * along) + first, lam * along + second

    u, low, high = 1.0, 0.0, math.inf
    first = rise(0.0)[0]
    if first >= 0.0:  # all that is left is rounding
        return 0.0
    for _ in range(TRIALS):
        slope, bend = rise(u)
        if abs(slope) <= -FLAT * first:
            break
        low, high = (u, high) if slope < 0.0 else (low, u)
        better = u - slope / bend if bend > 0.0 else math.inf
        if high < math.inf:
            edge = 0.05 * (high - low)
            is_within = low + edge < better < high - edge
            u = better if is_within else 0.5 * (low + high)
        else:
            u = min(max(better, 1.5 * u), 8.0 * u)
    return u
