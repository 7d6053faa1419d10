"""One model of a run: its scores, dual numbers and multipliers, and a Newton step on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.joint_losses import is_joint
from pegasos.problem.objective import Problem
from pegasos.solvers.newton.columns import Columns
from pegasos.solvers.newton.curved import ROUNDS as CURVED_ROUNDS
from pegasos.solvers.newton.curved import bent, curved_rows, is_dear
from pegasos.solvers.newton.envelope import GAP, VALUE, Smoothing
from pegasos.solvers.newton.equations import (
    Place,
    add_penalty,
    factored,
    lacking_of,
    penalty_along,
    rest_and_square,
    slope_along,
    terms_of,
    write_gradient,
)
from pegasos.solvers.newton.heard import Stopped, nobody, settled, stopping_rows, with_more
from pegasos.solvers.newton.hessian import Counted, hessian_after
from pegasos.solvers.newton.inexact import Blocks, inexact_direction
from pegasos.solvers.newton.joint_direction import joint_direction
from pegasos.solvers.newton.line_search import known_at_0, search
from pegasos.solvers.newton.passes import (
    curvatures_of,
    line_of,
    move_rows,
    parts_of_products,
    secants_of,
    write_scores,
)
from pegasos.solvers.newton.path import some_of
from pegasos.solvers.newton.predicted import Predicted, belonging, predicted
from pegasos.solvers.newton.small_step import STEEPEST, is_small, small_step

NARROWER, SLOWLY = 0.3, 0.7  # factors on the width; the second below THIN, or after failures:
LESS_SLOWLY = 0.45  # before any, on small tables, where a step in vain costs little
GENTLY = 0.45  # the first of them for joint losses,
WARILY, ROWS_HELD = 0.6, 10  # and with fewer rows per weight, which weights may separate
ANSWERING = 2.0  # rows per column that are to answer at the narrower width: else take the second
THIN, THINNEST = 0.05, 1e-9
NEAR = 1e-4  # relative gap from which a smooth loss that had to be smoothed is taken as it is
ENOUGH = 0.3  # of the gap that smoothing leaves: what an inner minimum may lack
BEGINNING = 2e-3  # relative gap that smoothing leaves: above it, multipliers need not be exact,
SETTLED = 0.1  # and an inner minimum is near where a step takes less than so much of it
PATIENCE = 60  # steps for one width, at most
DAMPING = 1e-3  # to begin with, against 0.01 of the largest curvature
DAMPED = 1e-2  # after a step that would have been short, at least, if rows are many
EASED = 0.06  # the factor on it after a long one, which elsewhere is 0.25
ROWS_PER_WEIGHT = 30  # from which no weights separate the rows: long steps lead nowhere;
ROWS_PER_WEIGHT_KINKED = 100  # one model and a loss with a kink, which would be slowed down by it
SHORT, ONWARD = 0.3, 4.0  # a step below is tried again, with curvatures of ONWARD times its way
ONWARD_OF_FEW = 2.0  # the same of a joint model with few rows per weight
LONG, ROUNDS = 0.5, 4  # a way on which rows are heard: more of them if it is shorter, so often
ENOUGH_HEARD = 0.03  # what such a way, too, is to be tried again below
TOO_SHORT = 0.1  # a step below is a failure: so many of them, and the smoothing is made wider
FAILURES, WIDENINGS = 3, 12
WIDER, BACK = 10.0, 3.0  # factors on the width; the second once multipliers are known
LARGE = 1500  # weights of a joint model beyond which its steps are inexact ones
FORESIGHT = 2.0  # of these: rows that would answer at so many times the width count, by half
SATISFIED = 0.5  # of the unit: rows that lack less, all of them, are nearly separated
PROVABLE = 1e-2  # of the losses: what a step may take off for dual numbers it predicts to be tried


@dataclass
class Model:
    """Weights w (d, K) and biases b (K,) for rows seen from the mean of their columns.

    K, the number of outputs, is 1, or that of the classes for a joint loss. Z, A, B are (n, K):
    scores, dual numbers at these scores, multipliers; D is room for a change.
    """

    y: FloatArray  # targets (n, K)
    w: FloatArray
    b: FloatArray
    Z: FloatArray
    A: FloatArray
    B: FloatArray
    D: FloatArray
    v: FloatArray  # sum_i s_i a_i (x_i - m) / S, shape (d, K)
    sums: FloatArray  # of `envelope.move`, (5, K)
    q: float  # width of the smoothing; 0 for smooth losses
    unit: float  # the targets' scale, in which widths are measured
    damping: float = DAMPING
    is_smooth: bool = False  # the loss itself: no smoothing is needed in the end
    is_rough: bool = False  # some rows stand for all that answer in the Hessian: see `path`
    steps: int = 0  # at the present width
    fell: float = math.inf  # what the last step took off, about; unknown if it was short
    failures: int = 0
    has_failed: bool = False  # at a smaller width, with multipliers known
    widenings: int = 0
    narrowings: int = 0
    blocks: Blocks | None = None  # of a Hessian that would be too large as a whole
    counted: Counted | None = None  # what the last Hessian added up, of compressed rows
    predicted: Predicted | None = None  # dual numbers of the last step, if they prove more

    @property
    def smoothing(self) -> Smoothing:
        """How the loss is smoothed at present."""
        return Smoothing(self.B, self.q)

    @property
    def place(self) -> Place:
        """Where it is at present."""
        return Place(self.w, self.b, self.v, self.sums)

    @property
    def places(self) -> list[tuple[FloatArray, Place]]:
        """Its dual numbers, where it is with these, and the same of those predicted, if any."""
        found = self.predicted
        own = [(self.A, self.place)]
        return own if found is None else [*own, (found.A, Place(self.w, self.b, *found[1:]))]

    @property
    def proven(self) -> FloatArray:
        """The dual numbers for others to go on from: those of the slopes may be far away."""
        return self.A if self.predicted is None else self.predicted.A

    def move(self, problem: Problem, u: float) -> None:
        """Move scores by u D and dual numbers with them."""
        self.sums, change = move_rows(problem, self.smoothing, self.Z, self.A, self.D, u)
        self.v += change / problem.S

    def answer(self, problem: Problem) -> None:
        """Bring the dual numbers up to date with scores, multipliers and width."""
        self.fell = math.inf
        self.D[:] = 0.0
        self.move(problem, 0.0)


class Proof(NamedTuple):
    """Dual numbers, and the gap they prove: what smoothing leaves, the rest; the objective."""

    A: FloatArray
    left: float
    rest: float
    primal: float


def proof_of(problem: Problem, columns: Columns, model: Model) -> Proof:
    """Return the better proof: by the slopes of the smoothed loss, or by those of the last step.

    The rest is lam/2 ||w - w(a)||^2, with what balance a free bias lacks.
    """
    terms, loss = terms_of(problem, model.unit), float(model.sums[VALUE, 0]) / problem.S
    found = []
    for A, place in model.places:
        rest, square = rest_and_square(terms, columns.m, place)
        left = float(place.sums[GAP, 0]) / problem.S
        found.append(Proof(A, left, rest, loss + 0.5 * problem.lam * square))
    return min(found, key=lambda proof: proof.left + proof.rest)


def relative_gap(problem: Problem, columns: Columns, model: Model) -> float:
    """Return the relative gap of the present weights and dual numbers, nearly."""
    _, left, rest, primal = proof_of(problem, columns, model)
    gap = left + rest
    dual = primal - gap
    return 0.0 if gap == 0.0 else gap / dual if dual > 0.0 else math.inf


def narrow(problem: Problem, columns: Columns, model: Model) -> None:
    """Once the smoothed problem is solved well enough, take on its multipliers; narrow it."""
    if model.q == 0.0:
        return
    A, left, rest, primal = proof_of(problem, columns, model)
    is_near = model.is_smooth and left + rest <= NEAR * primal
    is_begun = left > BEGINNING * primal and is_settled(problem, model)
    if rest > ENOUGH * left and model.steps < PATIENCE and not (is_near or is_begun):
        return
    model.B[:], model.steps = A, 0
    model.narrowings += 1
    is_thin = model.q <= THIN * model.unit
    first = GENTLY if is_joint(problem.costs.loss) else NARROWER
    first = WARILY if is_loose(problem, model) else first
    slowly = LESS_SLOWLY if is_small(problem) and not model.has_failed else SLOWLY
    factor = slowly if is_thin or model.has_failed else first
    before, model.q = model.q, max(THINNEST * model.unit, factor * model.q)
    if model.is_smooth and (is_thin or is_near):
        model.q = 0.0
    model.answer(problem)
    if factor == NARROWER and not model.is_smooth and answers_too_little(problem, model):
        model.q = slowly * before
        model.answer(problem)


def is_settled(problem: Problem, model: Model) -> bool:
    """Whether steps take off little beside the gap that smoothing leaves.

    Where lam is so small that ||w - w(a)||^2 decides last, that is long before `rest` is small.
    """
    return model.fell <= SETTLED * float(model.sums[GAP, 0]) / problem.S


def answers_too_little(problem: Problem, model: Model) -> bool:
    """Whether so few rows answer that H would be nearly singular, and steps short."""
    h = curvatures_of(problem, model.smoothing, model.Z, model.A)
    return bool(np.count_nonzero(h) < ANSWERING * model.w.size)


def step(problem: Problem, columns: Columns, model: Model, *, may_widen: bool = True) -> None:
    """Take one Newton step, as far as the smoothed objective falls along it.

    Where steps fail, the smoothing is made wider, unless all that is left is rounding.
    """
    # All that slopes along the way would tell of a joint loss there is rounding.
    is_at_rounding = not may_widen and model.q == 0.0 and is_joint(problem.costs.loss)
    found = small_way(problem, columns, model)
    if found is None:
        h = foreseen(problem, model)
        P, factor = solution(problem, columns, model, h)
        found = h, P, factor, way(problem, columns, model, P, searches=not is_at_rounding)
    h, P, factor, (p, c, u) = found
    curved: Any = None
    if factor is not None and model.q == 0.0 and is_dear(columns, h):
        (p, c, u), curved = way_bent(problem, columns, model, h, factor, P[:, 0], (p, c, u))
    was_short, enough = u < SHORT, SHORT
    if 0.0 < u < SHORT and factor is not None:
        heard = way_with_heard(problem, columns, model, h, factor, P[:, 0], u)
        if heard is not None:
            (p, c, u), enough, curved = heard, ENOUGH_HEARD, None
    if 0.0 < u < enough and not is_large(problem, model):
        # rows that hardly answered where it began stopped it: let them answer as they do further on
        onward = u * (ONWARD_OF_FEW if is_loose(problem, model) else ONWARD)
        h = secants_of(problem, model.smoothing, model.Z, model.A, model.D, onward)
        curved = None
        p, c, u = way(problem, columns, model, solution(problem, columns, model, h)[0])
    if u >= SHORT and settles(problem, model):
        model.fell = -u * slope_of(problem, columns, model, p, c)
    else:
        model.fell = math.inf
    model.w += u * p
    model.b = model.b + u * c
    model.steps += 1
    model.damping = next_damping(problem, model, u, was_short=was_short)
    model.failures = model.failures + 1 if u < TOO_SHORT else max(0, model.failures - 1)
    move_and_prove(problem, columns, model, h, u, curved)
    is_too_thin = enough < SHORT and model.steps == 1 and model.narrowings > 0
    fails = model.failures >= (1 if is_too_thin else FAILURES)
    if may_widen and (fails or is_stiff(model)) and model.widenings < WIDENINGS:
        widen(problem, model)


def move_and_prove(
    problem: Problem, columns: Columns, model: Model, h: FloatArray, u: float, curved: Any
) -> None:
    """Move scores by u D; keep the dual numbers that the step predicts, if they prove more.

    `curved` are the rows that were as they are in it; None if it was not such a step.
    """
    F, losses = None, float(model.sums[VALUE, 0]) / problem.S
    if curved is not None and model.fell <= PROVABLE * losses:
        F = predicted(problem, model.Z, model.A, model.D, h, curved)
    model.move(problem, u)
    if u > 0.0:  # else all is as it was
        model.predicted = None
    if F is not None:
        model.predicted = belonging(problem, model.Z, model.A, model.v, F)
        if proof_of(problem, columns, model).A is model.A:
            model.predicted = None


def foreseen(problem: Problem, model: Model) -> FloatArray:
    """Return the curvatures to begin a step with.

    Of many unknowns, most steps after a narrowing would be short: rows come to answer on the way.
    """
    smoothing = model.smoothing
    if not is_large(problem, model) or model.is_smooth:
        return curvatures_of(problem, smoothing, model.Z, model.A)
    wider = smoothing._replace(q=FORESIGHT * model.q)
    return FORESIGHT * secants_of(problem, wider, model.Z, model.A, model.D, 0.0)


def small_way(problem: Problem, columns: Columns, model: Model) -> Any:
    """Return curvatures, solution, factor of H and way of a step on a small table; None if not.

    What is not found in one call is left to the ordinary passes.
    """
    if not is_small(problem) or len(parts_of_products(problem)) > 1:
        return None
    numbers = model.unit, model.damping
    span, lines = (0, len(model.Z)), (model.Z, model.A, model.D)
    found = small_step(problem, columns, model.smoothing, model.place, numbers, span, lines)
    if not found.is_found:
        return None
    return found.h, found.p[:, None], found.factor, (found.w, found.b, found.u)


def way(
    problem: Problem, columns: Columns, model: Model, P: FloatArray, *, searches: bool = True
) -> tuple[FloatArray, FloatArray, float]:
    """Return directions of w and b for a solution P, and how far to go; D holds their scores."""
    p, c = unscaled(columns, model, P)
    write_scores(problem, p, c, model.D)
    return p, c, line_search(problem, columns, model, p, c) if searches else 1.0


def way_bent(
    problem: Problem,
    columns: Columns,
    model: Model,
    h: FloatArray,
    factor: FloatArray,
    p: FloatArray,
    found: tuple[FloatArray, FloatArray, float],
) -> tuple[tuple[FloatArray, FloatArray, float], Any]:
    """Return a way on which rows unlike their quadratics are as they are, and these rows.

    D holds the scores of the step p, whose way is `found`, then those of the way returned.
    """
    plain, chosen = found, np.zeros(0, np.int64)
    for _ in range(CURVED_ROUNDS):
        rows = curved_rows(problem, model.Z, model.A, model.D, h)
        if len(np.setdiff1d(rows, chosen)) == 0:
            break
        chosen = np.union1d(chosen, rows)
        P = bent(problem, columns, factor, p, model.Z, model.A, h, chosen)
        found = way(problem, columns, model, P[:, None])
    if found[2] == 0.0 < plain[2]:  # rounding: as it was
        return way(problem, columns, model, p[:, None]), chosen[:0]
    return found, chosen


def way_with_heard(
    problem: Problem,
    columns: Columns,
    model: Model,
    h: FloatArray,
    factor: FloatArray,
    p: FloatArray,
    u: float,
) -> tuple[FloatArray, FloatArray, float] | None:
    """Return a way on which rows that stopped the step p after u are heard; None: there are none.

    D holds the scores of that step, then those of the way.
    """
    found, heard = None, nobody(len(p))
    stopped = Stopped(model.smoothing, model.Z, model.A, model.D)
    for _ in range(ROUNDS):
        rows = stopping_rows(problem, stopped, h, u)
        rows = rows[~np.isin(rows, heard.chosen)]
        if len(rows) == 0:
            break
        heard = with_more(problem, columns, factor, heard, rows)
        P = settled(problem, stopped, heard, p)[:, None]
        *_, u = found = way(problem, columns, model, P)
        if u >= LONG:
            break
    return found


def next_damping(problem: Problem, model: Model, u: float, *, was_short: bool) -> float:
    """Return the damping for the next step, after one of length u."""
    if not is_tall(problem, model):
        return model.damping * (0.25 if u > 0.5 else 4.0 if u < TOO_SHORT else 1.0)
    if was_short:  # H knew too little of the way
        return max(DAMPED, 4.0 * model.damping)
    return model.damping * (EASED if u > 0.5 else 1.0)


def is_tall(problem: Problem, model: Model) -> bool:
    """Whether a model has so many rows that it cannot fit them all."""
    is_kinked = not (model.is_smooth or is_joint(problem.costs.loss))
    least = ROWS_PER_WEIGHT_KINKED if is_kinked else ROWS_PER_WEIGHT
    return len(model.Z) >= least * model.w.size


def is_loose(problem: Problem, model: Model) -> bool:
    """Whether a joint model, no large one, has so few rows that weights may separate them."""
    is_one = is_joint(problem.costs.loss) and not is_large(problem, model)
    return is_one and len(model.Z) < ROWS_HELD * model.w.size


def settles(problem: Problem, model: Model) -> bool:
    """Whether a small fall tells that a minimum is near: for joint models, where rows are many."""
    if not is_joint(problem.costs.loss):
        return True
    return not is_large(problem, model) and len(model.Z) >= ROWS_PER_WEIGHT * model.w.size


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
) -> tuple[FloatArray, FloatArray]:
    """Return the directions of w (d, K) and b for curvatures h."""
    return unscaled(columns, model, solution(problem, columns, model, h)[0])


def unscaled(columns: Columns, model: Model, P: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions of w (d, K) and b that a solution P stands for."""
    d, K = model.w.shape
    return P[:d] / columns.scale[:, None], P[d] if len(P) > d else np.zeros(K)


