"""Rows seen from a centre m instead of the origin: x_i - m without a copy of the rows.

A free bias makes <w, x> + b = <w, x - m> + b', b' = b + <w, m>, the same problem: the same w, the
same dual. But steps on rows far from the origin mostly move the bias, and their weights drown in
rounding. So solvers look at such rows from their mean.

Dense rows subtract m value by value. Compressed rows keep w in parts (`CsrRows`), which `settle`
puts together again, once per epoch: rounding would grow with t ||m||^2.
"""

from __future__ import annotations

import numpy as np

from pegasos.data.rows import Centre, CsrRows, FloatArray, Rows, all_scores, read_only, shape


def seen_from(rows: Rows, m: FloatArray) -> Rows:
    """Return the rows as seen from m, shape (d,)."""
    q = np.zeros((shape(rows)[0] if isinstance(rows, CsrRows) else 0, 1))
    if len(q) > 0:
        all_scores(rows, 0, len(q), m, q)
    centre = Centre(read_only(m), read_only(q[:, 0]), float(m @ m))
    return rows._replace(centre=centre)


def is_centred(rows: Rows) -> bool:
    """Whether rows are seen from a centre."""
    return len(rows.centre.m) > 0


def weight_count(rows: Rows) -> int:
    """Return how many rows `W` has: one per feature, and two for compressed rows with a centre."""
    return shape(rows)[1] + 2 * (len(rows.centre.q) > 0)


def settle(centre: Centre, W: FloatArray) -> FloatArray:
    """Put weights (weight_count, K) together, in place; return those of the features, a view."""
    m, q, _ = centre
    if len(q) == 0 or len(W) == 0:
        return W
    d = len(m)
    W[:d] -= m[:, None] * W[d]
    W[d], W[d + 1] = 0.0, m @ W[:d]
    return W[:d]


def as_from_centre(rows: Rows, W: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what weights (d, K) and biases for rows as they are become for these rows."""
    if not is_centred(rows):
        return W, b
    return in_parts(rows, W), b + rows.centre.m @ W


def in_parts(rows: Rows, W: FloatArray) -> FloatArray:
    """Return weights (d, K) as rows with a centre keep them: in parts, if they are compressed."""
    if weight_count(rows) == len(W):
        return W
    parts = np.zeros((weight_count(rows), W.shape[1]))
    parts[: len(W)] = W
    settle(rows.centre, parts)
    return parts


def as_from_origin(centre: Centre, W: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights (d, K) and the biases that give the same scores without a centre."""
    m, q, _ = centre
    if len(m) == 0:
        return W, b
    if len(q) > 0:
        W = settle(centre, W.copy())
    return W, b - m @ W
