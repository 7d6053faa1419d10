"""Fig. 4 of [SSSC11]: primal suboptimality and test error against runtime; linear."""

import numpy as np

from papers.harness.curves import share_below
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.pegasos_2011.linear import Runs, runs

TITLE = "Figure 4: comparison of linear SVM optimisers"
ONE_SEED = True
CLAIMS = {
    "suboptimality": Claim(
        "Pegasos and stochastic DCA improve significantly in run-time over SVM-Perf, itself a very "
        "fast method: their suboptimality is lower at the same time",
        "Sec. 7.1, Fig. 4 top",
    ),
    "error": Claim("the same for the test error", "Sec. 7.1, Fig. 4 bottom"),
    "lasvm": Claim(
        "LASVM is not specialised for linear kernels and is not expected to do as well",
        "Sec. 7.1, Fig. 4",
    ),
}
DIFFERS = (
    "astro-ph and CCAT are not at hand: generated text-like rows of their shapes stand in; sizes "
    "and limits of the quick run as for Table 1.",
    "The iterate shown is the last one, as the paper's Pegasos hands it out; its steps are i.i.d.",
)


def share(found: Runs, method: str, other: str, is_error: bool) -> float:
    """Return the share of the time axis on which a method is below another, best values so far."""
    curves = []
    for name in (method, other):
        one = found.courses[name]
        values = one.test_error if is_error else found.suboptimality(name)
        curves.append((one.seconds, np.minimum.accumulate(values)))
    return share_below(*curves)


def run(scale: Scale, report: Report) -> None:
    """Draw both rows of panels and judge."""
    all_runs = runs(scale)
    report.figure(draw(all_runs), "Suboptimality (top) and test error in % (bottom), CPU seconds")
    for claim, is_error in (("suboptimality", False), ("error", True)):
        shares = {
            f"{method} on {name}": share(found, method, "SVM-Perf", is_error)
            for name, found in all_runs.items()
            for method in ("Pegasos", "SDCA")
        }
        words = ", ".join(f"{key} {value:.0%}" for key, value in shares.items())
        report.judge(
            claim,
            {key: value > 0.5 for key, value in shares.items()},
            f"Below SVM-Perf on this share of the (logarithmic) time axis: {words}.",
        )
    shares = {
        name: share(found, "Pegasos", "LASVM", False)
        for name, found in all_runs.items()
        if found.was_run("LASVM")
    }
    words = ", ".join(f"{key} {value:.0%}" for key, value in shares.items())
    checks = {key: value > 0.5 for key, value in shares.items()}
    report.judge("lasvm", checks, f"Pegasos is below LASVM on: {words}.")


def draw(all_runs: dict[str, Runs]):
    """Return the figure: a column per set."""
    figure, axes = panels(2, len(all_runs))
    for k, found in enumerate(all_runs.values()):
        curves, errors = {}, {}
        for method, one in found.courses.items():
            curves[method] = list(zip(one.seconds, found.suboptimality(method), strict=True))
            errors[method] = list(zip(one.seconds, one.test_error, strict=True))
        lines(axes[0, k], curves)
        finish(axes[0, k], found.split.label, "CPU seconds", "P - P*", logarithmic="xy")
        lines(axes[1, k], errors)
        axes[1, k].set_ylim(0.9 * found.optimum.test_error, 3 * found.optimum.test_error)
        finish(axes[1, k], "", "CPU seconds", "test error, %", logarithmic="x")
    return figure


if __name__ == "__main__":
    alone(__spec__.name)
