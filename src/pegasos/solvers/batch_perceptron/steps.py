"""Algorithm 1 of the batch perceptron, compiled: steps while the rows of K they need are kept.

    gamma <- the water level over the responses c: for a volume of n nu (`water`), or the one that
             suits lam (`best_level`)
    i     <- a row from p*, the adversary's answer
    w     <- w + eta_t y_i phi(x_i), projected onto the unit ball; the responses follow

p* is uniform over the rows under water; with a free bias, mass 1/2 for each class. Row i is one at
random, as in the paper, or, of the class most in arrears, the row most in arrears, sum_t p*_t -
times chosen: frequencies then keep to the average p* within a few steps, where random ones stray by
the root of their number. (Without regard to classes, runs of rows of one class could rock w.)

eta_t = eta_0 / sqrt(t) is the paper's, right for any concave f. Over the sphere, where its maximum
lies, f is curved,  f(w) <= f* - r/2 ||w - w*||^2  (docs/mathematics.md, section 13): so
eta_t = 1/(r t), as for strongly concave functions, with r the mean of the responses under p*.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Algorithm 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.order import below
from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled, inlined
from pegasos.solvers.batch_perceptron.best_level import balanced_best_level, best_level
from pegasos.solvers.batch_perceptron.water import balanced_water_level, water_level

NOT_CHOSEN = -1
DRAWS = 4294967295  # 2^32 - 1 equally likely numbers


class KeptRows(NamedTuple):
    """The rows of K in the store of a `Gram`; `clock` marks those that are used."""

    store: Any
    slot_of: Any
    last_use: Any
    diagonal: FloatArray
    clock: int


class Path(NamedTuple):
    """What steps of one model change, all of shape (n,) but the state of the generator, (1,).

    w = sum_i alpha_i y_i phi(x_i), responses c; the sums are over all steps of the run.
    """

    alpha: FloatArray
    c: FloatArray
    alpha_sum: FloatArray
    c_sum: FloatArray
    p_sum: FloatArray
    visits: FloatArray  # steps on each row
    scratch: FloatArray
    random: Any


class Rule(NamedTuple):
    """How steps are taken; `amount` is n lam, or n nu."""

    amount: float
    is_lam: bool
    eta_0: float
    is_curved: bool
    is_free: bool
    random_steps: int  # from then on, the row most in arrears


class Now(NamedTuple):
    """Where a run stands: steps taken, ||w||^2, the mean response under p*, the next row.

    `arrears` are those of the positive class, sum_t p*_t - times chosen; the others' are opposite.
    """

    t: int
    square: float
    curvature: float
    arrears: float
    i: int


class Adversary(NamedTuple):
    """p*: q for rows below the low of their class, a share of q for those tied there, 0 above."""

    low_plus: float
    low_minus: float
    q: float
    tied_plus: float
    tied_minus: float
    mass_plus: float  # on all positive rows


def new_path(n: int, seed: int) -> Path:
    """Return a path at w = 0."""
    a, b, c, d, e, f, g = np.zeros((7, n))
    return Path(a, b, c, d, e, f, g, np.array([seed % 2**64], dtype=np.uint64))


@compiled
def take_steps(rows, y, path, rule, now, steps):  # type: ignore[no-untyped-def]
    """Take steps, in place, up to one whose row of K is missing: row `i` of the `Now` returned."""
    alpha, c = path.alpha, path.c
    t, square, curvature, arrears, i = now
    for _ in range(steps):
        if i == NOT_CHOSEN:
            p, curvature = find_gamma(c, y, square, rule, path.scratch)       # [CSS12] Alg. 1: 5
            arrears += p.mass_plus
            if t < rule.random_steps:
                i = sample(p, y, path)                                        # line 6
            else:
                i = most_in_arrears(p, y, path, arrears > 0.0)
            arrears -= y[i] > 0.0
        slot = rows.slot_of[i]
        if slot < 0:
            break
        rows.last_use[slot] = rows.clock
        t += 1
        eta = rule.eta_0 / math.sqrt(t)                                       # line 4
        if rule.is_curved and curvature * t * eta > 1.0:
            eta = 1.0 / (curvature * t)
        alpha[i] += eta                                                       # line 7
        square += 2.0 * eta * c[i] + eta * eta * rows.diagonal[i]             # line 8
        shrink = 1.0 / math.sqrt(square) if square > 1.0 else 1.0             # line 11
        follow(rows.store[slot], eta * y[i], shrink, y, path)                 # lines 9-10, 12-13
        square = min(1.0, max(0.0, square))
        path.visits[i] += 1.0
        i = NOT_CHOSEN
    return Now(t, square, curvature, arrears, i)


@inlined
def follow(row, step, shrink, y, path):  # type: ignore[no-untyped-def]
    """Let the responses follow a step, then project; add both to the sums that are averaged."""
    c, c_sum, alpha, alpha_sum = path.c, path.c_sum, path.alpha, path.alpha_sum
    for j in range(len(c)):
        c[j] = shrink * (c[j] + step * y[j] * row[j])
        c_sum[j] += c[j]
    for j in range(len(c)):
        alpha[j] *= shrink
        alpha_sum[j] += alpha[j]


@inlined
def find_gamma(c, y, square, rule, scratch):  # type: ignore[no-untyped-def]
    """Find the water level; return p* and the mean of the responses under it."""
    amount = rule.amount * square if rule.is_lam else rule.amount
    if rule.is_lam and rule.is_free:
        gamma, mass, low_plus, low_minus = balanced_best_level(c, y, amount, scratch)
    elif rule.is_lam:
        gamma, mass, low_plus, low_minus = best_level(c, amount, scratch)
    elif rule.is_free:
        gamma, _, k, low_plus, low_minus = balanced_water_level(c, y, amount, scratch)
        mass = float(k)
    else:
        gamma = low_plus = low_minus = water_level(c, amount, scratch)
        mass = np.inf  # rows tied at the level count in full
    p = adversary(c, y, rule.is_free, mass, low_plus, low_minus)
    return p, (amount * p.q / gamma if rule.is_lam else gamma - amount * p.q)


@inlined
def adversary(c, y, is_free, mass, low_plus, low_minus):  # type: ignore[no-untyped-def]
    """Return p* from the mass, in rows, that lies on rows up to the lows; on each class if free."""
    less_plus, less_minus, tied_plus, tied_minus = 0, 0, 0, 0
    for i in range(len(c)):
        if y[i] > 0.0:
            less_plus += c[i] < low_plus
            tied_plus += c[i] == low_plus
        else:
            less_minus += c[i] < low_minus
            tied_minus += c[i] == low_minus
    if not is_free:
        less, tied = less_plus + less_minus, tied_plus + tied_minus
        share = share_of_ties(mass, less, tied)
        q = 1.0 / (less + share * tied)
        mass_plus = q * (less_plus + share * tied_plus)
        return Adversary(low_plus, low_minus, q, q * share, q * share, mass_plus)
    q = 0.5 / mass
    share_plus = share_of_ties(mass, less_plus, tied_plus)
    share_minus = share_of_ties(mass, less_minus, tied_minus)
    return Adversary(low_plus, low_minus, q, q * share_plus, q * share_minus, 0.5)


@inlined
def share_of_ties(mass, less, tied):  # type: ignore[no-untyped-def]
    """Return which part of a row each of the rows tied at the low counts for."""
    return min(1.0, max(0.0, (mass - less) / tied)) if tied > 0 else 0.0


@inlined
def mass_on(p, c, is_plus):  # type: ignore[no-untyped-def]
    """Return the mass that p* puts on a row of response c."""
    low = p.low_plus if is_plus else p.low_minus
    tied = p.tied_plus if is_plus else p.tied_minus
    return p.q if c < low else (tied if c == low else 0.0)


@inlined
def sample(p, y, path):  # type: ignore[no-untyped-def]
    """Add p* to its sum; return a row drawn from it."""
    rest = (below(DRAWS, path.random) + 0.5) / DRAWS
    found, last = NOT_CHOSEN, 0
    for i in range(len(y)):
        share = mass_on(p, path.c[i], y[i] > 0.0)
        if share > 0.0:
            path.p_sum[i] += share
            rest -= share
            last = i
            if rest < 0.0 and found == NOT_CHOSEN:
                found = i
    return last if found == NOT_CHOSEN else found  # the sum of p* may round to less than 1


@inlined
def most_in_arrears(p, y, path, is_plus):  # type: ignore[no-untyped-def]
    """Add p* to its sum; return the row with a mass whose sum is most ahead of its steps.

    One of the class asked for, if it has any mass.
    """
    found, most, is_found = 0, -np.inf, False
    for i in range(len(y)):
        share = mass_on(p, path.c[i], y[i] > 0.0)
        if share > 0.0:
            path.p_sum[i] += share
            arrears, is_right = path.p_sum[i] - path.visits[i], (y[i] > 0.0) == is_plus
            if (arrears > most and is_right == is_found) or (is_right and not is_found):
                found, most, is_found = i, arrears, is_right
    return found
