"""The certificate: primal, dual and gap in float64, with what rounding may hide in them.

For a dual point a, put  w(a) = 1/(lam S) sum_i s_i a_i x_i. For any feasible a and any w, b

    D(a) <= min P <= P(w, b)
    P(w, b) - D(a) = 1/S sum_i s_i gap_term_i + lam/2 ||w - w(a)||^2  >= 0

The gap is the right-hand side: a sum of non-negative terms, no difference of large numbers
(docs/mathematics.md, sections 2 and 4). A regularised bias is one more coordinate of w; a free one
needs sum_i s_i a_i = 0 and drops out.

Rounding. A score known up to r_i (`scores`) has a loss and a gap term below the larger of those at
z_i - r_i and z_i + r_i, for both are convex in z_i. At a kink these errors have one sign: they do
not average out. So gap and primal are upper bounds, with `hidden` the part of the gap that is
there for rounding, and the dual, their difference, is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.offer import (
    DualWeights,
    Means,
    Offer,
    dual_weights,
    write_feasible,
)
from pegasos.certificate.one_pass import weights_and_scores
from pegasos.certificate.terms import (
    ABS,
    BALANCE,
    EPS,
    GAP_ROOM,
    LOST,
    SIZE,
    SPREAD,
    VALUE,
    VALUE_ROOM,
    Judged,
    Radius,
    sums_of_terms,
    write_negative_slopes,
    write_room,
)
from pegasos.data.rows import FloatArray
from pegasos.kernel_matrix.scores import make_exact
from pegasos.problem.bias import Balance, best_bias, best_regularized_bias
from pegasos.problem.gap import GAIN, GAP
from pegasos.problem.geometry import geometry, rounding_of_weights
from pegasos.problem.joint_bias import centred_biases
from pegasos.problem.joint_losses import is_joint, lengths, models, summed
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import Problem, blocks
from pegasos.problem.scores import Offered, Scores, add_lengths, linear_scores, sharper

MANY_ROWS = 32_768  # from which the best regularised bias is looked for


class Point(NamedTuple):
    """A feasible dual point: raw numbers A (n, K), a solver's own, and the balance over them."""

    A: Any
    balance: Balance


@dataclass(frozen=True)
class Evaluation:
    """Models and their proven quality, one entry per model in every array.

    `W` (d, K) and `b` (K,) are what was evaluated.
    """

    W: FloatArray
    b: FloatArray
    primal: FloatArray
    dual: FloatArray
    gap: FloatArray
    distance: FloatArray  # upper bound on ||w - w(a)||^2, a regularised bias included
    hidden: FloatArray  # part of the gap that stands for rounding
    point: Point  # what proves it; changes with its solver
    scored: Scores  # the scores of W, as long as nobody writes over them
    is_sharp: bool = False  # what decides was computed as exactly as can be

    @property
    def audited(self) -> int:
        """Rows that offered scores were tested on; 0: computed from the data."""
        return self.scored.audited


def evaluate(
    problem: Problem,
    offer: Offer,
    means: Means,
    accuracy: float = 0.0,
    bias_hint: FloatArray | None = None,
    target: float = 0.0,
) -> Evaluation:
    """Certify the iterate of an offer, or w(a) itself when there is none, by its dual point.

    Weights are judged as they will be stored, in the data's precision. `accuracy` is how far a free
    bias may stay from its best. Where only rounding keeps the relative gap above `target`, what
    decides is computed more exactly. `means.scratch` is left with the scores.
    """
    if offer.weights is not None:
        W = stored(problem, offer.weights)
        dual, scored = weights_and_scores(problem, offer, W, means)
        b = problem.bias_scale * dual.beta
    else:
        dual = dual_weights(problem, offer, means)
        W, b = offer.iterate or (dual.W, problem.bias_scale * dual.beta)
        W = stored(problem, W) if offer.iterate else geometry(problem.rows).as_stored(W)
        scored = scores_of(problem, W, offer, means)
    if offer.iterate is None and offer.bias is not None:
        b = offer.bias[0] - offer.bias[1] @ W
    if not offer.is_final:
        b = chosen_bias(problem, scored.Z, b, accuracy, bias_hint)
    if offer.iterate is None and has_noisy_bias(problem):
        b = regularized_bias(problem, scored.Z, b, accuracy)
    found = bounded(problem, offer, dual, W, b, scored)
    if is_hidden(found, target):
        spare = 0.5 * (target * found.primal - (found.gap - found.hidden))
        dual, scored = what_decides(problem, offer, dual, W, b, scored, means, spare)
        found = replace(bounded(problem, offer, dual, W, b, scored), is_sharp=True)
    return found


