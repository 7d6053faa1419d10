"""Scores of weights, and how far rounding may have moved them.

    linear    |z_i - <w, x_i>| <= (m + 16) eps sum_j |w_j x_ij|              m values in a row

Of the sum only a bound over all rows is known at first, max |x| ||w||_1, which costs no pass; the
largest sum itself (`sharper`) costs one.

With a kernel, values have errors of about `rounding` each, independent of each other but for
factors of whole rows. Scores of coefficients B are then off by a normal number of deviation
`rounding` ||B||, and by less than `SIGMAS` of these; adding up m of them in double precision costs
sqrt(m) eps ||B||_1 besides. That is a model, so it is tested: some rows, drawn anew each time, are
computed in double precision, and what they show widens or narrows the bound of all rows, or, for
scores that a solver has maintained and offers, has them computed from the data instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate.terms import EPS
from pegasos.data.rows import FloatArray, largest_value, longest_row, sizes, square_norm
from pegasos.dispatch import compiled
from pegasos.kernel_matrix.gram import Gram, Kernelized
from pegasos.problem.geometry import absolute_sums, expansion_size, write_scores
from pegasos.problem.objective import Problem, blocks, weight

SIGMAS = 4.0  # errors of scores, summed over rows, are below so many times the typical one
SEEN = 1.5  # and below so many times the largest that an audit has seen
NARROWEST = 0.25  # of the modelled bound: whatever an audit has seen, no less is allowed for
AUDITED_ROWS = 64
DRIFT = 1e-12  # of ||B||_1: what many small changes may add to scores that are maintained
ROUGH = 1e-9  # rounding of kernel values from which scores are audited though they are our own
SAME = 1e-3  # of the error of kernel values: coefficients this near each other are the same


class Scores(NamedTuple):
    """Scores without bias, Z (n, K), and bounds on what rounding did to them.

    radius : ndarray of shape (n, K), or (1, K) for all rows
    square : ndarray of shape (K,)
        Bound on the error of the square norm that errors of scores make; 0 without a kernel.
    audited : int
        Rows that offered scores were tested on; 0 if all scores were computed from the data.
    """

    Z: FloatArray
    radius: FloatArray
    square: FloatArray
    audited: int = 0


class Offered(NamedTuple):
    """Scores that a solver maintains: F (n, K), of coefficients B (n, K)."""

    B: FloatArray
    F: FloatArray


class Extent(NamedTuple):
    """Of rows of features: their largest value and most values in a row."""

    largest: float
    values: int


def extent(problem: Problem) -> Extent:
    """Return how large the rows are; those of weight 0 may hold anything. A kernel has none."""
    rows, weights = problem.rows, problem.costs.weights
    if isinstance(rows, Kernelized):
        return Extent(0.0, 0)
    if not weights.mask or weights.values.all():
        return Extent(largest_value(rows), longest_row(rows))
    largest = 0.0
    for start, stop in blocks(rows):
        largest = max(largest, longest_length(rows, weights, start, stop))
    return Extent(largest, longest_row(rows))


# ---- features


def linear_scores(problem: Problem, W: FloatArray, Z: FloatArray, known: Extent) -> Scores:
    """Write the scores of weights W into Z; bound their errors without a pass over the rows."""
    write_scores(problem.rows, W, Z)
    largest = known.largest * absolute_sums(W)
    return Scores(Z, _radius(known, largest), np.zeros(W.shape[1]))


def sharper(problem: Problem, W: FloatArray, scored: Scores, known: Extent) -> Scores:
    """Bound the errors by the largest sum_j |w_j x_ij|."""
    most = np.zeros(W.shape[1])
    for start, stop in blocks(problem.rows):
        largest_sizes(problem.rows, problem.costs.weights, start, stop, W, most)
    return scored._replace(radius=_radius(known, most))


def _radius(known: Extent, size: FloatArray) -> FloatArray:
    return ((known.values + 16) * EPS * size)[None]


@compiled
def longest_length(rows, weights, start, stop):  # type: ignore[no-untyped-def]
    """Return the largest ||x_i||, no value of which is larger, of rows start <= i < stop."""
    largest = 0.0
    for i in range(start, stop):
        if weight(weights, i) > 0.0:
            largest = max(largest, square_norm(rows, i))
    return np.sqrt(largest)


@compiled
def largest_sizes(rows, weights, start, stop, W, most):  # type: ignore[no-untyped-def]
    """Raise most[k] to the largest sum_j |w_kj x_ij| of rows start <= i < stop."""
    z = np.empty(len(most))
    for i in range(start, stop):
        if weight(weights, i) > 0.0:
            sizes(rows, i, W, z)
            for k in range(len(most)):
                most[k] = max(most[k], z[k])


@compiled
def add_lengths(rows, weights, start, stop, A, sums):  # type: ignore[no-untyped-def]
    """Add |s_i a_i| ||x_i|| of rows start <= i < stop to sums[k]."""
    for i in range(start, stop):
        length = weight(weights, i) * np.sqrt(square_norm(rows, i))
        for k in range(A.shape[1]):
            sums[k] += abs(A[i, k]) * length


# ---- kernels


def kernel_scores(
    gram: Gram, B: FloatArray, Z: FloatArray, offered: Offered | None, random: Any
) -> Scores:
    """Write the scores of an expansion into Z, from those offered if they are found right."""
    if offered is not None and gram.values_lacking(B) > 0:
        found = _from_offer(gram, B, Z, offered, random)
        if found is not None:
            return found
    Z[:] = 0.0
    gram.add_scores(B, Z)
    scored = _bounded(gram, B, Z, 0.0)
    if gram.rounding <= ROUGH:
        return scored
    radius, _ = _audited(gram, B, scored, random)
    return _with_square(B, scored._replace(radius=radius))


def _from_offer(
    gram: Gram, B: FloatArray, Z: FloatArray, offered: Offered, random: Any
) -> Scores | None:
    """Go on from offered scores of nearly the same coefficients; None if they are not right."""
    change = B - offered.B
    same = max(16.0 * EPS, SAME * gram.rounding)
    change[np.abs(change) <= same * np.abs(B)] = 0.0
    if gram.values_lacking(change) >= gram.values_lacking(B):
        return None
    Z[:] = offered.F
    gram.add_scores(change, Z)
    scored = _bounded(gram, B, Z, DRIFT + same)
    radius, worst = _audited(gram, B, scored, random)
    if not worst <= 1.0:
        return None
    audited = min(AUDITED_ROWS, gram.n)
    return _with_square(B, scored._replace(radius=radius, audited=audited))


def _bounded(gram: Gram, B: FloatArray, Z: FloatArray, drift: float) -> Scores:
    radius = radii(gram, B, Z, slice(None), gram.rounding, drift)
    return _with_square(B, Scores(Z, radius, np.zeros(B.shape[1])))


def radii(
    gram: Gram, B: FloatArray, Z: FloatArray, rows: Any, rounding: float, drift: float = 0.0
) -> FloatArray:
    """Bound the errors of some rows' scores, for kernel values with errors of `rounding`."""
    length = np.sqrt(np.abs(gram.diagonal))
    adding = 4.0 * np.sqrt(np.count_nonzero(B.any(axis=1))) * EPS
    error = SIGMAS * rounding * expansion_size(gram, B) + (drift + adding) * (length @ np.abs(B))
    return length[rows, None] * error + 2.0 * rounding * np.abs(Z[rows])


