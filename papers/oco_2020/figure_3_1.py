"""Fig. 3.1 of [Cho20]: Pegasos against SGD."""

import numpy as np

from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.oco_2020.play import LAM, ROUNDS, SETTING, averaged, digits
from pegasos.online import row_costs

TITLE = "Figure 3.1: Pegasos against SGD"
CLAIMS = {
    "below": Claim("costs of Pegasos are always below those of SGD", "Sec. 3.2, Fig. 3.1"),
    "slow": Claim(
        "the curve of SGD takes time to decrease and at T = 10,000 is above Pegasos' curve",
        "Sec. 3.2, Fig. 3.1",
    ),
    "regret": Claim(
        "the regret of Pegasos is logarithmic in T, that of SGD O(sqrt T), which is worse",
        "Sec. 2.3",
    ),
}
DIFFERS = (
    SETTING,
    "The regret of both is an interval, certified by a duality gap of the best fixed point.",
)


def run(scale: Scale, report: Report) -> None:
    """Draw and judge."""
    plays = {name: averaged(name, scale) for name in ("Pegasos", "SGD")}
    figure, axes = panels(1, 2)
    curves = {name: list(zip(p.rounds, p.cost, strict=True)) for name, p in plays.items()}
    lines(axes[0, 0], curves)
    finish(axes[0, 0], "cost of the average", "rounds", "P(w)", logarithmic="xy")
    curves = {n: list(zip(p.rounds, 100 - p.accuracy, strict=True)) for n, p in plays.items()}
    lines(axes[0, 1], curves)
    finish(axes[0, 1], "test rows", "rounds", "error, %", logarithmic="xy")
    report.figure(figure, "Cost (left) and test error (right) against rounds, log-log")
    pegasos, sgd = plays["Pegasos"], plays["SGD"]
    share = float(np.mean(pegasos.cost <= sgd.cost))
    report.judge(
        "below", {"always": share == 1.0, "mostly": share > 0.5}, f"At {share:.0%} of looks."
    )
    words = f"Costs at the end: {pegasos.cost[-1]:.4f} (Pegasos), {sgd.cost[-1]:.4f} (SGD)."
    report.judge("slow", {"above": bool(sgd.cost[-1] > pegasos.cost[-1])}, words)
    judge_regret(report, plays)


def judge_regret(report: Report, plays) -> None:
    """Compare the certified regrets on the rows that were played."""
    split, regrets, rows = digits(), {}, []
    costs = row_costs(split.X, split.y, lam=LAM)
    order = np.random.default_rng(0).integers(0, split.n, ROUNDS)
    counts = np.bincount(order, minlength=split.n)
    for name, one in plays.items():
        regrets[name] = one.learner.regret(costs, counts) if one.learner else None
        found = regrets[name]
        rows.append([name, f"{found.lower:.4g}", f"{found.upper:.4g}", f"{found.bound:.4g}"])
    report.table(["method", "regret at least", "at most", "bound by theory"], rows)
    is_less = regrets["Pegasos"].upper < regrets["SGD"].lower
    is_bounded = all(found.upper <= found.bound for found in regrets.values())
    report.judge("regret", {"less": is_less, "within the bounds": is_bounded}, "See the table.")


if __name__ == "__main__":
    alone(__spec__.name)
