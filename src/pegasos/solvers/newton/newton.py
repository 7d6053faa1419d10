"""Newton's method for tall data: augmented Lagrangian, semismooth Newton steps inside.

Minimises   P(w, b) = lam/2 ||w||^2 + 1/S sum_i s_i loss(<w, x_i> + b, y_i)

A loss with a kink is smoothed around multipliers beta (`envelope`); the smoothed problem is
minimised by Newton steps with a line search (`model`); then beta becomes the dual point found, and
the smoothing narrower. Losses that are smooth already need neither.

    repeat  (w, b) <- (w, b) + u p,     H p = -gradient,     u = argmin along p
    until   lam/2 ||w - w(a)||^2 + |sum_i s_i a_i| / S  <=  ENOUGH * the gap that smoothing leaves
            (or, while that is above BEGINNING, a step takes off little beside it)
            beta <- a;   q <- 0.3 q, or 0.7 q where few rows would answer

H is d x d, so a step costs two passes over the rows and the products of the rows that answer. It is
taken in standardised columns (`columns`): units and offsets of columns do not matter. Two things
keep steps within reason where H knows little: a damping that follows the line search's verdicts,
and, for columns in which no row answers at present (rare categories), a step of at most REACH in
the scores. Where a Hessian takes long, rows unlike their quadratics enter a step as they are
(`curved`), and it proves more by the dual numbers that it predicts (`predicted`).

Many rows begin with a tenth of them, or what softmax needs, drawn at random; wide data that are too
few for that, with a larger lam (`path`). Several models run side by side, each at its own
pace; those that are far ahead of the last wait for it. A joint loss is one model with K outputs and
(d + 1) K unknowns (`joint_envelope`, `joint_hessian`); where these are many, steps are inexact
(`inexact`); where its classes can be separated, C need not be large (`separation`).

[LST18]  Li, Sun, Toh. A highly efficient semismooth Newton augmented Lagrangian method for solving
         Lasso problems. SIAM J. Optimization 28(1), 2018.
[YL20]   Yan, Li. An efficient augmented Lagrangian method for support vector machine. Optimization
         Methods and Software 35(4), 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.data.centre import in_parts, seen_from, settle
from pegasos.data.rows import Centre, FloatArray, shape, some_rows_of, stored_values
from pegasos.options import Options
from pegasos.parallel import each
from pegasos.problem.joint_losses import JointHinge, Softmax, is_joint
from pegasos.problem.losses import Logistic, SquaredHinge
from pegasos.problem.objective import Costs, Problem, combination
from pegasos.solvers.newton.columns import Columns, columns_of
from pegasos.solvers.newton.envelope import ROWS_OF_SUMS, is_margin, unit_of
from pegasos.solvers.newton.equations import bias
from pegasos.solvers.newton.model import (
    LARGE,
    NARROWER,
    PATIENCE,
    Model,
    is_large,
    is_settled,
    narrow,
    proof_of,
    relative_gap,
    step,
)
from pegasos.solvers.newton.passes import write_scores
from pegasos.solvers.newton.path import first_lam, kappa_of, next_lam
from pegasos.solvers.newton.separation import (
    NEAR,
    begin_again,
    is_separated,
    separating_lam,
    shrink,
)
from pegasos.solvers.offsets import part, seen, starting_biases
from pegasos.solvers.protocol import Advance, DualPoint, Solver

WIDE, WIDE_AFTER = 4.0, 0.3  # widths to begin with: from w = 0, and from earlier multipliers
WIDE_OF_LARGE = 1.0  # the first of them for inexact steps, at least,
KAPPA_OF_LARGE = 50.0  # and kappa (`path`) over this
AHEAD = 0.1  # of the largest relative gap: models below wait for the others
ROUNDING = 1e-13  # relative gap: a model below is where it was to go, and short steps no failure
SIDE_BY_SIDE = 50_000  # values that rows have, at least, if steps of models are to go side by side
FIRST_PART = 10  # many rows begin with a tenth of them,
ROWS_PER_COLUMN = 20  # if these are so many for every weight of a model
FIRST_PRODUCTS = 50_000_000  # and, of a smooth loss, their Hessian takes so many products;
ROWS_PER_WEIGHT = 6  # softmax, with so many if they are more,
JOINT_PART = 4  # and at most a quarter of the rows
FIRST_STEPS = 4  # of a joint model, in which some rows stand for all in the Hessian,
EVEN = 16.0  # but for the hinge where a column reaches further: few rows have what it is about
FIRST_GAP = 3e-2  # and go on with all of them, or with a smaller lam, from this relative gap


@dataclass
class NewtonState:
    """A run: its models, rows seen from `centre`, where it begins with a part of the rows.

    `lam` is that of the present; it falls to that of the problem.
    """

    models: list[Model]
    gaps: FloatArray  # relative gaps of the models, nearly
    columns: Columns
    centre: Centre
    lam: float
    first: tuple[Problem, NewtonState] | None = None

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """The dual numbers of all models, (n, K)."""
        if len(self.models) == 1:
            return self.models[0].proven
        return np.hstack([model.proven for model in self.models])


@dataclass
class Newton(Options, Solver):
    """Newton steps on smoothed losses, d x d systems: many rows, at most some 1,000 columns."""

    name: ClassVar[str] = "newton"
    is_dual: ClassVar[bool] = True
    estimates_exactly: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data: there are none."""

    def start(self, problem: Problem, seed: int, previous: Any | None) -> NewtonState:
        columns = columns_of(problem, problem.is_free or problem.bias_scale > 0.0)
        chosen = first_rows(problem, seed) if previous is None else None
        state = started(problem, columns, previous, is_to_wait=chosen is not None)
        if chosen is not None:
            few = part(problem, chosen)
            lam = problem.lam * problem.S / few.S  # the same C: rare columns are not overrated
            few = few._replace(rows=some_rows_of(problem.rows, chosen), lam=lam)
            state.first = few, started(few, columns, None)
        elif previous is None:
            state.lam = first_lam(problem, columns, max(model.unit for model in state.models))
        return state

    def advance(self, problem: Problem, state: NewtonState) -> Advance:
        if state.first is not None:
            few, begun = state.first
            visited, _, gap, *_ = self.advance(few, begun)
            if is_near(begun, gap):
                go_on(problem, state, begun)
            return Advance(visited, False)
        around = seen(problem._replace(lam=state.lam), state.centre)
        is_first, is_one = state.lam > problem.lam, is_joint(problem.costs.loss)
        may_be_rough = isinstance(problem.costs.loss, Softmax) or is_even(state.columns)
        behind = np.flatnonzero((state.gaps > AHEAD * state.gaps.max()) | np.isinf(state.gaps))

        def improve(k: int) -> None:
            model = state.models[k]
            is_new = model.narrowings == 0 and model.steps < FIRST_STEPS
            model.is_rough = is_first or (is_one and is_new and may_be_rough)
            posed = problem_of(around, model)
            narrow(posed, state.columns, model)
            step(posed, state.columns, model, may_widen=not state.gaps[k] <= ROUNDING)
            state.gaps[k] = relative_gap(posed, state.columns, model)

        each(improve, behind.tolist(), at_once(problem))
        gap = float(state.gaps.max())
        if is_first and (is_near(state, gap) or has_begun(problem, state)):
            fall(problem, state, gap)
        elif is_one and not is_first and not is_large(problem, state.models[0]):
            seek_separation(problem, state)
        return Advance(shape(problem.rows)[0], not is_first, gap)

    def iterate(
        self, problem: Problem, state: NewtonState
    ) -> tuple[FloatArray, FloatArray] | None:
        if state.first is not None:
            return self.iterate(*state.first)
        W = np.hstack([model.w for model in state.models])
        return W, np.concatenate([bias_of(state.columns, model) for model in state.models])

    def dual_point(self, problem: Problem, state: NewtonState) -> DualPoint | None:
        if state.first is not None:
            return None
        around = seen(problem, state.centre)
        proofs = [
            proof_of(problem_of(around, model), state.columns, model).A for model in state.models
        ]
        return DualPoint(proofs[0] if len(proofs) == 1 else np.hstack(proofs), 1.0)


