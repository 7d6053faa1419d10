"""Scores of expansions over the rows of a kernel matrix, and how far rounding may have moved them.

Kernel values have errors of about `rounding` each, independent of each other but for factors of
whole rows. Scores of coefficients B are then off by a normal number of deviation `rounding` ||B||,
and by less than `SIGMAS` of these; adding up m of them in double precision costs sqrt(m) eps
||B||_1 besides. That is a model, so it is tested: some rows, drawn anew each time, are computed in
double precision, and what they show widens or narrows the bound of all rows, or, for scores that a
solver has maintained and offers, has them computed from the data instead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.problem.scores import EPS, Offered, Scores

SIGMAS = 4.0  # errors of scores, summed over rows, are below so many times the typical one
SEEN = 1.5  # and below so many times the largest that an audit has seen
NARROWEST = 0.25  # of the modelled bound: whatever an audit has seen, no less is allowed for
AUDITED_ROWS = 64
DRIFT = 1e-12  # of ||B||_1: what many small changes may add to scores that are maintained
ROUGH = 1e-9  # rounding of kernel values from which scores are audited though they are our own
SAME = 1e-3  # of the error of kernel values: coefficients this near each other are the same
OUTLIERS = 8.0  # errors of a score of any row may be so many times the typical one


# ---- of the training rows


def kernel_scores(
    gram: Any, B: FloatArray, Z: FloatArray, offered: Offered | None, random: Any
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
    gram: Any, B: FloatArray, Z: FloatArray, offered: Offered, random: Any
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


def _bounded(gram: Any, B: FloatArray, Z: FloatArray, drift: float) -> Scores:
    radius = radii(gram, B, Z, slice(None), gram.rounding, drift)
    return _with_square(B, Scores(Z, radius, np.zeros(B.shape[1])))


def radii(
    gram: Any, B: FloatArray, Z: FloatArray, rows: Any, rounding: float, drift: float = 0.0
) -> FloatArray:
    """Bound the errors of some rows' scores, for kernel values with errors of `rounding`."""
    length = gram.lengths
    adding = 4.0 * np.sqrt(np.count_nonzero(B.any(axis=1))) * EPS
    total = np.einsum("jk,jk->k", length, np.abs(B))
    error = SIGMAS * rounding * expansion_size(gram, B) + (drift + adding) * total
    return np.asarray(length[rows] * error + 2.0 * rounding * np.abs(Z[rows]))


def _with_square(B: FloatArray, scored: Scores) -> Scores:
    """Bound the error of B'Z; errors of different rows may go together."""
    error = scored.radius + 16.0 * EPS * np.abs(scored.Z)
    return scored._replace(square=np.einsum("jk,jk->k", np.abs(B), error))


def _audited(gram: Any, B: FloatArray, scored: Scores, random: Any) -> tuple[FloatArray, float]:
    """Compute some rows in double precision; return the radius they bear out, and the worst."""
    chosen = random.choice(gram.n, min(AUDITED_ROWS, gram.n), replace=False)
    exact = gram.exact_scores(chosen, B)
    error = np.abs(scored.Z[chosen] - exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0.0, 0.0, error / scored.radius[chosen])
    ratio = np.nan_to_num(ratio, nan=np.inf, posinf=np.inf)
    worst = ratio.max(axis=0)
    return scored.radius * np.maximum(NARROWEST, SEEN * worst), float(worst.max())


def make_exact(gram: Any, B: FloatArray, scored: Scores, chosen: Any) -> Scores:
    """Compute the scores of some rows in double precision."""
    radius = scored.radius.copy()
    scored.Z[chosen] = gram.exact_scores(chosen, B)
    exact = radii(gram, B, scored.Z, chosen, gram.in_double.error)
    radius[chosen] = np.minimum(radius[chosen], exact)
    return _with_square(B, scored._replace(radius=radius))


# ---- of any rows


def expansion_size(rows: Any, W: FloatArray) -> FloatArray:
    """Return sqrt(sum_j W[j, k]^2 K(x_j, x_j)) of expansions over the training rows."""
    scaled = rows.lengths * W
    return np.sqrt(np.einsum("jk,jk->k", scaled, scaled))


def expansion_error(rows: Any, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what errors of scores grow with: the size of expansions, and what adding up costs."""
    total = np.einsum("jk,jk->k", rows.lengths, np.abs(W))
    adding = 4.0 * math.sqrt(np.count_nonzero(W.any(axis=1))) * EPS
    return expansion_size(rows, W), adding * total


def scores_room(rows: Any, Z: FloatArray, size: FloatArray, adding: FloatArray) -> FloatArray:
    """Bound the errors of scores Z (n, K) of a kernel's expansions; see `expansion_error`."""
    room = 2.0 * rows.rounding * np.abs(Z)
    error = OUTLIERS * rows.rounding * size + adding
    length = np.broadcast_to(rows.lengths, Z.shape)
    for k in range(Z.shape[1]):  # one after the other: Z may be large
        room[:, k] += error[k] * length[:, k]
    return np.asarray(room)
