"""Fig. 5 of [SSSC11]: primal suboptimality and test error against runtime; Gaussian kernels."""

import numpy as np

from papers.harness.curves import share_below, times
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale, below
from papers.harness.run import alone
from papers.pegasos_2011.kernels import Runs, runs

TITLE = "Figure 5: comparison of kernel SVM optimisers"
ONE_SEED = True
CLAIMS = {
    "early": Claim(
        "Pegasos and stochastic DCA achieve a reasonably low value of the primal objective very "
        "quickly, much faster than SVM-Light",
        "Sec. 7.2, Fig. 5",
    ),
    "late": Claim(
        "on USPS and MNIST very high accuracy is needed, which is much harder to achieve with the "
        "stochastic methods: SVM-Light ends lower",
        "Sec. 7.2, Fig. 5",
    ),
    "lasvm": Claim(
        "LASVM enjoys the best properties of the others: progress early, rapid convergence later; "
        "it essentially dominates Pegasos and stochastic DCA",
        "Sec. 7.2, Fig. 5",
    ),
}
DIFFERS = (
    "Sets, sizes and methods as for Table 2; MNIST, which the paper does not show, is shown too.",
)
LOW = 0.1  # of the objective at 0, which is 1: what counts as reasonably low


def run(scale: Scale, report: Report) -> None:
    """Draw three rows of panels and judge."""
    all_runs = runs(scale)
    report.figure(
        draw(all_runs), "P - P* (top), in log scale (middle), test error in % (bottom), CPU seconds"
    )
    first = {}
    for name, found in all_runs.items():
        first[name] = {
            m: next(
                (s for s, g in zip(c.seconds, found.suboptimality(m), strict=True) if g <= LOW),
                np.inf,
            )
            for m, c in found.courses.items()
        }
    checks = {
        f"{m} on {n}": below(f[m], f["SVM-Light"])
        for n, f in first.items()
        for m in ("Pegasos", "SDCA")
    }
    words = ", ".join(f"{n} {times(f['SVM-Light'], f['Pegasos'])}" for n, f in first.items())
    report.judge(
        "early",
        checks,
        f"To P - P* <= {LOW}, SVM-Light takes CPU seconds, relative to Pegasos: {words}.",
    )
    ends = {
        n: {m: float(found.suboptimality(m)[-1]) for m in found.courses}
        for n, found in all_runs.items()
    }
    hard = ("usps8", "mnist8")
    checks = {
        f"{m} on {n}": ends[n][m] > ends[n]["SVM-Light"] for n in hard for m in ("Pegasos", "SDCA")
    }
    words = ", ".join(f"{n} {ends[n]['Pegasos']:.1e} / {ends[n]['SVM-Light']:.1e}" for n in hard)
    report.judge("late", checks, f"Last P - P*, Pegasos / SVM-Light: {words}.")
    shares = {
        f"{m} on {n}": share_below(curve(found, "LASVM"), curve(found, m))
        for n, found in all_runs.items()
        for m in ("Pegasos", "SDCA")
    }
    words = ", ".join(f"{k} {s:.0%}" for k, s in shares.items())
    report.judge("lasvm", {k: s > 0.5 for k, s in shares.items()}, f"LASVM is below on: {words}.")


def curve(found: Runs, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Return seconds and the lowest suboptimality so far."""
    return found.courses[method].seconds, np.minimum.accumulate(found.suboptimality(method))


def draw(all_runs: dict[str, Runs]):
    """Return the figure: a column per set."""
    figure, axes = panels(3, len(all_runs))
    for k, found in enumerate(all_runs.values()):
        gaps = {
            m: list(zip(c.seconds, found.suboptimality(m), strict=True))
            for m, c in found.courses.items()
        }
        errors = {
            m: list(zip(c.seconds, c.test_error, strict=True)) for m, c in found.courses.items()
        }
        lines(axes[0, k], gaps)
        axes[0, k].set_ylim(0, 0.5)
        finish(axes[0, k], found.split.label, "", "P - P*", logarithmic="x")
        lines(axes[1, k], gaps)
        finish(axes[1, k], "", "", "P - P*", logarithmic="xy")
        lines(axes[2, k], errors)
        best = found.optimum.test_error
        axes[2, k].set_ylim(0.9 * best, 3 * best)
        finish(axes[2, k], "", "CPU seconds", "test error, %", logarithmic="x")
    return figure


if __name__ == "__main__":
    alone(__spec__.name)