def is_even(columns: Columns) -> bool:
    """Whether no column is of a few rows only, which a part of all might not have."""
    return float(columns.reach.max(initial=0.0)) <= EVEN


def is_near(state: NewtonState, gap: float) -> bool:
    """Whether a first problem is solved well enough, or as well as it will be."""
    return gap <= FIRST_GAP or max(model.steps for model in state.models) >= PATIENCE


def has_begun(problem: Problem, state: NewtonState) -> bool:
    """Whether all models know some multipliers, and are near what can be had at their widths."""
    return all(model.narrowings > 0 and is_settled(problem, model) for model in state.models)


def fall(problem: Problem, state: NewtonState, gap: float) -> None:
    """Go on to the next lam; to the last at once if classes are separated, and well enough.

    Models of one output go on to the last as well, while smoothing is still wide.
    """
    is_one = is_joint(problem.costs.loss)
    lam = next_lam(state.lam, problem.lam) if is_one else problem.lam
    if is_one and is_separated(state.models[0]):
        model, lam = state.models[0], problem.lam
        if gap > NEAR and model.steps < PATIENCE:
            return
        shrink(problem_of(seen(problem, state.centre), model), model, lam / state.lam)
    state.lam = lam
    state.gaps[:] = np.inf
    for model in state.models:
        model.fell = np.inf


