"""How a fit went: objective, lower bound and relative gap over time or epochs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter

LABELS = {"seconds": "seconds", "epoch": "epochs"}


class ConvergenceDisplay:
    """Picture of a fit's history: where the optimum was known to lie, and the proven gap.

    Made by `from_estimator`. Above, the objective falls and its lower bound rises: the optimum lies
    in between. Below, the relative gap on a log scale, with the tolerance it had to reach.

    Parameters
    ----------
    history : dict of str to ndarray
        `history_` of a fitted estimator.
    tol : float, optional
        Tolerance to draw as a line.
    name : str, optional
        Title.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        Objective and lower bound.
    gap_ax_ : matplotlib Axes
        Relative gap.
    primal_line_, dual_line_, gap_line_ : matplotlib Line2D
        The lines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import ConvergenceDisplay, PegasosClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PegasosClassifier(solver="sdca", random_state=0).fit(X / X.max(axis=0), y)
    >>> display = ConvergenceDisplay.from_estimator(model, x="epoch")
    >>> display.gap_ax_.get_yscale()
    'log'
    """

    def __init__(
        self, history: dict[str, FloatArray], *, tol: float | None = None, name: str | None = None
    ) -> None:
        self.history = history
        self.tol = tol
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: Literal["seconds", "epoch"] = "seconds", ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            One with `history_` and `certificate_`.
        x : {"seconds", "epoch"}, default="seconds"
            What runs to the right.
        ax : matplotlib Axes, optional
            Where to draw: its place is divided in two. By default a new figure.

        Returns
        -------
        display : ConvergenceDisplay
            The picture.
        """
        check_is_fitted(estimator)
        display = cls(
            estimator.history_, tol=estimator.certificate_.tol, name=type(estimator).__name__
        )
        return display.plot(x=x, ax=ax)

    def plot(
        self, *, x: Literal["seconds", "epoch"] = "seconds", ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw; see `from_estimator`."""
        if x not in LABELS:
            raise InvalidParameter(f'x must be "seconds" or "epoch"; got {x!r}.')
        self._make_axes(ax)
        at = self.history[x]
        style = {"marker": "o", "markersize": 3.5, "linewidth": 1.5} if len(at) < 60 else {}
        self._draw_objective(at, style)
        self._draw_gap(at, style)
        self.gap_ax_.set_xlabel(LABELS[x])
        if np.all(at > 0.0) and at[-1] >= 30.0 * at[0]:
            self.ax_.set_xscale("log")
        return self

    def _make_axes(self, ax: Any) -> None:
        plt = matplotlib_for("ConvergenceDisplay")
        if ax is None:
            self.figure_ = plt.figure(figsize=(6.4, 5.2), layout="constrained")
            grid = self.figure_.add_gridspec(2, 1)
        else:
            self.figure_ = ax.get_figure()
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(2, 1, hspace=0.12)
        self.ax_ = self.figure_.add_subplot(grid[0])
        self.gap_ax_ = self.figure_.add_subplot(grid[1], sharex=self.ax_)
        self.ax_.tick_params(labelbottom=False)
        for axes in (self.ax_, self.gap_ax_):
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)

    def _draw_objective(self, at: FloatArray, style: dict[str, Any]) -> None:
        primal, dual = self.history["primal"], self.history["dual"]
        (self.primal_line_,) = self.ax_.plot(at, primal, color="#c44e52", **style)
        (self.dual_line_,) = self.ax_.plot(at, dual, color="#4c72b0", **style)
        self.primal_line_.set_label("objective")
        self.dual_line_.set_label("lower bound on the optimum")
        positive = dual[dual > 0.0]
        if len(positive) and primal.max() > 3.0 * positive.min():
            self.ax_.set_yscale("log")
        else:
            self.ax_.ticklabel_format(axis="y", useOffset=False)
        floor = positive.min() if len(positive) else 0.0
        self.ax_.fill_between(at, np.maximum(dual, floor), primal, color="0.5", alpha=0.15, lw=0.0)
        self.ax_.set_ylabel("objective")
        self.ax_.legend(frameon=False)
        if self.name:
            self.ax_.set_title(self.name)

    def _draw_gap(self, at: FloatArray, style: dict[str, Any]) -> None:
        gap = self.history["relative_gap"]
        shown = np.where(np.isfinite(gap) & (gap > 0.0), gap, np.nan)
        (self.gap_line_,) = self.gap_ax_.plot(at, shown, color="0.2", **style)
        self.gap_line_.set_label("relative gap")
        self.gap_ax_.set_yscale("log")
        self.gap_ax_.set_ylabel("relative gap (proven)")
        if self.tol is not None:
            self.gap_ax_.axhline(self.tol, color="#55a868", linestyle="--", linewidth=1.2)
            self.gap_ax_.annotate(
                f"tol = {self.tol:g}",
                (0.01, self.tol),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                xytext=(0, 3),
                ha="left",
                color="#3f7d4e",
            )


def matplotlib_for(display: str) -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} needs matplotlib. Install it with: pip install 'pegasos[plot]'"
        ) from error
    return plt
