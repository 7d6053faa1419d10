"""Table 2 of [PT13]: the SGD algorithms at C = 1."""

from papers.harness.curves import times
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import NEVER, SGD_METHODS, compare, judge_wins

TITLE = "Table 2: SGD algorithms, C = 1"
CLAIMS = {
    "progress": Claim(
        "there is a progressive decrease in training time as we move from Pegasos to SGD-m "
        "through SGD-r and SGD-s",
        "Sec. 3, Table 2",
    ),
    "substantial": Claim(
        "the overall improvement made by SGD-m over Pegasos is quite substantial (here: twice "
        "as fast or more)",
        "Sec. 3, Table 2",
    ),
    "numerical": Claim(
        "Pegasos failed to process the Covertype dataset due to numerical problems",
        "Sec. 3, Table 2",
    ),
}
DIFFERS = COMMON
C = 1.0


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(SGD_METHODS, C, scale, report)
    pairs = [("SGD-r", "Pegasos"), ("SGD-s", "SGD-r"), ("SGD-m", "SGD-s")]
    judge_wins(report, "progress", C, pairs, scale)
    ratio = {
        n: a["Pegasos"].seconds / a["SGD-m"].seconds
        for n, a in found.items()
        if a["SGD-m"].passes < NEVER
    }
    words = ", ".join(f"{name} {times(r, 1.0)}" for name, r in ratio.items())
    report.judge("substantial", {name: r >= 2 for name, r in ratio.items()}, words + ".")
    arrived = found["Covertype"]["Pegasos"]
    report.judge("numerical", {"fails": arrived.passes == NEVER}, f"Pegasos there: {arrived}.")


if __name__ == "__main__":
    alone(__spec__.name)