def _with_square(B: FloatArray, scored: Scores) -> Scores:
    """Bound the error of B'Z; errors of different rows may go together."""
    error = scored.radius + 16.0 * EPS * np.abs(scored.Z)
    return scored._replace(square=np.einsum("jk,jk->k", np.abs(B), error))


def _audited(gram: Gram, B: FloatArray, scored: Scores, random: Any) -> tuple[FloatArray, float]:
    """Compute some rows in double precision; return the radius they bear out, and the worst."""
    chosen = random.choice(gram.n, min(AUDITED_ROWS, gram.n), replace=False)
    exact = gram.exact_scores(chosen, B)
    error = np.abs(scored.Z[chosen] - exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0.0, 0.0, error / scored.radius[chosen])
    ratio = np.nan_to_num(ratio, nan=np.inf, posinf=np.inf)
    worst = ratio.max(axis=0)
    return scored.radius * np.maximum(NARROWEST, SEEN * worst), float(worst.max())


def make_exact(gram: Gram, B: FloatArray, scored: Scores, chosen: Any) -> Scores:
    """Compute the scores of some rows in double precision."""
    radius = scored.radius.copy()
    scored.Z[chosen] = gram.exact_scores(chosen, B)
    exact = radii(gram, B, scored.Z, chosen, gram.in_double.error)
    radius[chosen] = np.minimum(radius[chosen], exact)
    return _with_square(B, scored._replace(radius=radius))
