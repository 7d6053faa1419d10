"""Draw [CSS12] Fig. 2: python -m bench.kernel.plot [--only money-fx a9a] [--seeds 5] [--redraw].

Test error (linear) against kernel evaluations (logarithmic) of the stochastic batch perceptron,
Pegasos, SDCA and the perceptron, averaged over seeds. Courses are kept in
.cache/bench/kernel_courses.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np

from bench.harness import command
from bench.harness.files import CACHE, PAGES, write_whole
from bench.kernel.learning_curve import (
    GAMMAS,
    SOLVERS_DRAWN,
    averaged,
    course,
    kernel_of_test_rows,
    problem,
)

FIGURE = PAGES / "sbp.png"
FILE = CACHE / "kernel_courses.json"
TITLES = {"money-fx": "Reuters money-fx", "a9a": "Adult (a9a)"}
COLOURS = {"SBP": "#c0392b", "Pegasos": "#2471a3", "SDCA": "#1e8449", "Perceptron": "#7d6608"}
COUNTED = ("as the paper counts them", "as computed here")  # see bench.kernel.learning_curve
APART = 0.07  # of the panel's height, between names
USUAL = 0.9  # share of a line's points that the error axis shows at least

Curves = dict[str, dict[str, list[list[float]]]]  # dataset -> label -> points


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the courses that are asked for, keep them, and draw all that are known."""
    options = parse(arguments)
    curves: Curves = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in () if options.redraw else command.chosen(GAMMAS, options):
        dataset = problem(name)
        K_test = kernel_of_test_rows(dataset)
        for label, solver in SOLVERS_DRAWN.items():
            courses = [
                course(solver, dataset, K_test, seed, options.limit)
                for seed in range(options.seeds)
            ]
            curves.setdefault(name, {})[label] = averaged(courses).tolist()
            print(f"{name}  {label}: {curves[name][label][-1][2]:.2f} %", flush=True)
            write_whole(FILE, json.dumps(curves))
    figure = draw(curves)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=160)
    print(f"Wrote {FIGURE}.")


def draw(curves: Curves):
    """Return the figure: a column per dataset, a line of panels per way of counting."""
    from matplotlib.figure import Figure

    names = [name for name in GAMMAS if name in curves]
    figure = Figure(figsize=(4.8 * max(1, len(names)), 6.8), layout="constrained")
    for way, words in enumerate(COUNTED):
        for k, name in enumerate(names):
            axes = figure.add_subplot(len(COUNTED), len(names), way * len(names) + k + 1)
            lines = {label: np.array(p)[:, [way, 2]] for label, p in curves[name].items()}
            for label, points in lines.items():
                axes.plot(*points.T, color=COLOURS[label], linewidth=1.6)
            finish(axes, TITLES[name], list(lines.values()), is_first=k == 0)
            axes.set_xlabel(f"kernel evaluations, {words}")
            label_ends(axes, lines)
    return figure


def label_ends(axes, lines: dict[str, np.ndarray]) -> None:
    """Write names right of the panel at the height of the lines' ends, moved up to be apart."""
    height, lowest = 0.0, dict(sorted(lines.items(), key=lambda item: item[1][-1, 1]))
    for label, points in lowest.items():
        end = axes.transLimits.transform((np.log10(points[-1, 0]), points[-1, 1]))[1]
        height = max(height + APART, float(end))
        axes.text(
            1.02, height, label, transform=axes.transAxes,
            color=COLOURS[label], va="center", fontsize=9,
        )  # fmt: skip


def finish(axes, title: str, lines: list[np.ndarray], is_first: bool) -> None:
    """Set scales, limits and words; the worst points may leave the top."""
    axes.set_xscale("log")
    axes.set_title(title, fontsize=10)
    if is_first:
        axes.set_ylabel("test error, %")
    low = min(points[:, 1].min() for points in lines)
    high = max(float(np.quantile(points[:, 1], USUAL)) for points in lines)
    axes.set_ylim(0.97 * low, min(1.05 * high, 3.0 * low))
    axes.grid(True, alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command.parser("bench.kernel.plot", __doc__, GAMMAS, float("inf"), takes=())
    parser.add_argument("--seeds", type=int, default=5, help="runs to average (5)")
    parser.add_argument("--redraw", action="store_true", help="draw what is kept; run nothing")
    return command.parsed(parser, arguments)


if __name__ == "__main__":
    main()
