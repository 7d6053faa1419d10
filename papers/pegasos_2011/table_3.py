"""Table 3 of [SSSC11]: kernel evaluations per second, relative to Pegasos."""

from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.pegasos_2011.kernels import METHODS, runs

TITLE = "Table 3: relative kernel evaluation throughputs"
ONE_SEED = True
CLAIMS = {
    "minor": Claim(
        "the discrepancy between runtime and number of kernel evaluations is fairly minor: "
        "throughputs relative to Pegasos between 0.60 and 1.14",
        "Sec. 7.2, Table 3",
    ),
    "simple": Claim(
        "Pegasos and stochastic DCA, as the simplest algorithms, tend to be most dominated by "
        "kernel evaluations (throughputs 1 and 0.90 to 1.03; LASVM 0.60 to 0.88)",
        "Sec. 7.2, Table 3",
    ),
}
DIFFERS = (
    "Sets, sizes and methods as for Table 2. Kernel values are computed in blocks and kept: a row "
    "costs its values once, and what follows is updating responses.",
)
PAPER = {
    "money-fx": (1, 1.03, 1.14, 0.88),
    "a9a": (1, 0.90, 0.94, 0.60),
    "usps8": (1, 0.97, 0.69, 0.81),
    "mnist8": (1, 0.94, 0.99, 0.61),
}
LOW, HIGH = 0.5, 1.3  # what counts as the paper's range, rounded outwards


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    rows, relative = [], {}
    for name, found in runs(scale).items():
        rate = {m: c.evaluations[-1] / c.seconds[-1] for m, c in found.courses.items()}
        relative[name] = {m: rate[m] / rate["Pegasos"] for m in METHODS}
        rows.append([found.split.label, *(f"{r:.2f}" for r in relative[name].values())])
        rows.append([f"{found.split.name} in the paper", *PAPER[name]])
    report.table(["set", *METHODS], rows)
    checks = {
        f"{m} on {n}": LOW <= r <= HIGH for n, of in relative.items() for m, r in of.items()
        if m != "Pegasos"
    }  # fmt: skip
    spread = [r for of in relative.values() for r in of.values()]
    report.judge("minor", checks, f"Between {min(spread):.2f} and {max(spread):.2f}.")
    checks = {n: of["LASVM"] < max(1.0, of["SDCA"]) for n, of in relative.items()}
    report.judge("simple", checks, f"LASVM's is below on {sum(checks.values())} of 4 sets.")


if __name__ == "__main__":
    alone(__spec__.name)