def stored(problem: Problem, W: FloatArray) -> FloatArray:
    """Return weights as they will be stored, in an array that no solver goes on writing into."""
    kept = geometry(problem.rows).as_stored(W)
    return W.copy() if kept is W else kept


def is_hidden(found: Evaluation, target: float) -> bool:
    """Whether all models would be within the target but for rounding, and not all are."""
    rest = found.gap - found.hidden
    would_be = np.all(rest <= target * (found.primal - rest))
    return bool(would_be and not np.all(found.gap <= target * found.dual))


def scores_of(problem: Problem, W: FloatArray, offer: Offer | None, means: Means) -> Scores:
    """Write the scores of weights into scratch; those offered may serve if W is nearly w(a)."""
    space, offered = geometry(problem.rows), None
    if offer is not None and offer.scores is not None:
        offered = Offered(space.combination(problem, offer.scale * offer.A), offer.scores)
    return space.bounded_scores(W, means.scratch, means.extent, offered, means.random)


def chosen_bias(
    problem: Problem,
    Z: FloatArray,
    b: FloatArray,
    accuracy: float,
    hint: FloatArray | None,
) -> FloatArray:
    """Return the bias: as given, or the best one for scores Z where it is free."""
    if not problem.is_free:
        return b
    if is_joint(problem.costs.loss):
        return centred_biases(b)
    hint = b if hint is None else hint
    outputs = range(Z.shape[1])
    return np.array([best_bias(problem, Z, k, float(hint[k]), accuracy) for k in outputs])


def has_noisy_bias(problem: Problem) -> bool:
    """Whether the regularised bias of w(a) is to be replaced by the best one for its scores.

    It is a sum over all rows, which every step of a dual method moves: where rows are many, weights
    are near the optimum long before it is.
    """
    space, n = geometry(problem.rows), len(problem.costs.Y)
    is_large = n >= MANY_ROWS and not space.is_expansion
    return problem.bias_scale > 0.0 and is_large and not is_joint(problem.costs.loss)


def regularized_bias(problem: Problem, Z: FloatArray, b: FloatArray, accuracy: float) -> FloatArray:
    """Return the best regularised biases for scores Z, near those of the dual point."""
    outputs = range(Z.shape[1])
    found = [best_regularized_bias(problem, Z, k, float(b[k]), accuracy) for k in outputs]
    return np.where(np.isfinite(found), found, b)


def bounded(
    problem: Problem,
    offer: Offer,
    dual: DualWeights,
    W: FloatArray,
    b: FloatArray,
    scored: Scores,
) -> Evaluation:
    """Bound primal and gap from above, and the dual from below."""
    space, loss, (n, K) = geometry(problem.rows), problem.costs.loss, scored.Z.shape
    judged = Judged(offer.A, dual.balance, scored.Z, radius_of(problem, scored), b)
    sums = sums_of_terms(problem.costs, judged) / problem.S
    own = sums[:, : models(loss, K)]
    slack = 8 + 8 * K if is_joint(loss) else 8
    adding = (n + slack) * EPS  # what adding up n terms may lose
    square, square_a, distance = (
        summed(loss, squares) for squares in space.distances(W, dual.W, scored.Z)
    )
    if problem.bias_scale > 0.0:
        beta = b / problem.bias_scale
        square, square_a = square + summed(loss, beta**2), square_a + summed(loss, dual.beta**2)
        distance = distance + summed(loss, (beta - dual.beta) ** 2)
    half = 0.5 * problem.lam
    losses, terms = own[VALUE], own[GAP]
    room = own[VALUE_ROOM] + adding * losses
    room += half * (summed(loss, scored.square) + (len(W) + 8 + slack) * EPS * square)
    charge, shift = imbalance(problem, sums, b, dual.longest)
    gap_room = own[GAP_ROOM] + adding * terms + charge
    if not isinstance(loss, Hinge | SquaredHinge | EpsilonInsensitive):
        gap_room = gap_room + (8 + slack) * EPS * own[SIZE]  # a term is a difference, for others
    error = space.distance_error(W, dual.W, distance, scored)
    far = np.sqrt(distance + error) + dual.error + shift
    primal, gap = half * square + losses, terms + half * distance
    hidden = gap_room + half * (far**2 - distance) + 2.0 * room  # the primal may be off either way
    if space.is_expansion:  # rounding may have made a square norm negative, so 0
        direct = sums[GAIN] - half * square_a
        gap = np.where(square > 0.0, gap, np.maximum(gap, primal - direct))
    hidden = hidden + half * summed(loss, space.noise(W, dual.W))
    is_exact = is_perfect(problem, W, b, primal, room)
    room, hidden = (np.where(is_exact, 0.0, part) for part in (room, hidden))
    primal, gap = primal + room, gap + hidden
    point = Point(offer.A, dual.balance)
    return Evaluation(W, b, primal, primal - gap, gap, far**2, hidden, point, scored)


