"""Which rows a decomposition works on next, and how exactly.

A row wishes to move its coefficient if raising it pays (`up` > 0) or lowering it does
(`down` < 0); by how much is its violation of the optimality condition. Rows at rest have negative
violations: the larger, the sooner they may wish to move.

[Joa98]  Joachims. Making large-scale support vector machine learning practical. 1998. Selecting a
         good working set. Differs: rows are ranked by their violation at the best bias; those that
         wish to rise and those that wish to fall are a quarter each at least, not half each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import compiled
from pegasos.problem.bias import best_bias
from pegasos.problem.gap import GAIN, GAP, add_gap
from pegasos.problem.losses import EpsilonInsensitive, lower, upper
from pegasos.problem.objective import Problem, weight
from pegasos.solvers.decomposition.box import prices

FEW_ROWS = 2000  # if there are no more, a working set holds all of them
SHARE, MOST_ROWS = 0.25, 6000  # of the rows, but not more: the least in a working set
PER_RARE_ROW, LEAST_ROWS = 4, 500  # of rows of the rarer class: see `rare_rows`
PILOTS = 3  # a first working set that is to tell the size of others has such a part of their rows
PER_SUPPORT, GROWTH = 4, 3  # rows for every support vector so far; for every row of the last set
COARSEST = 0.02  # accuracy of an inner solve, in units of the margin
FINEST = 1e-14  # in units of the largest response: below is rounding
LEFT = 0.03  # of the gap that an inner solve may leave
FINER = 0.1  # factor of the accuracy once no violation exceeds it by much
NOTHING = 1e-13  # mean loss that is taken for 0: a perfect fit, whose dual is 0 too


@dataclass
class Models:
    """What is known of some models: coefficients, responses, biases; what to ask of the next solve.

    B, F : ndarray of shape (n, models); b, accuracy, gap : ndarray of shape (models,).
    """

    B: FloatArray
    F: FloatArray
    b: FloatArray
    accuracy: FloatArray
    gap: FloatArray


@dataclass
class Wishes:
    """Violations of n rows, which way each would move; counts of free and of violating rows."""

    violations: FloatArray
    rises: Any
    free: int = 0
    violating: int = 0


def new_wishes(n: int) -> Wishes:
    """Return room for the wishes of n rows."""
    return Wishes(np.zeros(n), np.zeros(n, dtype=np.bool_))


def assess(problem: Problem, models: Models, k: int, wishes: Wishes) -> float:
    """Find what the rows of model k wish; set its bias and, as the responses tell it, its gap.

    Returns the violation of all coefficients that would make such a gap.
    """
    B, F = models.B[:, k], models.F[:, k]
    if problem.is_free:
        models.b[k] = best_bias(problem, models.F, k, float(models.b[k]), 1e-16)
    out = wishes.violations, wishes.rises
    sums = np.zeros((3, len(models.b)))
    wishes.free, wishes.violating = write_violations(
        problem.costs, B, F, k, models.b[k], prices(problem), out, sums
    )
    unit = problem.lam * problem.S
    gap, dual = sums[GAP, k], sums[GAIN, k] - 0.5 * unit * float(B @ F)
    models.gap[k] = gap / dual if dual > 0.0 else (np.inf if gap > NOTHING * problem.S else 0.0)
    size = unit * float(np.abs(B).sum())
    return float(gap) / size if size > 0.0 else np.inf


def finer(problem: Problem, models: Models, k: int, wishes: Wishes, violation: float) -> float:
    """Return the accuracy of model k's next solve, which leaves a small part of the present gap.

    `violation` is what `assess` returned. It knows nothing of rows without a coefficient, so the
    accuracy also becomes finer when no row violates it by much.
    """
    accuracy, y = models.accuracy[k], problem.costs.Y[:, k]
    finest = FINEST * max(1.0, float(np.abs(models.F[:, k]).max()), float(np.abs(y).max()))
    is_reached = wishes.violations.max() < 3.0 * accuracy
    wanted = min(LEFT * violation, FINER * accuracy if is_reached else COARSEST)
    return float(max(min(wanted, accuracy), finest))


def rare_rows(problem: Problem) -> Any:
    """Return the rows of the rarer class, where these limit the support vectors; else None.

    With a free bias the coefficients of both classes have the same sum: for every rare row, no more
    than one of the others is at its bound. Where a working set holds all rows, nobody asks.
    """
    Y = problem.costs.Y
    if not problem.is_free or Y.shape[1] > 1 or len(Y) <= FEW_ROWS:
        return None
    if not np.all(np.abs(Y) == 1.0):
        return None
    is_positive = Y[:, 0] > 0.0
    return np.flatnonzero(is_positive == (2 * np.count_nonzero(is_positive) < len(Y)))


def least_size(n: int, rare: Any = None) -> int:
    """Return the least size of a working set; see `starts_small` for exceptions."""
    size = int(min(n, max(FEW_ROWS, min(MOST_ROWS, SHARE * n))))
    if rare is None:
        return size
    return min(size, max(LEAST_ROWS, PER_RARE_ROW * len(rare)))


def starts_small(problem: Problem) -> bool:
    """Whether a few rows are to tell how large working sets have to be.

    Where kernel values are quick to compute, the block of a working set costs more than another
    round. Of a regression most rows become support vectors: a small set tells nothing new.
    """
    return problem.rows.is_fleeting and not isinstance(problem.costs.loss, EpsilonInsensitive)


def pilot_size(problem: Problem, least: int) -> int:
    """Return the size of the first working set."""
    if least == len(problem.costs.Y) or not starts_small(problem):
        return least
    return max(min(least, LEAST_ROWS), least // PILOTS)


def limits_of_size(
    problem: Problem, sizes: tuple[int, int], beta: FloatArray, last: int
) -> tuple[int, int]:
    """Return the least and the largest size of the next working set, after one of `last` rows.

    A run that starts small needs no more than a few times its support vectors, and grows by steps.
    """
    least, largest = sizes
    if not starts_small(problem):
        return least, largest
    few = max(LEAST_ROWS, PER_SUPPORT * int(np.count_nonzero(beta)))
    return min(least, few), min(largest, max(least, GROWTH * last))


def first_set(n: int, size: int, rare: Any, random: Any) -> Any:
    """Return a random working set, of which rare rows are as much as a half."""
    if size == n:
        return np.arange(n)
    if rare is None or len(rare) > size:
        return np.sort(random.choice(n, size, replace=False))
    some = rare if len(rare) <= size // 2 else random.choice(rare, size // 2, replace=False)
    others = np.setdiff1d(np.arange(n), rare, assume_unique=True)
    others = random.choice(others, min(len(others), size - len(some)), replace=False)
    return np.sort(np.concatenate([some, others]))


def next_size(wishes: Wishes, least: int, largest: int) -> int:
    """Return the size of the next working set: room for the free rows and all that violate."""
    return int(min(largest, max(least, 1.2 * wishes.free + wishes.violating)))


def working_set(wishes: Wishes, size: int) -> Any:
    """Return the rows with the largest violations, in order of the rows.

    A quarter at least want to rise and a quarter to fall, as far as there are so many: under the
    constraint sum_i beta_i = 0 neither kind can move without the other.
    """
    n, size = len(wishes.violations), max(2, size)
    least = max(1, size // 4)
    if size >= n:
        return np.arange(n)
    chosen = largest_of(wishes.violations, size)               # [Joa98] the steepest direction
    for kind in (wishes.rises, ~wishes.rises):                 # that is feasible: sum_i d_i = 0
        if np.count_nonzero(kind[chosen]) < least:
            some = np.flatnonzero(kind)
            some = some[largest_of(wishes.violations[some], min(least, len(some)))]
            others = chosen[~kind[chosen]]
            others = others[largest_of(wishes.violations[others], size - len(some))]
            chosen = np.concatenate([some, others])
    return np.sort(chosen)


def largest_of(values: FloatArray, count: int) -> Any:
    """Return the places of the largest values."""
    n = len(values)
    if count >= n or count == 0:
        return np.arange(min(count, n))
    least = np.partition(values, n - count)[n - count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])


@compiled
def write_violations(costs, B, F, k, b, prices, out, sums):  # type: ignore[no-untyped-def]
    """Write how much moving beta_i pays per unit, and whether up; add the gaps to `sums`.

    Returns how many rows lie strictly between bounds and how many violate.
    """
    loss, (epsilon, ridge, inverse) = costs.loss, prices
    violations, rises = out
    free, violating = 0, 0
    for i in range(len(violations)):
        violations[i], rises[i] = -np.inf, False
        s = weight(costs.weights, i)
        if s > 0.0:
            y, C, z = costs.Y[i, k], s * inverse, F[i] + b
            a = B[i] / C
            r = y - z - ridge * a
            is_low, is_high = B[i] <= C * lower(loss, y), B[i] >= C * upper(loss, y)
            up = -np.inf if is_high else r - (epsilon if a >= 0.0 else -epsilon)
            down = np.inf if is_low else r - (epsilon if a > 0.0 else -epsilon)
            violations[i], rises[i] = max(up, -down), up >= -down
            free += not (is_low or is_high or (epsilon > 0.0 and a == 0.0))
            violating += violations[i] > 0.0
            add_gap(costs, i, k, z, a, sums)
    return free, violating
