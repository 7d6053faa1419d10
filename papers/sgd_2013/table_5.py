"""Table 5 of [PT13]: linear SVMs at C = 10."""

import numpy as np

from papers.harness.curves import times
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import LINEAR_METHODS, NEVER, compare, judge_wins, seconds

TITLE = "Table 5: linear SVMs, C = 10"
CLAIMS = {
    "scales": Claim(
        "the training time of linear SVMs scales much better than that of SGD as C increases",
        "Sec. 3, Tables 3 and 5",
    ),
    "mpu": Claim(
        "MPU clearly outperforms DCD and OCAS for most datasets",
        "Sec. 3, Table 5",
    ),
    "sgd": Claim(
        "SGD-m is still statistically faster than SVM-Perf but slower than OCAS",
        "Sec. 3, Tables 4 and 5",
    ),
}
DIFFERS = COMMON
C = 10.0


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    compare(LINEAR_METHODS, C, scale, report)
    growth = {m: growth_of(m, scale) for m in ("SGD-m", "OCAS", "DCD", "MPU")}
    words = ", ".join(f"{name} {times(g, 1.0)}" for name, g in growth.items())
    checks = {name: g < growth["SGD-m"] for name, g in growth.items() if name != "SGD-m"}
    report.judge("scales", checks, f"Median growth of the time from C = 1 to 10: {words}.")
    judge_wins(report, "mpu", C, [("MPU", "DCD"), ("MPU", "OCAS")], scale)
    judge_wins(report, "sgd", C, [("SGD-m", "SVM-Perf"), ("OCAS", "SGD-m")], scale)


def growth_of(method: str, scale: Scale) -> float:
    """Return the median over sets of the time at C = 10 over that at C = 1."""
    before, after = seconds(1.0, method, scale), seconds(C, method, scale)
    return float(np.median([after[n] / before[n] for n in before if before[n] < NEVER]))


if __name__ == "__main__":
    alone(__spec__.name)
