"""What `solver="auto"` means for linear models: the solver that is expected to end first.

Two are in question. SDCA reads rows one by one; the epochs it needs grow with

    kappa = R^2 / (lam S),      R^2 the mean square length of the rows, seen from their mean,

which is C R^2, by a power that depends on the loss, and with the models, of which the slowest
counts: many on tables of large numbers and at large C, few on texts. Newton's method needs nearly
the same number of steps whatever C and the units, but a step costs d x d products: it is for tall
data. Seconds are predicted for both from what `python -m bench.choice` measures on one core;
`Rates` are its result, but where it says otherwise.

One model of several classes (a joint loss) has predictions of its own (`auto_joint`).

Predictions can be wrong. A run of SDCA that has taken as long as Newton's method was expected to
take, and is not about to end, goes on with that from where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.rows import CsrRows, shape, some_rows_of, square_norms, stored_values
from pegasos.options import Options
from pegasos.problem.joint_losses import Softmax, is_joint
from pegasos.problem.losses import EpsilonInsensitive, Logistic, SquaredHinge
from pegasos.problem.objective import Problem, Weights, add_combination
from pegasos.solvers import auto_joint
from pegasos.solvers.newton.newton import FIRST_PART, ROWS_PER_COLUMN, Newton
from pegasos.solvers.offsets import weights_of
from pegasos.solvers.protocol import Solver
from pegasos.solvers.sdca.linear import SDCA

SIDE_BY_SIDE = 0.3  # of the first model's time: what each further one takes in SDCA
ON_CORES = 0.8  # of its seconds: what a step of one model takes on two cores; SDCA has one
ANSWERS = 0.2  # the part of the rows that answers Newton's method, for a loss with a kink
LARGEST_POWER = 600.0  # of e, that epochs are predicted to be: C R^2 may be 1e300
RUNS, RUN = 16, 128  # runs of rows that tell how long rows are
MOST_COLUMNS = 4000  # for Newton's method
MOST_MEMORY = 4.0  # of the rows' own, or
SOME_MEMORY = 500e6  # bytes: what Newton's five numbers per row and model may take


class Epochs(NamedTuple):
    """Epochs of SDCA to 1e-3 are first (1 + kappa)^growth models^spread."""

    first: float
    growth: float
    spread: float


EPOCHS = MappingProxyType(
    {
        "Hinge": Epochs(2.8, 0.889, 0.786),
        "SquaredHinge": Epochs(3.32, 1.13, 0.292),
        "Logistic": Epochs(2.59, 0.719, 0.181),
        "EpsilonInsensitive": Epochs(4.91, 1.18, 0.0),
    }
)


class Rates(NamedTuple):
    """Nanoseconds on one core, and counts of passes; fitted by `python -m bench.choice`."""

    value: float = 0.875  # SDCA: a value of a dense row
    sparse_value: float = 3.04  # and of a compressed one
    row: float = 25.1  # a row, per model
    root: float = 122.0  # and what a step of the logistic loss takes on top, for it is a root
    epoch: float = 348_000.0  # an epoch, whatever the data
    epochs: Mapping[str, Epochs] = EPOCHS  # by the name of the loss
    steps: float = 15.0  # Newton: for a loss with a kink (fitted: 12, without the rough first ones)
    smooth_steps: float = 7.5  # and for a smooth one
    tall_steps: float = 9.5  # the same of tall data, for which some of the rows lead the way
    tall_smooth_steps: float = 3.4
    read: float = 1.34  # a stored value, in two passes
    searched: float = 75.1  # a row, in a line search
    product: float = 0.00686  # a product by BLAS at its best (few wide tables were fitted)
    sparse_product: float = 0.725  # the same of a compressed row
    overhead: float = 169_000.0  # a step, whatever the data


RATES = Rates()


class Facts(NamedTuple):
    """What the choice depends on."""

    n: int
    d: int
    values: int
    models: int
    kappa: float
    is_smooth: bool
    is_sparse: bool
    loss: str = "Hinge"  # or that which it is like


class Choice(NamedTuple):
    """A solver, why it was chosen, and what an epoch of it and the other solver take."""

    solver: Solver
    why: str
    epoch: float = 0.0  # seconds
    other: float = np.inf  # seconds of the whole run, by the other


def facts_of(problem: Problem) -> Facts:
    """Look at a problem."""
    (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
    return Facts(
        n, d, stored_values(problem.rows), K, mean_square(problem) / (problem.lam * problem.S),
        isinstance(problem.costs.loss, SquaredHinge | Logistic | Softmax),
        isinstance(problem.rows, CsrRows),
        kind_of(problem.costs.loss),
    )  # fmt: skip


def kind_of(loss: Any) -> str:
    """Return the name of the loss whose epochs are known that this one is like."""
    for kind in (SquaredHinge, EpsilonInsensitive):
        if isinstance(loss, kind):
            return kind.__name__
    return "Logistic" if isinstance(loss, Logistic | Softmax) else "Hinge"


def mean_square(problem: Problem) -> float:
    """Return the mean square length of some rows, seen from their mean if the bias is free."""
    n, d = shape(problem.rows)
    rows, s = problem.rows, weights_of(problem, slice(None))
    if n > RUNS * RUN:
        starts = np.linspace(0, n - RUN, RUNS).astype(int)
        chosen = (starts[:, None] + np.arange(RUN)).ravel()
        rows, s = some_rows_of(rows, chosen), s[chosen]
    s, squares, total = np.ascontiguousarray(s), np.zeros(len(s)), np.zeros(d)
    square_norms(rows, 0, len(s), squares)
    if problem.is_free:
        add_combination(rows, Weights(s, -1), 0, len(s), np.ones((len(s), 1)), total)
    if not s.any():
        return 0.0
    m = total / s.sum()
    return max(0.0, float(s @ squares / s.sum() - m @ m))


def epoch_of_sdca(facts: Facts, rates: Rates = RATES) -> float:
    """Predict the seconds of an epoch of SDCA; a row that is read serves all models."""
    values = facts.values * (1.0 + SIDE_BY_SIDE * (facts.models - 1))
    reading = (rates.sparse_value if facts.is_sparse else rates.value) * values
    row = rates.row + (rates.root if facts.loss == "Logistic" else 0.0)
    return 1e-9 * (reading + row * facts.models * facts.n + rates.epoch)


def seconds_of_sdca(facts: Facts, tol: float, rates: Rates = RATES) -> float:
    """Predict the seconds of SDCA."""
    digits = max(0.5, np.log10(1.0 / tol) / 3.0)
    first, growth, spread = rates.epochs[facts.loss]
    power = min(LARGEST_POWER, growth * np.log1p(facts.kappa))
    epochs = first * np.exp(power) * facts.models**spread
    epochs *= digits if facts.is_smooth else digits**2  # at a kink the last digits come slowly
    return float(epochs * epoch_of_sdca(facts, rates))


def answering(facts: Facts) -> float:
    """Return how many rows answer in a step of Newton's method, typically."""
    return facts.n if facts.is_smooth else min(facts.n, ANSWERS * facts.n + facts.d)


