"""Table 8 of [PT13]: SVMSGD, SGD-QN, SGD-m and MPU at C = 1, single precision."""

from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import NEVER, SINGLE_METHODS, compare, judge_wins

TITLE = "Table 8: other SGD algorithms, single precision, C = 1"
CLAIMS = {
    "slowest": Claim(
        "statistically SVMSGD is the slowest and MPU the fastest",
        "Sec. 3, Table 8",
    ),
    "qn": Claim(
        "SGD-m statistically outperforms SGD-QN, with a preference for sparse "
        "multidimensional datasets",
        "Sec. 3, Table 8",
    ),
    "news20": Claim(
        "on news20 SGD-QN failed to reach the required relative accuracy",
        "Sec. 3, Table 8",
    ),
}
C, SGD_M = 1.0, "SGD-m (single)"
DIFFERS = (
    *COMMON,
    "MPU in double precision: this library has no other. Rows are as given, single or double.",
)


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(SINGLE_METHODS, C, scale, report)
    others = ("SGD-QN", SGD_M, "MPU")
    pairs = [(other, "SVMSGD") for other in others] + [("MPU", other) for other in others[:2]]
    judge_wins(report, "slowest", C, pairs, scale)
    judge_wins(report, "qn", C, [(SGD_M, "SGD-QN")], scale)
    arrived = found["news20"]["SGD-QN"]
    report.judge("news20", {"fails": arrived.passes == NEVER}, f"SGD-QN there: {arrived}.")


if __name__ == "__main__":
    alone(__spec__.name)
