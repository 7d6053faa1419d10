"""The parameter k of [SSS07]: from one row per step to all of them."""

from papers.harness import data
from papers.harness.course import marks
from papers.harness.curves import slope
from papers.harness.optimum import optimum
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.pegasos_2007.runs import DIFFERS as COMMON
from papers.pegasos_2007.runs import LAM, runs, work_to

TITLE = "The number of rows per step, k"
CLAIMS = {
    "rate": Claim(
        "for k = 1 as for k = m the iterations needed are O~(1/(lam eps)): P - P* falls like 1/T",
        "Sec. 1",
    ),
    "work": Claim(
        "an iteration with k = 1 involves a single inner product, so k = 1 suits large data: less "
        "work than with k = m",
        "Sec. 1",
    ),
}
DIFFERS = (*COMMON, "k = m is the sub-gradient method on all rows, drawn as a multiset here.")
EPSILON = 0.05
RATE = (-1.5, -0.7)  # powers of T that count as 1/T


def run(scale: Scale, report: Report) -> None:
    """Run several k for as much work, and judge."""
    split = data.ccat(scale).few(scale.pick(20_000, 200_000))
    best = optimum(split, LAM)
    m, works, powers, curves = split.n, {}, {}, {}
    for k in (1, 10, 100, 1_000, m):
        most = max(40 * m // k, 400)
        one = runs(split, LAM, k, marks(max(1, most // 400), most, 10), scale)
        gaps = best.suboptimality(one.objective)
        works[k] = work_to(one, best.dual + EPSILON)
        late = one.steps >= most / 30
        powers[k] = slope_of(one.steps[late], gaps[late])
        curves[f"k = {k}"] = list(zip(one.steps, gaps, strict=True))
        report.say(f"k = {k}: {works[k]:,.0f} rows to {EPSILON}; P - P* ~ T^{powers[k]:.2f}")
    rows = [[f"{k:,}", f"{works[k]:,.0f}", f"{powers[k]:.2f}"] for k in works]
    report.table(["k", f"rows visited to {EPSILON}", "fitted power of T"], rows, split.label)
    figure, axes = panels(1, 1)
    lines(axes[0, 0], curves)
    finish(axes[0, 0], split.label, "iterations T", "P - P*", logarithmic="xy")
    report.figure(figure, "Suboptimality against iterations, for several k")
    words = f"Powers of T: {powers[1]:.2f} (k = 1), {powers[m]:.2f} (k = m)."
    low, high = RATE
    report.judge("rate", {f"k = {k}": low <= powers[k] <= high for k in (1, m)}, words)
    words = f"{works[1]:,.0f} rows (k = 1), {works[m]:,.0f} rows (k = m)."
    report.judge("work", {"less": works[1] < works[m]}, words)


def slope_of(steps, gaps) -> float:
    """Return the fitted power of T."""
    is_positive = gaps > 0
    return slope(steps[is_positive], gaps[is_positive])


if __name__ == "__main__":
    alone(__spec__.name)
