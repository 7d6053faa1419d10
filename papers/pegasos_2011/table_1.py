"""Table 1 of [SSSC11]: seconds until a test error near the optimum's is certain; linear."""

from papers.harness.report import Claim, Report, Scale, below
from papers.harness.run import alone
from papers.pegasos_2011.linear import ALLOWED, METHODS, Runs, runs

TITLE = "Table 1: linear SVM, training time and test error"
ONE_SEED = True
CLAIMS = {
    "faster": Claim(
        "Pegasos and stochastic DCA improve significantly on the run-time of SVM-Perf: 0.04 s and "
        "0.03 s against 0.1 s (astro-ph), 0.16 s and 0.36 s against 3.6 s (CCAT), 0.32 s and 0.20 "
        "s against 4.2 s (cov1)",
        "Sec. 7.1, Table 1",
    ),
    "lasvm": Claim(
        "LASVM, not made for linear kernels, does not perform as well: 54 s, > 18000 s, 210 s",
        "Sec. 7.1, Table 1",
    ),
    "size": Claim(
        "Pegasos depends on lam, not on the number of examples: it takes longer on cov1 (lam 1e-6) "
        "than on CCAT (lam 1e-4), although CCAT is the larger set",
        "Sec. 7.1",
    ),
    "error": Claim(
        "at termination the test error is at most 1.1 times that at the optimum "
        "(3.36 %, 6.03 %, 22.6 %)",
        "Sec. 7.1",
    ),
}
DIFFERS = (
    "astro-ph and CCAT are not at hand: generated text-like rows of their shapes stand in. In the "
    "quick run CCAT's stand-in has 100,000 rows and cov1 67,000: the paper's ratio.",
    "epsilon is found by the paper's rule on our runs; the paper's are 0.0275, 0.00589, 0.0449.",
    "LASVM is ended after 6 CPU seconds in the quick run, 120 in the full one, where it is not "
    "run on more than 200,000 rows (CCAT, cov1) and not judged there.",
    "CPU seconds of the steps, without reading data; in 2011 the machine was another.",
)
PAPER = {
    "astro-ph": ("0.04 (3.56 %)", "0.03 (3.49 %)", "0.1 (3.39 %)", "54 (3.65 %)"),
    "CCAT": ("0.16 (6.16 %)", "0.36 (6.57 %)", "3.6 (5.93 %)", "> 18000"),
    "cov1": ("0.32 (23.2 %)", "0.20 (22.9 %)", "4.2 (23.9 %)", "210 (23.8 %)"),
}


def arrival(found: Runs, method: str) -> tuple[float, float] | None:
    """Return seconds and test error when a method was first within epsilon."""
    one = found.courses[method]
    k = one.first_below(found.optimum.dual + found.epsilon)
    return None if k is None else (float(one.seconds[k]), float(one.test_error[k]))


def run(scale: Scale, report: Report) -> None:
    """Make the table and judge."""
    all_runs, rows, times = runs(scale), [], {}
    for name, found in all_runs.items():
        arrivals = {method: arrival(found, method) for method in METHODS}
        times[name] = arrivals
        cells = [
            f"{a[0]:.3g} ({a[1]:.3g} %)" if a else "not reached" if found.was_run(m) else "not run"
            for m, a in arrivals.items()
        ]
        rows.append([found.split.label, f"{found.epsilon:.3g}", *cells])
        rows.append([f"{name} in the paper", "", *PAPER[name]])
    report.table(["set", "epsilon", *METHODS], rows, "CPU seconds to epsilon (test error then)")
    inf = (float("inf"), float("inf"))
    second = lambda name, method: (times[name][method] or inf)[0]  # noqa: E731
    checks = {
        f"{method} on {name}": below(second(name, method), second(name, "SVM-Perf"))
        for name in all_runs
        for method in ("Pegasos", "SDCA")
    }
    report.judge(
        "faster", checks, f"Faster in {sum(filter(None, checks.values()))} of {len(checks)} cases."
    )
    checks = {
        n: below(10 * second(n, "Pegasos"), second(n, "LASVM"))
        for n, found in all_runs.items()
        if found.was_run("LASVM")
    }
    count = f"{sum(filter(None, checks.values()))} of {len(checks)} sets on which it was run."
    report.judge("lasvm", checks, f"Ten times slower or more on {count}")
    slow, fast = second("cov1", "Pegasos"), second("CCAT", "Pegasos")
    sizes = f"{all_runs['cov1'].split.n:,} rows against {all_runs['CCAT'].split.n:,}"
    is_larger = all_runs["CCAT"].split.n > all_runs["cov1"].split.n
    checks = {"longer on cov1": slow > fast, "CCAT is larger": is_larger}
    report.judge("size", checks, f"{slow:.3g} against {fast:.3g} CPU s; {sizes}.")
    checks = {
        f"{method} on {name}": arrived[1] <= ALLOWED * all_runs[name].optimum.test_error + 1e-9
        for name, arrivals in times.items()
        for method, arrived in arrivals.items()
        if arrived
    }
    errors = ", ".join(f"{found.optimum.test_error:.3g} %" for found in all_runs.values())
    report.judge("error", checks, f"At our optima: {errors}.")


if __name__ == "__main__":
    alone(__spec__.name)
