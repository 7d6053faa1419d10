"""Table 6 of [PT13]: the SGD algorithms at C = 0.1."""

from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sgd_2013.comparison import DIFFERS as COMMON
from papers.sgd_2013.comparison import SGD_METHODS, Arrival, arrival, compare

TITLE = "Table 6: SGD algorithms, C = 0.1"
CLAIMS = {
    "alleviated": Claim(
        "as C decreases the differences among the algorithms are alleviated",
        "Sec. 3, Tables 6 and 7",
    ),
}
DIFFERS = COMMON
C = 0.1


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    found = compare(SGD_METHODS, C, scale, report)
    checks = {}
    for name, now in found.items():
        before = {m: arrival(name, 1.0, m, scale) for m in SGD_METHODS}
        checks[name] = spread_of(now) <= spread_of(before)
    words = f"Slowest over fastest is less than at C = 1 on {sum(checks.values())} sets."
    report.judge("alleviated", checks, words)


def spread_of(arrivals: dict[str, Arrival]) -> float:
    """Return the slowest over the fastest; infinite if one does not arrive."""
    times = [one.seconds for one in arrivals.values()]
    return max(times) / min(times)


if __name__ == "__main__":
    alone(__spec__.name)
