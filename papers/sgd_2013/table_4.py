"""Table 4 of [PT13]: the SGD algorithms at C = 10."""

from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import NEVER, SGD_METHODS, arrival, compare

TITLE = "Table 4: SGD algorithms, C = 10"
CLAIMS = {
    "magnified": Claim(
        "the differences are magnified by the intensity of the task: SGD-m gains more on "
        "Pegasos than at C = 1",
        "Sec. 3, Table 4",
    ),
    "numerical": Claim(
        "Pegasos runs more often into numerical problems than at C = 1",
        "Sec. 3, Table 4",
    ),
}
DIFFERS = COMMON
C = 10.0


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(SGD_METHODS, C, scale, report)
    checks = {}
    for name, at_10 in found.items():
        at_1 = {m: arrival(name, 1.0, m, scale) for m in ("Pegasos", "SGD-m")}
        if max(at_10["SGD-m"].passes, at_1["SGD-m"].passes) < NEVER:
            now = at_10["Pegasos"].seconds / at_10["SGD-m"].seconds
            checks[name] = now >= at_1["Pegasos"].seconds / at_1["SGD-m"].seconds
    words = f"More on {sum(checks.values())} of {len(checks)} sets on which SGD-m arrives."
    report.judge("magnified", checks or {"any set": False}, words)
    lost = [sum(arrival(n, c, "Pegasos", scale).passes == NEVER for n in found) for c in (1.0, C)]
    words = f"Pegasos does not arrive on {lost[0]} sets at C = 1, on {lost[1]} at C = 10."
    report.judge("numerical", {"more": lost[1] > lost[0]}, words)


if __name__ == "__main__":
    alone(__spec__.name)
