"""Fig. 3.4 of [Cho20]: the influence of lam on Pegasos."""

from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.oco_2020.play import SETTING, averaged

TITLE = "Figure 3.4: the influence of lam"
CLAIMS = {
    "small": Claim(
        "lam = 1e-3 (under-regularised) yields poor performance as the model overfits",
        "Sec. 3.3, Fig. 3.4",
    ),
    "large": Claim(
        "lam = 100 (over-regularised): too much penalised, Pegasos cannot optimise properly",
        "Sec. 3.3, Fig. 3.4",
    ),
}
DIFFERS = (
    SETTING,
    "The paper's other values of lam are not in its text; ours are in the table.",
)
LAMS = (1e-3, 1e-2, 1e-1, 1.0 / 3.0, 1.0, 10.0, 100.0)
POOR = 1.0  # percentage points below the best accuracy


def run(scale: Scale, report: Report) -> None:
    """Draw and judge."""
    plays = {lam: averaged("Pegasos", scale, lam) for lam in LAMS}
    figure, axes = panels(1, 2)
    words = {lam: f"lam = {lam:.3g}" for lam in LAMS}
    curves = {words[x]: list(zip(p.rounds, p.cost, strict=True)) for x, p in plays.items()}
    lines(axes[0, 0], curves)
    finish(axes[0, 0], "cost of the average", "rounds", "P(w)", logarithmic="xy")
    curves = {words[x]: list(zip(p.rounds, p.accuracy, strict=True)) for x, p in plays.items()}
    lines(axes[0, 1], curves)
    finish(axes[0, 1], "test rows", "rounds", "accuracy, %", logarithmic="x")
    report.figure(figure, "Pegasos for several lam: cost (left), accuracy (right)")
    rows = [[words[x], f"{p.cost[-1]:.4f}", f"{p.accuracy[-1]:.2f}"] for x, p in plays.items()]
    report.table(["", "cost", "accuracy, %"], rows, "After 10,000 rounds")
    best = max(float(p.accuracy[-1]) for p in plays.values())
    for claim, lam in (("small", 1e-3), ("large", 100.0)):
        found = float(plays[lam].accuracy[-1])
        checks = {"poor accuracy": found < best - POOR}
        if claim == "large":
            checks["high cost"] = float(plays[lam].cost[-1]) > 0.9  # that of w = 0 is 1
        report.judge(claim, checks, f"{found:.2f} % against {best:.2f} % at the best lam.")


if __name__ == "__main__":
    alone(__spec__.name)