def solution(
    problem: Problem, columns: Columns, model: Model, h: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Solve H P = -gradient in standardised columns, (size, K); also return the factor of H.

    The latter is for one output.
    """
    terms, (d, K) = terms_of(problem, model.unit), model.w.shape
    G = np.empty((d + 1, K))
    write_gradient(terms, columns, model.place, G)
    size = d + (problem.is_free or problem.bias_scale > 0.0)
    steepest = STEEPEST * float(h.max(initial=0.0)) / float(problem.costs.weights.values.max())
    damping = model.damping * steepest
    if is_large(problem, model):
        model.blocks = model.blocks or Blocks()
        P = inexact_direction(problem, columns, terms, h, G, model.blocks, size, damping)
    elif is_joint(problem.costs.loss):
        h = some_of(h, columns) if model.is_rough else h
        P = joint_direction(problem, columns, terms, h, G, size, damping)
    else:
        h = some_of(h, columns) if model.is_rough else h
        H, model.counted = hessian_after(problem, columns, h, model.counted)
        add_penalty(terms, columns, H)
        lacking = lacking_of(terms, columns, H.diagonal().copy()[:, None], G)[:size, 0]
        factor, p = factored(H[:size, :size], -G[:size, 0], lacking, damping)
        return p[:, None], factor
    return P, None


def is_large(problem: Problem, model: Model) -> bool:
    """Whether a joint Hessian would be too large: steps are inexact ones then."""
    return is_joint(problem.costs.loss) and model.w.size > LARGE


def line_search(
    problem: Problem, columns: Columns, model: Model, p: FloatArray, c: FloatArray
) -> float:
    """Return how far to go: where the slope of the smoothed objective, which rises, is nearly 0."""
    terms = terms_of(problem, model.unit)
    penalty = penalty_along(terms, columns.m, model.place, p, c)
    line = line_of(problem, model.smoothing, model.Z, model.D, penalty)
    if is_joint(problem.costs.loss):  # a pass is dear, and the slope to begin with is known
        return search(known_at_0(line, slope_of(problem, columns, model, p, c)))
    return search(line)


def slope_of(
    problem: Problem, columns: Columns, model: Model, p: FloatArray, c: FloatArray
) -> float:
    """Return the slope of the smoothed objective along directions of w and b where they begin."""
    terms = terms_of(problem, model.unit)
    return float(slope_along(terms, columns.m, model.place, p, c))
