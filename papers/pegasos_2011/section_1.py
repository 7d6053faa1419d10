"""Sec. 1 of [SSSC11]: Pegasos does not cost more with more examples, at fixed lam."""

from dataclasses import replace

import numpy as np

from papers.harness import data
from papers.harness.course import course, marks, seeds_of
from papers.harness.curves import slope
from papers.harness.optimum import optimum
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from pegasos import SDCA, Pegasos, SVMPerf

TITLE = "Section 1: the cost does not depend on the size of the training set"
CLAIMS = {
    "independent": Claim(
        "the run-time does not depend directly on the size of the training set: steps of Pegasos "
        "to a given accuracy are O(1/(lam eps)) whatever n is",
        "abstract, Sec. 1",
    ),
    "contrast": Claim(
        "SVM-Perf finds a solution in time O(m d / (lam eps)), linear in the number of examples m; "
        "the guarantee of Pegasos avoids that dependence",
        "Sec. 1, cutting planes",
    ),
}
DIFFERS = (
    "The paper gives no such curve. Ours: text-like rows of CCAT's width (a stand-in), lam 1e-4, "
    "the first n of them; rows visited until P - P* <= 0.05, each n with its own certified "
    "optimum. Fitted powers below 0.2 count as flat, from 0.8 on as linear.",
    "SDCA is shown for completeness: at this accuracy its cost hardly grows with n either. It was "
    "our first choice for the contrast; of it the paper claims nothing, of SVM-Perf it does.",
    "SVM-Perf has one slack for all rows, as written: its lower bound rises slowly. On Adult (lam "
    "1e-4) a certified 1e-3 takes it some 570 cuts, 511 of them for the bound alone; OCAS 54.",
)
FLAT, LINEAR = 0.2, 0.8  # powers of n
LAM, EPSILON = 1e-4, 0.05
METHODS = {
    "Pegasos": Pegasos(sampling="iid", output="last"),
    "SVM-Perf": SVMPerf(path=False),
    "SDCA": SDCA(shrinking=False, sampling="iid"),
}


def looks(method: str, n: int) -> list[int]:
    """Return the steps to look at: those of Pegasos, or the cuts of SVM-Perf, n rows each."""
    return [n * k for k in range(1, 40)] if method == "SVM-Perf" else marks(1000, 400_000, 24)


def run(scale: Scale, report: Report) -> None:
    """Count steps for growing n and judge."""
    whole = data.ccat(scale)
    sizes = scale.pick(
        (6_250, 12_500, 25_000, 50_000, 100_000), (25_000, 100_000, 400_000, 781_265)
    )
    steps: dict[str, list[float]] = {name: [] for name in METHODS}
    for n in sizes:
        split = replace(whole, X=whole.X[:n], y=whole.y[:n])
        best = optimum(split, LAM)
        for name, solver in METHODS.items():
            found = []
            for seed in seeds_of(solver, scale):
                one = course(split, LAM, solver, looks(name, n), seed=seed)
                k = one.first_below(best.dual + EPSILON)
                found.append(float("inf") if k is None else float(one.rows[k]))
            steps[name].append(float(np.median(found)))
        report.say(f"n = {n:,}: " + ", ".join(f"{name} {s[-1]:,.0f}" for name, s in steps.items()))
    report.table(
        ["n", *METHODS],
        [[f"{n:,}", *(f"{s[k]:,.0f}" for s in steps.values())] for k, n in enumerate(sizes)],
        f"Rows visited until P - P* <= {EPSILON} at lam = {LAM:g} (text-like rows for CCAT)",
    )
    figure, axes = panels(1, 1)
    lines(
        axes[0, 0],
        {name: list(zip(sizes, s, strict=True)) for name, s in steps.items()},
        marker="o",
    )
    axes[0, 0].set_ylim(bottom=1e3)
    finish(axes[0, 0], whole.label, "training rows n", "rows visited", logarithmic="xy")
    report.figure(
        figure, "Rows visited to a fixed accuracy at a fixed lam against the size of the set"
    )
    powers = {name: slope(sizes, s) for name, s in steps.items()}
    growth = f"steps grow like n^{powers['Pegasos']:.2f} over a factor of {sizes[-1] / sizes[0]:g}."
    report.judge("independent", {"flat": abs(powers["Pegasos"]) < FLAT}, growth)
    growth = f"Rows that SVM-Perf visits grow like n^{powers['SVM-Perf']:.2f}."
    checks = {"grows": powers["SVM-Perf"] > FLAT, "linearly": powers["SVM-Perf"] > LINEAR}
    report.judge("contrast", checks, growth)


if __name__ == "__main__":
    alone(__spec__.name)