def radius_of(problem: Problem, scored: Scores) -> Radius:
    """Return the bounds on errors of scores as loops see them."""
    mask = -1 if len(scored.radius) == len(scored.Z) else 0
    loss = problem.costs.loss
    is_margin = is_joint(loss) or isinstance(loss, Hinge | SquaredHinge | Logistic)
    return Radius(scored.radius, mask, 0.0 if is_margin else 1.0)


def is_perfect(
    problem: Problem, W: FloatArray, b: FloatArray, primal: FloatArray, room: FloatArray
) -> Any:
    """Whether the objective of a model is 0, exactly: no weights, and no row that rounding moves.

    Nothing is rounded either where all targets equal the bias.
    """
    is_zero = primal == 0.0
    if not is_zero.any():  # the usual case
        return is_zero
    if is_joint(problem.costs.loss):
        return is_zero & (not W.any()) & (room == 0.0)
    return is_zero & ~W.any(axis=0) & ((room == 0.0) | (problem.costs.Y == b).all(axis=0))


def imbalance(
    problem: Problem, sums: FloatArray, b: FloatArray, longest: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Bound what sum_i s_i a_i lacks to 0, under a free bias, may add to a gap, and move w(a) by.

    With the heavier sign shrunk by a fraction f, a balances; the dual then loses at most f times
    its terms. Of a joint loss, every class that has too much gives away a fraction f of its p;
    that is less than f in a row, moves w(a) by less than sqrt(2) f times a row, and adds less than
    f times the row's spread to its gap term.
    """
    nothing = np.zeros(models(problem.costs.loss, len(b)))
    if not problem.is_free:
        return nothing, nothing
    left = sums[BALANCE] + sums[LOST]
    total, fraction = np.abs(left), np.zeros_like(left)
    np.divide(2.0 * total, sums[ABS], out=fraction, where=sums[ABS] > 0.0)
    if is_joint(problem.costs.loss):  # rows sum to 0 up to K units in the last place
        f = (fraction * (left < 0.0)).max(keepdims=True) + 2 * (len(b) + 8) * EPS
        return f * (sums[SPREAD, :1] + sums[GAP, :1]), f * 1.5 * longest / problem.lam
    charge = 3.0 * np.abs(b) * total + 2.0 * fraction * (sums[SIZE] + sums[GAP])
    return np.asarray(charge), nothing


def what_decides(
    problem: Problem,
    offer: Offer,
    dual: DualWeights,
    W: FloatArray,
    b: FloatArray,
    scored: Scores,
    means: Means,
    spare: FloatArray,
) -> tuple[DualWeights, Scores]:
    """Return what errors of scores and weights are bounded by, known more exactly.

    With features, their sizes row by row; with a kernel, in double precision the scores of those
    rows that have most of the room, until no more than `spare` (K,) is left: support vectors.
    """
    if geometry(problem.rows).is_expansion:
        room = np.zeros_like(scored.Z)
        radius = radius_of(problem, scored)
        write_room(problem.costs, Judged(offer.A, dual.balance, scored.Z, radius, b), room)
        return dual, make_exact(problem.rows, W, scored, largest_rooms(room / problem.S, spare))
    reach = np.zeros(W.shape[1])
    write_feasible(problem.costs, offer.A, dual.balance, means.scratch)
    for start, stop in blocks(problem.rows):
        add_lengths(
            problem.rows, problem.costs.weights, start, stop, means.scratch, reach
        )  # fmt: skip
    error = rounding_of_weights(problem, reach)
    dual = dual._replace(error=lengths(problem.costs.loss, error))
    scored = linear_scores(problem.rows, W, means.scratch, means.extent)
    return dual, sharper(problem, W, scored, means.extent)


def largest_rooms(room: FloatArray, spare: FloatArray) -> Any:
    """Return the rows with the largest room, so many that those of the others sum to `spare`."""
    chosen = np.zeros(len(room), dtype=np.bool_)
    for k in range(room.shape[1]):
        order = np.argsort(room[:, k])
        chosen[order[np.cumsum(room[order, k]) > spare[k]]] = True
    return np.flatnonzero(chosen)


def negative_slopes(
    problem: Problem, W: FloatArray, b: FloatArray, means: Means, accuracy: float
) -> tuple[FloatArray, FloatArray]:
    """Return a_i = -slope at the scores of (W, b), always feasible, and the bias they are for."""
    Z = scores_of(problem, W, None, means).Z
    b = chosen_bias(problem, Z, b, accuracy, b)
    A = np.empty_like(Z)
    write_negative_slopes(problem.costs, Z, b, A)
    return A, b
