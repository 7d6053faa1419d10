"""Costs: what a learner is shown after it has played.

    RowCosts      the loss of one row plus lam/2 ||w||^2 at a time, or of all rows at once (`full`)
    CustomCost    any convex function, given by its value and its gradient

A cost answers `value(w)` and `gradient(w)`, both with its `lam/2 ||w||^2` if it has one; `lam`
tells how much of it there is, which makes certificates tighter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from pegasos.data.numbers import checked_numbers
from pegasos.data.rows import FloatArray, Rows, longest_row, shape
from pegasos.data.validate import checked_data
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online.passes import Terms
from pegasos.online.row_sums import add_slopes, each_loss, scores_of
from pegasos.online.tally import inner
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import (
    MARGIN_LOSSES,
    REGRESSION_LOSSES,
    is_margin_loss,
    is_regression_loss,
)
from pegasos.problem.scaling import is_number, positive

EPSILON = 0.1  # of the epsilon-insensitive loss, where it is asked for by name


class Cost(Protocol):
    """A convex function of the weights."""

    @property
    def lam(self) -> float:
        """Return how much of lam/2 ||w||^2 is in it."""
        ...

    def value(self, w: FloatArray) -> float:
        """Return f(w)."""
        ...

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return a sub-gradient of f at w."""
        ...


@dataclass(frozen=True)
class CustomCost:
    """A convex cost of your own; `check_cost` tests its gradient.

    Parameters
    ----------
    value, gradient : callable
        Functions of w, shape (d,): the cost, and a (sub-)gradient of shape (d,).
    lam : float, default=0.0
        How much of lam/2 ||w||^2 the cost contains, if that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos.online import CustomCost, check_cost
    >>> target = np.array([1.0, -2.0])
    >>> cost = CustomCost(lambda w: abs(w - target).sum(), lambda w: np.sign(w - target))
    >>> check_cost(cost, 2)
    """

    value: Callable[[FloatArray], float]
    gradient: Callable[[FloatArray], FloatArray]
    lam: float = 0.0


@dataclass(frozen=True)
class RowCosts:
    """Costs f_i(w) = loss(<w, x_i>, y_i) + lam/2 ||w||^2, one per row; made by `row_costs`."""

    rows: Rows
    y: FloatArray
    loss: Any
    lam: float
    constant: float

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return shape(self.rows)[0]

    @property
    def n_weights(self) -> int:
        """Return d, or d + 1 with a constant feature."""
        return shape(self.rows)[1] + (self.constant != 0.0)

    @property
    def terms(self) -> Terms:
        """Return what compiled loops need to know besides rows, targets and loss."""
        values = longest_row(self.rows) + (self.constant != 0.0)
        return Terms(self.lam, self.constant, float(values))

    def full(self) -> CustomCost:
        """Return the mean over all rows as one cost: what gradient descent is shown."""
        return CustomCost(self._mean, self._mean_gradient, self.lam)

    def _mean(self, w: FloatArray) -> float:
        z = scores_of(self.rows, self.constant, w)
        return float(each_loss(self.loss, z, self.y).mean() + 0.5 * self.lam * inner(w, w))

    def _mean_gradient(self, w: FloatArray) -> FloatArray:
        z = scores_of(self.rows, self.constant, w)
        g = np.zeros(len(w))
        add_slopes(self.loss, self.rows, self.y, self.constant, z, g)
        g /= self.n
        return g + self.lam * w


def is_built_in(cost: Any) -> bool:
    """Whether a cost is the mean over rows, whose loss was tested when it was made."""
    return isinstance(getattr(getattr(cost, "value", None), "__self__", None), RowCosts)


def row_costs(
    X: Any, y: Any, *, loss: Any = "hinge", lam: float = 0.0, fit_intercept: bool = False
) -> RowCosts:
    """Return the costs of rows with targets.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    y : array-like of shape (n,)
        Targets: -1 and +1 for the losses of classification.
    loss : str, tag or CustomLoss, default="hinge"
        "hinge", "squared_hinge", "logistic" or "epsilon_insensitive", or an object of `problem`.
    lam : float, default=0.0
        Weight of the penalty in every cost.
    fit_intercept : bool, default=False
        Whether rows have a constant feature 1, whose weight comes last. It is penalised, and counts
        in the set, like the others.

    Returns
    -------
    costs : RowCosts
        The costs.

    Examples
    --------
    >>> from pegasos.online import row_costs
    >>> costs = row_costs([[1.0, 2.0], [3.0, 4.0]], [-1, 1], lam=0.1)
    >>> costs.n, costs.n_weights
    (2, 2)
    """
    if not is_number(lam) or lam != 0:
        positive(lam, "lam", "0 is allowed, too: costs without a penalty.")
    rows, y = checked_data(BaseEstimator(), X, y)
    y = checked_numbers(y)
    tag = _tag(loss, y)
    if is_margin_loss(tag) and not np.all(np.abs(y) == 1.0):
        raise InvalidData(f"y must be -1 or +1 for {loss!r}; got {y[np.abs(y) != 1.0][0]:g}.")
    return RowCosts(rows, y, tag, float(lam), 1.0 if fit_intercept else 0.0)


def _tag(loss: Any, y: FloatArray) -> Any:
    """Return the tag of a loss given by name or object."""
    if isinstance(loss, str) and loss in MARGIN_LOSSES:
        return MARGIN_LOSSES[loss]
    if isinstance(loss, str) and loss in REGRESSION_LOSSES:
        return REGRESSION_LOSSES[loss](EPSILON)
    if isinstance(loss, CustomLoss):
        return loss.tag(y)
    if is_margin_loss(loss) or is_regression_loss(loss):
        return loss
    names = ", ".join([*MARGIN_LOSSES, *REGRESSION_LOSSES])
    raise InvalidParameter(f"loss must be one of {names}, or a CustomLoss; got {loss!r}.")
