"""Loops over rows: play w_t, see the loss of a row plus lam/2 ||w||^2, move.

Three loops for three prices of a step:

    scaled_pass     Euclidean map on R^d or an l2 ball: O(nonzeros of the row)
    sparse_pass     AdaGrad without penalty on R^d or in a box, sparse rows: O(nonzeros)
    dense_pass      everything else: O(d), because one nonzero moves every weight: the level of the
                    l1 ball and the simplex, the normalisation of the entropy, a penalty under
                    AdaGrad's steps

The weight of the constant feature, if there is one, comes last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import square_norm
from pegasos.dispatch import by_tag, compiled
from pegasos.online.rules import move
from pegasos.online.scaled import (
    DOUBT,
    SIGMA,
    SQUARE,
    TINY,
    S,
    change,
    extend,
    factor,
    increase,
    is_lazy,
    kept,
    multiply_out,
    reach_of,
    score,
)
from pegasos.online.sets import Box, Everywhere
from pegasos.online.tally import EPS, LEAST_LAM, SQUARES, STEPS, Scored, book, book_penalty
from pegasos.problem.losses import slope


class Terms(NamedTuple):
    """Of the costs: lam, the constant feature (0.0 for none), values in the longest row."""

    lam: float
    constant: float
    values: float


@compiled
def dense_pass(loss, rows, y, order, terms, rule, state):  # type: ignore[no-untyped-def]
    """Take one step per row number in `order`, by any rule."""
    w, memory, total, pull, sums, room, g = state
    lam, constant, values = terms
    z, c = np.empty(1), np.empty(1)
    for i in order:
        z_t = score(rows, i, constant, w, z)  # play w_t, see row i
        a = slope(loss, z_t, y[i])
        square = 0.0
        for j in range(len(w)):
            total[j] += w[j]
            g[j] = lam * w[j]
            square += w[j] * w[j]
        if a != 0.0:
            c[0] = a
            increase(rows, i, constant, c, g)  # g_t = a x_i + lam w_t
            increase(rows, i, constant, c, pull)

        x_norm = np.sqrt(square_norm(rows, i) + constant * constant)
        book(loss, y[i], Scored(z_t, a, np.sqrt(square), x_norm, values), sums)
        book_penalty(lam, square, (len(w) + 16.0) * EPS * square, sums)
        sums[SQUARES] += move(rule, sums[STEPS], g, w, memory, room)


@compiled
def scaled_pass(loss, rows, y, order, terms, rule, state):  # type: ignore[no-untyped-def]
    """Take one step per row number in `order`, by a Euclidean rule, with w_t = f s v."""
    w, memory, total, pull, sums, behind, _ = state
    lam, constant, values = terms
    z, c, numbers = np.empty(1), np.empty(1), np.array([1.0, 0.0, 0.0, 0.0])
    v, reach = memory if is_lazy(rule) else w, reach_of(rule.within)
    behind[:] = 0.0
    multiply_out(v, total, behind, numbers)
    for i in order:
        t = sums[STEPS] + 1.0
        f = factor(rule, t, reach, abs(numbers[S]) * np.sqrt(numbers[SQUARE]))
        product = score(rows, i, constant, v, z)
        scale = f * numbers[S]
        a = slope(loss, scale * product, y[i])  # play w_t = f s v, see row i
        numbers[SIGMA] += scale

        x_square = square_norm(rows, i) + constant * constant
        most = scale * scale * (numbers[SQUARE] + numbers[DOUBT])
        square = scale * scale * numbers[SQUARE]
        book(loss, y[i], Scored(scale * product, a, np.sqrt(most), np.sqrt(x_square), values), sums)
        book_penalty(lam, square, most - square, sums)

        eta, shrink, push = change(rule, t, lam, f)
        g_square = a * a * x_square + lam * (2.0 * a * scale * product + lam * square)
        sums[SQUARES] += eta * max(0.0, g_square)
        numbers[S] *= shrink
        if abs(numbers[S]) < TINY:
            product *= numbers[S]
            multiply_out(v, total, behind, numbers)
        if a != 0.0:
            c[0] = push * a / numbers[S]
            extend(product, x_square, c[0], values, numbers)
            increase(rows, i, constant, c, v)
            c[0] *= numbers[SIGMA]
            increase(rows, i, constant, c, behind)
            c[0] = a
            increase(rows, i, constant, c, pull)
        numbers[S] *= kept(rule, reach, abs(numbers[S]) * np.sqrt(numbers[SQUARE]))

    multiply_out(v, total, behind, numbers)
    f = factor(rule, sums[STEPS] + 1.0, reach, np.sqrt(numbers[SQUARE]))
    for j in range(len(w)):
        w[j] = f * v[j]


@by_tag
def clipped(within: Any, w: float) -> float:
    """Return one weight as the projection onto a set that is a product of intervals leaves it."""


@clipped.register(Everywhere)
def _(within, w):  # type: ignore[no-untyped-def]
    return w


@clipped.register(Box)
def _(within, w):  # type: ignore[no-untyped-def]
    return min(within.high, max(within.low, w))


@compiled
def sparse_pass(loss, rows, y, order, terms, rule, state):  # type: ignore[no-untyped-def]
    """Take one AdaGrad step per row number in `order`; only the weights of its nonzeros move.

    `since[j]` is the last step whose iterate is in total[j].
    """
    w, memory, total, pull, sums, since, _ = state
    _, constant, values = terms
    z, last = np.empty(1), len(w) - 1
    since[:] = sums[STEPS]
    sums[LEAST_LAM] = 0.0
    for i in order:
        z_t = score(rows, i, constant, w, z)  # play w_t, see row i
        a = slope(loss, z_t, y[i])
        x_square = square_norm(rows, i) + constant * constant
        start, stop = np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])
        w_square = w[last] * w[last]  # of the weights that meet the row
        for p in range(start, stop):
            w_square += w[rows.indices[p]] * w[rows.indices[p]]
        book(loss, y[i], Scored(z_t, a, np.sqrt(w_square), np.sqrt(x_square), values), sums)
        if a == 0.0:
            continue
        t = sums[STEPS]
        for p in range(start, stop + (1 if constant != 0.0 else 0)):
            j, g = np.int64(last), a * constant
            if p < stop:
                j, g = np.int64(rows.indices[p]), a * rows.data[p]
            total[j] += (t - since[j]) * w[j]
            since[j] = t
            pull[j] += g
            memory[j] += g * g
            if g != 0.0:
                step = rule.eta * g / (rule.delta + np.sqrt(memory[j]))
                w[j] = clipped(rule.within, w[j] - step)
    for k in range(len(w)):
        total[k] += (sums[STEPS] - since[k]) * w[k]
