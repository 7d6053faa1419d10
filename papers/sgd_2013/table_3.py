"""Table 3 of [PT13]: linear SVMs at C = 1."""

from papers.harness.curves import times
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import LINEAR_METHODS, compare, judge_wins, seconds

TITLE = "Table 3: linear SVMs, C = 1"
CLAIMS = {
    "faster": Claim(
        "DCD and MPU are statistically faster than SGD-m",
        "Sec. 3, Tables 2 and 3",
    ),
    "close": Claim(
        "but their differences from SGD-m are not very large, especially for the largest "
        "datasets (here: a factor of 5 at most)",
        "Sec. 3",
    ),
    "cuts": Claim(
        "SGD-s and SGD-m are considerably faster than SVM-Perf and statistically faster than OCAS",
        "Sec. 3, Tables 2 and 3",
    ),
}
DIFFERS = COMMON
C = 1.0


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(LINEAR_METHODS, C, scale, report)
    judge_wins(report, "faster", C, [("DCD", "SGD-m"), ("MPU", "SGD-m")], scale)
    mine = seconds(C, "SGD-m", scale)
    ratio = {n: mine[n] / min(a["DCD"].seconds, a["MPU"].seconds) for n, a in found.items()}
    words = ", ".join(f"{name} {times(r, 1.0)}" for name, r in ratio.items())
    report.judge("close", {n: r <= 5 for n, r in ratio.items()}, f"SGD-m / the faster: {words}.")
    pairs = [(one, other) for one in ("SGD-s", "SGD-m") for other in ("SVM-Perf", "OCAS")]
    judge_wins(report, "cuts", C, pairs, scale)


if __name__ == "__main__":
    alone(__spec__.name)
