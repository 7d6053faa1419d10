"""Sec. 5 of [CSS12]: the batch perceptron in a quarter of LIBSVM's time, with a free bias."""

import time

import numpy as np
from sklearn.svm import SVC

from papers.harness import data
from papers.harness.course import course, marks
from papers.harness.data import Split
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from pegasos import BatchPerceptron

TITLE = "Section 5: runtime beside LIBSVM"
ONE_SEED = True
CLAIMS = {
    "quarter": Claim(
        "in one quarter of LIBSVM's runtime (195 s, 1980 s, 35 hours) the SBP had 15.0 % error "
        "on Adult, 0.46 % on MNIST and 1.6 % on Forest, LIBSVM itself 14.9 %, 0.44 % and 1.8 %",
        "Sec. 5",
    ),
}
DIFFERS = (
    "LIBSVM as scikit-learn's SVC with its defaults (tol 1e-3, cache raised to 1 GB). CPU seconds.",
    "4,000 training and 2,000 test rows of each set in the quick run, at most 20,000 and 5,000 in "
    "the full one.",
    "Forest: how Nguyen et al. scaled its columns is not at hand; ours are in [0, 1], class 1 "
    "against the rest, gamma 20, C 10.",
)
PAPER = {"Adult": (14.9, 15.0), "MNIST": (0.44, 0.46), "Forest": (1.8, 1.6)}
SHARE, SPARE = 0.25, 2.0  # of LIBSVM's time, and how many times that the run goes on for
NEARLY = 0.5  # percentage points: what counts as the same error on some thousand test rows


def problems(scale: Scale) -> dict[str, tuple[Split, float, float]]:
    """Return sets with gamma and C = 1/(lam n)."""
    n, tests = scale.pick((4_000, 2_000), (20_000, 5_000))
    forest = data.cov1(scale).few(n, tests)
    return {
        "Adult": (data.kernel_set("a9a", n, tests), 0.005, 100.0),
        "MNIST": (data.kernel_set("mnist8", n, tests), 0.02, 1000.0),
        "Forest": (forest, 20.0, 10.0),
    }


def run(scale: Scale, report: Report) -> None:
    """Time LIBSVM, then give the batch perceptron a quarter of that."""
    rows, checks = [], {}
    for name, (split, gamma, C) in problems(scale).items():
        start = time.process_time()
        peer = SVC(C=C, gamma=gamma, cache_size=1000).fit(split.X, split.y)
        seconds = time.process_time() - start
        error = 100.0 * float(np.mean(peer.predict(split.X_test) != split.y_test))
        lam = 1.0 / (C * split.n)
        steps = marks(64, 30 * split.n, 12)
        limits = {"max_time": SPARE * SHARE * seconds, "bias": "free"}
        one = course(split, lam, BatchPerceptron(), steps, gamma=gamma, **limits)
        report.say(
            f"{name}: LIBSVM {seconds:.2f} s, the batch perceptron ran {one.seconds[-1]:.2f} s"
        )
        in_time = np.flatnonzero(one.seconds <= SHARE * seconds)
        ours = float(one.test_error[in_time[-1]]) if len(in_time) else 100.0
        checks[name] = ours <= error + NEARLY
        theirs, sbp = PAPER[name]
        rows.append(
            [f"{name}, {split.n:,} rows", f"{seconds:.2f}", f"{error:.2f}", f"{ours:.2f}"]
            + [f"{theirs}", f"{sbp}"]
        )
    head = [
        "set",
        "LIBSVM, CPU s",
        "its error, %",
        "SBP in a quarter, %",
        "paper: LIBSVM",
        "paper: SBP",
    ]
    report.table(head, rows)
    words = f"Within {NEARLY} points of LIBSVM's error on {sum(checks.values())} of 3 sets."
    report.judge("quarter", checks, words)


if __name__ == "__main__":
    alone(__spec__.name)
