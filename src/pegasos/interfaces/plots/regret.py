"""How an online learner fared: what it paid per step, and its regret beside the theory's bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import FloatArray
from pegasos.interfaces.plots.convergence import matplotlib_for


class RegretDisplay:
    """Picture of an online learner's history: cost per step above, regret per step below.

    Made by `from_estimator`. The regret is an upper bound that is proven from tangents; the dashed
    line is what theory promises. Both axes are logarithmic: regret of sqrt(T) falls with slope
    -1/2, of log(T) with nearly -1.

    Parameters
    ----------
    history : dict of str to ndarray
        `history_` of a fitted online estimator.
    name : str, optional
        Title.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        Cost per step.
    regret_ax_ : matplotlib Axes
        Regret per step.
    cost_line_, regret_line_, bound_line_ : matplotlib Line2D
        The lines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import OnlineClassifier, RegretDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OnlineClassifier("pegasos", lam=0.1, random_state=0).fit(X, y)
    >>> display = RegretDisplay.from_estimator(model)
    >>> display.regret_ax_.get_yscale()
    'log'
    """

    def __init__(self, history: dict[str, FloatArray], *, name: str | None = None) -> None:
        self.history = history
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> RegretDisplay:
        """Draw the history of a fitted online estimator.

        Parameters
        ----------
        estimator : OnlineClassifier or OnlineRegressor
            A fitted one.
        ax : matplotlib Axes, optional
            Where to draw: its place is divided in two. By default a new figure.

        Returns
        -------
        display : RegretDisplay
            The picture.
        """
        check_is_fitted(estimator)
        name = f"{type(estimator).__name__}({estimator.algorithm!r})"
        return cls(estimator.history_, name=name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RegretDisplay:
        """Draw; see `from_estimator`."""
        plt = matplotlib_for("RegretDisplay")
        if ax is None:
            self.figure_ = plt.figure(figsize=(6.4, 5.2), layout="constrained")
            grid = self.figure_.add_gridspec(2, 1)
        else:
            self.figure_ = ax.get_figure()
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(2, 1, hspace=0.12)
        self.ax_ = self.figure_.add_subplot(grid[0])
        self.regret_ax_ = self.figure_.add_subplot(grid[1], sharex=self.ax_)
        self.ax_.tick_params(labelbottom=False)
        for axes in (self.ax_, self.regret_ax_):
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_xscale("log")
            axes.set_yscale("log")
        self._draw()
        return self

    def _draw(self) -> None:
        steps = self.history["step"]

        def per_step(name: str) -> FloatArray:
            sums = self.history[name]
            return np.where(np.isfinite(sums) & (sums > 0.0), sums, np.nan) / steps

        (self.cost_line_,) = self.ax_.plot(steps, per_step("cost"), color="#c44e52")
        self.ax_.set_ylabel("cost per step")
        (self.regret_line_,) = self.regret_ax_.plot(
            steps, per_step("regret_upper"), color="0.2", label="regret at most (proven)"
        )
        (self.bound_line_,) = self.regret_ax_.plot(
            steps, per_step("bound"), color="#55a868", linestyle="--", label="theory"
        )
        self.regret_ax_.set_ylabel("regret per step")
        self.regret_ax_.set_xlabel("steps")
        self.regret_ax_.legend(frameon=False)
        if self.name:
            self.ax_.set_title(self.name)
