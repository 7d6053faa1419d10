"""Figures in the papers' axes: one colour per method, small and legible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = {
    "Pegasos": "#2471a3", "SDCA": "#1e8449", "SVM-Perf": "#c0392b", "LASVM": "#7d3c98",
    "SVM-Light": "#ca6f1e", "SMO": "#ca6f1e", "SBP": "#c0392b", "Perceptron": "#7d6608",
    "Fourier features": "#566573", "OCAS": "#922b21", "Norma": "#c0392b",
}  # fmt: skip
OTHERS = ("#2471a3", "#c0392b", "#1e8449", "#7d3c98", "#ca6f1e", "#566573", "#7d6608")
FLOOR = 1e-9  # what a logarithmic axis shows of a number that is not positive


def panels(rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    """Return a figure and its axes, an array of shape (rows, columns)."""
    figure = Figure(figsize=(4.2 * columns, 3.0 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def lines(
    axes: Axes, curves: Mapping[str, Sequence[tuple[float, float]]], marker: str = ""
) -> None:
    """Draw curves by name, each a sequence of points, in the colours of their methods."""
    for k, (name, points) in enumerate(curves.items()):
        if len(points):
            x, y = np.array(points, dtype=float).T
            colour = COLOURS.get(name, OTHERS[k % len(OTHERS)])
            axes.plot(x, y, label=name, color=colour, linewidth=1.5, marker=marker, markersize=3)


def finish(axes: Axes, title: str, x: str, y: str, *, logarithmic: str = "") -> None:
    """Set title, words and scales; `logarithmic` names the axes that are ("x", "y", "xy")."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    if "x" in logarithmic:
        axes.set_xscale("log")
    if "y" in logarithmic:
        axes.set_yscale("log", nonpositive="clip")
    axes.grid(True, alpha=0.25, linewidth=0.6)
    axes.tick_params(labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    handles: Any = axes.get_legend_handles_labels()[0]
    if len(handles) > 0:
        axes.legend(fontsize=7, frameon=False)
