"""The projection step of [SSS07], with and without."""

from papers.harness import data
from papers.harness.course import marks
from papers.harness.optimum import optimum
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.pegasos_2007.runs import DIFFERS as COMMON
from papers.pegasos_2007.runs import LAM, runs

TITLE = "The projection onto the ball of radius 1/sqrt(lam)"
CLAIMS = {
    "ball": Claim("the optimal solution is in the ball of radius 1/sqrt(lam)", "Sec. 2"),
    "closer": Claim(
        "projecting back only gets closer to the optimum: the objective early in the run is lower",
        "Sec. 2",
    ),
    "optional": Claim(
        "the projection is optional: it makes no important difference in the end (the 2011 paper, "
        "which drops it)",
        "2011, Sec. 2.2",
    ),
}
DIFFERS = COMMON
SAME = 1.5  # times: what counts as no important difference


def run(scale: Scale, report: Report) -> None:
    """Run with and without, and judge."""
    split = data.ccat(scale).few(scale.pick(20_000, 200_000))
    best = optimum(split, LAM)
    steps = marks(10, 20 * split.n, 8)
    gaps = {}
    for name, is_projected in (("with projection", True), ("without", False)):
        one = runs(split, LAM, 1, steps, scale, is_projected)
        gaps[name] = best.suboptimality(one.objective)
    figure, axes = panels(1, 1)
    lines(axes[0, 0], {n: list(zip(steps, g, strict=True)) for n, g in gaps.items()})
    finish(axes[0, 0], split.label, "steps", "P - P*", logarithmic="xy")
    report.figure(figure, "Suboptimality with and without the projection")
    radius = LAM**-0.5
    words = f"||w*|| = {best.norm:.2f}, the radius {radius:.0f}."
    report.judge("ball", {"within": best.norm <= radius}, words)
    first = [k for k, step in enumerate(steps) if step <= split.n // 20]
    share = sum(bool(gaps["with projection"][k] <= gaps["without"][k]) for k in first) / len(first)
    early = f"Lower or equal at {share:.0%} of the looks in the first twentieth of an epoch; "
    ratio = gaps["without"][first[0]] / gaps["with projection"][first[0]]
    words = f"{early}{ratio:.3g}x after {steps[0]} steps."
    report.judge("closer", {"lower": share > 0.5}, words)
    end = gaps["without"][-1] / gaps["with projection"][-1]
    report.judge("optional", {"same": 1 / SAME <= end <= SAME}, f"In the end {end:.2f}x.")


if __name__ == "__main__":
    alone(__spec__.name)
