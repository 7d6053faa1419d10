"""Any structure: a joint feature map, loss-augmented decoding and a cost, of the user's own.

Minimises   P(w) = lam/2 ||w||^2 + 1/S sum_i s_i max_r [cost(y_i, r) - <w, psi_i(r)>]

with psi_i(r) = phi(x_i, y_i) - phi(x_i, r). A structure r that decoding has found is a corner of
the dual's feasible set, known by its cost and psi. Any average of corners is a dual point, of which
two sums over the examples matter, c = sum_i s_i E cost and psi = sum_i s_i E psi: w(a) is
psi / (lam S), and

    gap = 1/S [sum_i s_i loss_i(w) - (c - <w, psi>)] + lam/2 ||w - w(a)||^2

The lower bound on the optimum holds whatever decoding returns, as long as it is feasible. The
objective does not: decoding must find the maximum. What is returned is compared with all corners
known; one that is better proves that it did not, and ends the fit.

[TJHA05]  Tsochantaridis, Joachims, Hofmann, Altun. Large margin methods for structured and
          interdependent output variables. JMLR 6, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from pegasos.certificate.sequences import SLACK, Evaluation, radius_of
from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidData, InvalidType

LARGEST = 1e100  # feature that can be squared and summed without an overflow
ROUNDING = 1e-9  # relative to the scores involved: a corner better by less may be rounding
EPS = float(np.finfo(np.float64).eps)


@runtime_checkable
class Structure(Protocol):
    """What a user has to say about a structure.

    A method `is_feasible(x, y)` is optional: if there is one, everything that decoding returns is
    asked about.
    """

    def features(self, x: Any, y: Any) -> Any:
        """Return phi(x, y), an array of shape (d,)."""

    def cost(self, y: Any, other: Any) -> float:
        """Return what `other` costs where y is true: 0 for y itself, never less."""

    def decode(self, w: FloatArray, x: Any) -> Any:
        """Return the structure r with the largest <w, phi(x, r)>."""

    def decode_augmented(self, w: FloatArray, x: Any, y: Any) -> Any:
        """Return the structure r with the largest cost(y, r) + <w, phi(x, r)>."""


class Corner(NamedTuple):
    """A structure that decoding found, as the dual knows it."""

    cost: float
    psi: FloatArray


class DualSums(NamedTuple):
    """A dual point: c and psi, summed over the examples.

    psi is a sum of so many `terms`, whose norms add up to `norm`: it is off by `terms` eps `norm`.
    """

    cost: float
    psi: FloatArray
    terms: int = 0
    norm: float = 0.0

    def plus(self, m: float, corner: Corner) -> DualSums:
        """Return the sums with a corner of mass m more."""
        cost, psi = self.cost + m * corner.cost, self.psi + m * corner.psi
        norm = self.norm + m * float(np.linalg.norm(corner.psi))
        return DualSums(cost, psi, self.terms + 1, norm)


@dataclass
class Examples:
    """A problem: examples, their weights, the features of the true structures, and the penalty."""

    structure: Structure
    X: Any
    y: Any
    weights: FloatArray
    lam: float
    truth: list[FloatArray]
    S: float  # sum of the weights

    def most_costly(self, i: int, w: FloatArray, known: list[Corner] | None = None) -> Corner:
        """Return the corner that loss-augmented decoding finds for example i, checked."""
        return self.decoded(i, w, known)[0]

    def decoded(
        self, i: int, w: FloatArray, known: list[Corner] | None = None
    ) -> tuple[Corner, Any]:
        """Return the same and the structure itself."""
        found = self.structure.decode_augmented(w, self.X[i], self.y[i])
        corner = self.corner(i, found)
        cost = corner.cost
        value = cost - float(w @ corner.psi)
        size = cost + float(np.abs(w) @ np.abs(corner.psi))
        others = [Corner(0.0, np.zeros(len(w))), *(known or [])]
        best = max(other.cost - float(w @ other.psi) for other in others)
        if value < best - ROUNDING * (1.0 + size):
            raise InvalidData(
                f"decode_augmented does not find the maximum: for example {i} it returned a "
                f"structure of cost plus score {value:g} above the true one's score, but one is "
                f"known with {best:g}. Without the maximum there is no certificate."
            )
        return corner, found

    def corner(self, i: int, found: Any) -> Corner:
        """Return the corner that a structure is for example i; refuse an infeasible one."""
        x, y, psi = self.X[i], self.y[i], self.truth[i]
        is_feasible = getattr(self.structure, "is_feasible", None)
        if is_feasible is not None and not is_feasible(x, found):
            raise InvalidData(
                f"decode_augmented returned something infeasible for example {i}, by is_feasible: "
                f"{found!r:.200}."
            )
        cost = checked_cost(self.structure.cost(y, found), i)
        return Corner(cost, psi - checked_features(self.structure, x, found, i, len(psi)))


def make_examples(
    structure: Any, X: Any, y: Any, weights: FloatArray | None, lam: float
) -> Examples:
    """Assemble a problem; ask for the features of every true structure."""
    truth: list[FloatArray] = []
    for i, (x, one) in enumerate(zip(X, y, strict=True)):
        truth.append(checked_features(structure, x, one, i, len(truth[0]) if truth else None))
        if (own := checked_cost(structure.cost(one, one), i)) != 0.0:
            raise InvalidData(f"cost(y, y) must be 0; for example {i} it is {own:g}.")
    s = np.ones(len(truth)) if weights is None else weights
    return Examples(structure, X, y, s, lam, truth, float(s.sum()))


def checked_features(structure: Any, x: Any, y: Any, i: int, d: int | None) -> FloatArray:
    """Return phi(x, y) as float64 of shape (d,)."""
    try:
        phi = np.asarray(structure.features(x, y), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidType(f"features must return numbers; for example {i}: {error}.") from error
    if phi.ndim != 1 or (d is not None and len(phi) != d):
        wanted = "(d,)" if d is None else f"({d},), as for example 0"
        raise InvalidData(f"features must have shape {wanted}; got {phi.shape} for example {i}.")
    if not np.all(np.isfinite(phi)):
        raise InvalidData(f"features contain NaN or infinity for example {i}.")
    if (largest := float(np.abs(phi).max(initial=0.0))) > LARGEST:
        raise InvalidData(
            f"features of up to {largest:g} for example {i} are too large to be squared and summed "
            f"(at most {LARGEST:g}). Rescale them."
        )
    return phi


def checked_cost(cost: Any, i: int) -> float:
    """Return a cost that is a finite number, not below 0."""
    if not np.isscalar(cost) or not 0.0 <= float(cost) < np.inf:  # type: ignore[arg-type]
        raise InvalidData(f"cost must be finite and not below 0; got {cost!r} for example {i}.")
    return float(cost)  # type: ignore[arg-type]


def evaluate(
    problem: Examples, w: FloatArray, dual: DualSums, known: list[list[Corner]] | None = None
) -> Evaluation:
    """Certify weights by a dual point."""
    losses = size = 0.0
    for i, s in enumerate(problem.weights):
        if s > 0.0:
            corner = problem.most_costly(i, w, known[i] if known else None)
            losses += s * max(0.0, corner.cost - float(w @ corner.psi))
            size += s * (corner.cost + float(np.abs(w) @ np.abs(corner.psi)))
    lam, S, d, length = problem.lam, problem.S, len(w), float(np.linalg.norm(w))
    of_dual = EPS * (dual.terms + 16)
    shares = max(0.0, losses - (dual.cost - float(w @ dual.psi)))
    room = (d + len(problem.truth) + 16) * EPS * size  # products of d values, sums of n
    room_of_dual = of_dual * dual.cost + (of_dual + EPS * (d + 16)) * length * dual.norm
    square = 0.5 * lam * float(w @ w)
    middle = square + losses / S
    of_objective = room / S + EPS * (d + 16) * square + 4.0 * EPS * middle
    off = (1.0 + EPS * (d + 16)) * float(np.linalg.norm(w - dual.psi / (lam * S)))
    off += SLACK * of_dual * dual.norm / (lam * S)
    primal = middle + of_objective
    gap = (shares + 2.0 * room + room_of_dual) / S + 0.5 * lam * off**2
    gap += 2.0 * of_objective + 8.0 * EPS * (primal + gap)
    return Evaluation(w.copy(), primal, primal - gap, gap, radius_of(gap, lam, off))