def seek_separation(problem: Problem, state: NewtonState) -> None:
    """Go to a larger lam if a joint model seems to separate its classes (`separation`)."""
    (model,) = state.models
    lam = separating_lam(problem, state.columns, model)
    if lam > state.lam:
        state.lam = lam
        begin_again(problem_of(seen(problem, state.centre), model), model)
        state.gaps[:] = np.inf


def one_by_one(costs: Costs) -> list[FloatArray]:
    """Return the targets of the models one by one: (n, 1) each, (n, K) for a joint loss."""
    if costs.Y.shape[1] == 1 or is_joint(costs.loss):
        return [costs.Y]
    return list(np.ascontiguousarray(costs.Y.T)[:, :, None])


def problem_of(problem: Problem, model: Model) -> Problem:
    """Return the problem of one of the models."""
    return problem._replace(costs=problem.costs._replace(Y=model.y))


def outputs(y: FloatArray, k: int) -> slice:
    """Return which outputs of all are those of model k, whose targets are y."""
    return slice(k, k + 1) if y.shape[1] == 1 else slice(None)


def bias_of(columns: Columns, model: Model) -> FloatArray:
    """Return the biases of a model for rows as they are."""
    return np.asarray(bias(model.w, model.b, columns.m))


def at_once(problem: Problem) -> int | None:
    """Return how many models may be under way at a time: short steps one after the other."""
    return None if stored_values(problem.rows) >= SIDE_BY_SIDE else 1


def started(
    problem: Problem, columns: Columns, previous: Any | None, *, is_to_wait: bool = False
) -> NewtonState:
    """Begin at w = 0, or where an earlier run ended: at its weights, if they are known.

    Models that are to wait for others have no scores nor dual numbers yet.
    """
    if columns.m.any():
        problem = problem._replace(rows=seen_from(problem.rows, columns.m))
    models = []
    for k, y in enumerate(one_by_one(problem.costs)):
        posed, own = problem._replace(costs=problem.costs._replace(Y=y)), outputs(y, k)
        model = new_model(posed, columns, None if previous is None else previous.A[:, own].copy())
        if isinstance(previous, NewtonState):
            last = previous.models[k]
            model.w[:] = last.w
            model.b = bias_of(previous.columns, last) + columns.m @ last.w
        if not is_to_wait:
            write_scores(posed, model.w, model.b, model.Z)
            model.answer(posed)
        models.append(model)
    gaps = np.full(len(models), np.inf)
    return NewtonState(models, gaps, columns, problem.rows.centre, problem.lam)