def products(facts: Facts) -> tuple[float, float]:
    """Return the products that a row costs: by BLAS, and one by one if it is compressed."""
    in_a_row = facts.values / max(1, facts.n)
    return float(facts.d**2), in_a_row**2 if facts.is_sparse else np.inf


def step_of_newton(facts: Facts, rates: Rates = RATES) -> float:
    """Predict the seconds of a step of Newton's method, all models."""
    by_blas, one_by_one = products(facts)
    a_row = min(rates.product * by_blas, rates.sparse_product * one_by_one)
    work = rates.read * facts.values + rates.searched * facts.n + answering(facts) * a_row
    work += rates.product * facts.d**3 / 3.0 + rates.overhead
    return float(1e-9 * facts.models * work)


def seconds_of_newton(facts: Facts, tol: float, rates: Rates = RATES) -> float:
    """Predict the seconds of Newton's method; infinite where it is not to be tried."""
    room = 5 * 8 * facts.n * facts.models
    if facts.d > MOST_COLUMNS or room > max(SOME_MEMORY, MOST_MEMORY * 8 * facts.values):
        return np.inf
    digits = max(0.5, 0.6 + 0.4 * np.log10(1.0 / tol) / 3.0)
    if is_tall(facts):
        steps = rates.tall_smooth_steps if facts.is_smooth else rates.tall_steps
    else:
        steps = rates.smooth_steps if facts.is_smooth else rates.steps
    seconds = steps * digits * step_of_newton(facts, rates)
    return float(seconds * (ON_CORES if facts.models == 1 else 1.0))


def is_tall(facts: Facts) -> bool:
    """Whether rows are many enough for Newton's method to begin with a part of them."""
    return facts.n >= FIRST_PART * max(1000, ROWS_PER_COLUMN * facts.d)


@dataclass
class Auto(Options):
    """The solver that is expected to end first."""

    name: ClassVar[str] = "auto"

    def check(self) -> None:
        """There are no options."""

    def choose(self, problem: Problem, tol: float) -> Choice:
        """Choose a solver for a problem."""
        facts = facts_of(problem)
        sdca, newton = seconds_of_sdca(facts, tol), seconds_of_newton(facts, tol)
        epoch, step = epoch_of_sdca(facts), step_of_newton(facts)
        if is_joint(problem.costs.loss):
            sdca, newton = (
                auto_joint.seconds_of_sdca(facts, tol), auto_joint.seconds_of_newton(facts, tol)
            )  # fmt: skip
            epoch, step = auto_joint.epoch_of_sdca(facts), auto_joint.step_of_newton(facts)
        shape_of_it = f"{facts.n:,} x {facts.d:,}, C R^2 = {facts.kappa:.2g}"
        if newton < sdca:
            why = f"newton: {shape_of_it}; about {shown(newton)} expected, {shown(sdca)} by sdca"
            return Choice(Newton(), why, step)
        other = f", {shown(newton)} by newton" if np.isfinite(newton) else ""
        why = f"sdca: {shape_of_it}; about {shown(sdca)} expected{other}"
        return Choice(SDCA(), why, epoch, newton)

    def reconsider(self, choice: Choice, epochs: int, epochs_left: float) -> Choice | None:
        """Return another choice once the first has taken as long as the other would."""
        spent, left = epochs * choice.epoch, epochs_left * choice.epoch
        if spent <= choice.other or left <= choice.other:
            return None
        why = f"newton, after {epochs:,} epochs of sdca that did not end as soon as expected"
        return Choice(Newton(), why)


def shown(seconds: float) -> str:
    """Write seconds as a person would."""
    return f"{seconds:.1g} s" if seconds < 10.0 else f"{seconds:,.0f} s"
