"""What SDCA and Newton's method are expected to take for one model of all classes.

As in `auto`, from the same `Facts`, but a row is K outputs at once: SDCA projects K numbers per row
(or finds the root that softmax asks for), Newton's method has (d + 1) K unknowns, or conjugate
gradients where these are too many for a Hessian. Numbers are of one core, from letter and MNIST.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.solvers.newton.inexact import MOST_VALUES, PER_COLUMN
from pegasos.solvers.newton.model import LARGE

MOST_COLUMNS = 4000  # for Newton's method
MOST_MEMORY = 1e9  # bytes that its numbers per row and class, and its matrices, may take
REFRESHED = 0.15  # of the inexact steps: those in which the blocks are made anew


class JointRates(NamedTuple):
    """Nanoseconds on one core, and counts of passes."""

    value: float = 0.5  # SDCA: a value of a row, per class
    row: float = 140.0  # a step of the hinge, per class
    smooth_row: float = 300.0  # and of softmax
    epoch: float = 200_000.0  # an epoch, whatever the data
    epochs: float = 12.0  # to 1e-3 at kappa = 0
    growth: float = 0.8  # the power of 1 + kappa that the epochs go with
    steps: float = 18.0  # Newton: steps for the hinge
    smooth_steps: float = 6.5  # and for softmax
    inexact_steps: float = 28.0  # inexact ones, for the hinge
    smooth_inexact_steps: float = 22.0  # and for softmax
    turns: float = 16.0  # of conjugate gradients, in such a step
    answers: float = 0.4  # the part of the rows that answers, in the mean of all steps
    read: float = 0.3  # a value per class, in two passes
    searched: float = 50.0  # a row per class, in a line search and a move
    product: float = 0.05  # of two numbers of a Hessian by BLAS
    overhead: float = 400_000.0  # a step, whatever the data


RATES = JointRates()


def epoch_of_sdca(facts: Any, rates: JointRates = RATES) -> float:
    """Predict the seconds of an epoch of SDCA."""
    row = rates.smooth_row if facts.is_smooth else rates.row
    return 1e-9 * (facts.models * (rates.value * facts.values + row * facts.n) + rates.epoch)


def seconds_of_sdca(facts: Any, tol: float, rates: JointRates = RATES) -> float:
    """Predict the seconds of SDCA."""
    digits = max(0.5, np.log10(1.0 / tol) / 3.0)
    epochs = rates.epochs * (1.0 + facts.kappa) ** rates.growth
    epochs *= digits if facts.is_smooth else digits**2
    return float(epochs * epoch_of_sdca(facts, rates))


def step_of_newton(facts: Any, rates: JointRates = RATES) -> float:
    """Predict the seconds of a step of Newton's method."""
    d, K = facts.d + 1, facts.models
    work = K * (rates.read * facts.values + rates.searched * facts.n) + rates.overhead
    if facts.d * K <= LARGE:
        N = float(d * K)
        work += rates.product * (rates.answers * facts.n * N**2 / 2.0 + N**3 / 3.0)
    else:
        rows = min(rates.answers * facts.n, MOST_VALUES / d)
        of_block = min(rows, PER_COLUMN * d)
        work += REFRESHED * rates.product * K * (of_block * d**2 / 2.0 + d**3 / 3.0)
        work += rates.turns * rates.product * K * (2.0 * rows * d + d**2) / 2.0
    return float(1e-9 * work)


def seconds_of_newton(facts: Any, tol: float, rates: JointRates = RATES) -> float:
    """Predict the seconds of Newton's method; infinite where it is not to be tried."""
    d, K = facts.d + 1, facts.models
    is_large = facts.d * K > LARGE
    room = 8.0 * (5 * facts.n * K + (K * d**2 if is_large else (K * d) ** 2))
    if facts.d > MOST_COLUMNS or room > max(MOST_MEMORY, 8.0 * facts.values):
        return np.inf
    digits = max(0.5, 0.6 + 0.4 * np.log10(1.0 / tol) / 3.0)
    if is_large:
        steps = rates.smooth_inexact_steps if facts.is_smooth else rates.inexact_steps
        digits = max(0.5, np.log10(1.0 / tol) / 3.0)
    else:
        steps = rates.smooth_steps if facts.is_smooth else rates.steps
    return float(steps * digits * step_of_newton(facts, rates))