def new_model(problem: Problem, columns: Columns, A: FloatArray | None) -> Model:
    """Return a model at w = 0, or at w(a) with `a` as multipliers; its scores are not computed."""
    (n, d), y = shape(problem.rows), problem.costs.Y
    unit, K = unit_of(y, problem.costs.loss), y.shape[1]
    is_smooth = isinstance(problem.costs.loss, SquaredHinge | Logistic | Softmax)
    width = first_width(problem, columns, unit) if A is None else WIDE_AFTER
    Z, alpha, B, D = (np.zeros((n, K)) for _ in range(4))
    model = Model(
        y=y, w=np.zeros((d, K)), b=np.zeros(K), Z=Z, A=alpha, B=B, D=D, v=np.zeros((d, K)),
        sums=np.zeros((ROWS_OF_SUMS, K)), q=0.0 if is_smooth else width * unit, unit=unit,
        is_smooth=is_smooth,
    )  # fmt: skip
    if A is not None:
        model.B[:] = A
        model.w[:] = settle(problem.rows.centre, combination(problem, A))[:d]
    if problem.is_free and not (A is None and is_margin(y)) and K == 1:
        model.b = starting_biases(problem, in_parts(problem.rows, model.w))
    elif A is not None and problem.bias_scale > 0.0:
        totals = [np.sum(problem.costs.weights.values * A[:, k]) for k in range(K)]
        model.b = problem.bias_scale**2 * np.array(totals) / (problem.lam * problem.S)
        model.b += columns.m @ model.w
    return model


def first_width(problem: Problem, columns: Columns, unit: float) -> float:
    """Return the width to begin with from w = 0, in units.

    Inexact steps go far only where the penalty still counts beside what answers.
    """
    if is_joint(problem.costs.loss) and problem.costs.Y.shape[1] * len(columns.m) > LARGE:
        return max(WIDE_OF_LARGE, kappa_of(problem, columns, unit) / KAPPA_OF_LARGE)
    return WIDE


def first_rows(problem: Problem, seed: int) -> Any:
    """Return the numbers of the rows to begin with, ascending; None for all of them."""
    count, weights = first_count(problem), problem.costs.weights
    if count == 0:
        return None
    n, _ = shape(problem.rows)
    drawn = np.sort(np.random.default_rng(seed).choice(n, count, replace=False))
    if weights.mask:
        drawn = drawn[weights.values[drawn] > 0.0]
    Y = problem.costs.Y[drawn]
    return drawn if len(Y) > 0 and np.all(Y.max(axis=0) > Y.min(axis=0)) else None


def first_count(problem: Problem) -> int:
    """Return how many rows to begin with; 0 for all of them."""
    (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
    if not is_joint(problem.costs.loss):
        is_smooth = isinstance(problem.costs.loss, SquaredHinge | Logistic)
        if is_smooth and n * d**2 < FIRST_PRODUCTS:  # few steps, all of them quick
            return 0
        return n // FIRST_PART if n >= FIRST_PART * max(1000, ROWS_PER_COLUMN * d) else 0
    if isinstance(problem.costs.loss, JointHinge):  # all lead there in no more steps
        return 0
    count = max(1000, n // FIRST_PART, ROWS_PER_WEIGHT * d * K)
    return count if d * K <= LARGE and JOINT_PART * count <= n else 0


def go_on(problem: Problem, state: NewtonState, begun: NewtonState) -> None:
    """Go on with all rows from the weights that a part of them led to."""
    state.first = None
    around = seen(problem, state.centre)

    def take(k: int) -> None:
        model, other = state.models[k], begun.models[k]
        posed = problem_of(around, model)
        model.w[:], model.b, model.damping = other.w, other.b.copy(), other.damping
        write_scores(posed, model.w, model.b, model.Z)
        if is_joint(problem.costs.loss):
            model.q, model.narrowings = other.q, other.narrowings
            model.answer(posed)
            return
        model.q = min(model.q, other.q / NARROWER)
        model.answer(posed)
        model.B[:] = model.A  # multipliers as good as can be had
        model.answer(posed)

    each(take, range(len(state.models)))
