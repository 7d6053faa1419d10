"""Table 7 of [PT13]: linear SVMs at C = 0.1."""

from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import LINEAR_METHODS, compare, judge_wins, seconds

TITLE = "Table 7: linear SVMs, C = 0.1"
CLAIMS = {
    "faster": Claim(
        "SGD-r, SGD-s and SGD-m all appear statistically faster than the linear SVMs",
        "Sec. 3, Tables 6 and 7",
    ),
    "pegasos": Claim(
        "Pegasos outperforms SVM-Perf for all datasets",
        "Sec. 3, Tables 6 and 7",
    ),
    "ocas": Claim(
        "and OCAS for the majority of them",
        "Sec. 3, Tables 6 and 7",
    ),
}
DIFFERS = COMMON
C = 0.1


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(LINEAR_METHODS, C, scale, report)
    sgd = ("SGD-r", "SGD-s", "SGD-m")
    pairs = [(one, other) for one in sgd for other in LINEAR_METHODS]
    judge_wins(report, "faster", C, pairs, scale)
    mine = seconds(C, "Pegasos", scale)
    checks = {name: mine[name] < arrived["SVM-Perf"].seconds for name, arrived in found.items()}
    report.judge("pegasos", checks, f"On {sum(checks.values())} of {len(checks)} sets.")
    judge_wins(report, "ocas", C, [("Pegasos", "OCAS")], scale)


if __name__ == "__main__":
    alone(__spec__.name)
