"""Fig. 1 of [CSS12]: how xi* and p* are found by pouring water over the responses."""

import numpy as np
from scipy.optimize import linprog

from papers.harness.plots import finish, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sbp_2012.responses import responses
from pegasos.solvers.batch_perceptron.water import water_level

TITLE = "Figure 1: the water level"
ONE_SEED = True
CLAIMS = {
    "level": Claim(
        "the total slack n nu is distributed as if this volume of water were poured into a basin "
        "with heights c_i; its surface is gamma, the largest minimum of c_i + xi_i",
        "Sec. 3.2, Fig. 1",
    ),
    "uniform": Claim(
        "the uniform distribution over the rows with c_i <= gamma is minimax optimal",
        "Sec. 3.2, Fig. 1",
    ),
}
DIFFERS = (
    "The paper's figure is a drawing; ours has the responses of 400 rows of Reuters money-fx. What "
    "is claimed is tested against a linear programme.",
)
CLOSE = 1e-6


def best_slack(c: np.ndarray, volume: float) -> float:
    """Return max_xi min_i c_i + xi_i with xi >= 0, sum xi <= volume, by linear programming."""
    n = len(c)
    cost = np.r_[np.zeros(n), -1.0]  # variables xi, then the level
    above = np.c_[-np.eye(n), np.ones(n)]  # level - xi_i <= c_i
    within = np.r_[np.ones(n), 0.0]
    bounds = [(0, None)] * n + [(None, None)]
    found = linprog(cost, np.vstack([above, within]), np.r_[c, volume], bounds=bounds)
    return float(-found.fun)


def run(scale: Scale, report: Report) -> None:
    """Pour, draw and judge."""
    c, _, volume = responses(400, "none")
    gamma = float(water_level(c, volume, np.empty_like(c)))
    slack = np.maximum(0.0, gamma - c)
    p = np.where(c <= gamma, 1.0, 0.0)
    p /= p.sum()
    value = float(p @ c + volume * p.max())
    truth = best_slack(c, volume)
    order = np.argsort(c)
    figure, axes = panels(1, 2)
    ranks = np.arange(len(c))
    axes[0, 0].plot(ranks, c[order], color="#2471a3", label="c_i")
    axes[0, 0].fill_between(ranks, c[order], np.maximum(c[order], gamma), alpha=0.3, label="xi*")
    axes[0, 0].axhline(gamma, color="#888888", linestyle=":")
    finish(axes[0, 0], "responses in order, water above", "rank", "c_i")
    axes[0, 1].plot(ranks, p[order], color="#c0392b")
    finish(axes[0, 1], "a minimax optimal p*", "rank", "p*_i")
    report.figure(
        figure, "Responses of Reuters rows in increasing order and water (left); p* (right)"
    )
    poured = abs(slack.sum() - volume) / volume
    report.judge(
        "level",
        {"volume": poured < CLOSE, "linear programme": abs(gamma - truth) < CLOSE},
        f"gamma = {gamma:.6f}, by linear programming {truth:.6f}; {int((slack > 0).sum())} of "
        f"{len(c)} rows under water, volume right to {poured:.0e}.",
    )
    words = f"p*.c + n nu max p* = {value:.6f} against {truth:.6f}."
    report.judge("uniform", {"value": abs(value - truth) < CLOSE}, words)


if __name__ == "__main__":
    alone(__spec__.name)
