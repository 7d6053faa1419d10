"""Fig. 3 of [CSS12]: the batch perceptron against random Fourier features."""

import numpy as np

from papers.harness.curves import share_below
from papers.harness.plots import finish, lines, panels
from papers.harness.report import Claim, Report, Scale
from papers.harness.run import alone
from papers.sbp_2012.sets import GAMMAS, averaged, batch_perceptron, known_optimum, load
from pegasos import FourierFeatures, PegasosClassifier

TITLE = "Figure 3: random Fourier features"
CLAIMS = {
    "preferable": Claim(
        "at least on Reuters and MNIST the SBP is preferable to (faster than) approximating the "
        "kernel with random Fourier features",
        "Appendix A, Fig. 3",
    ),
    "improves": Claim(
        "the approximation improves with increasing k: the error of the linearised problem's "
        "optimum falls",
        "Appendix A",
    ),
}
DIFFERS = (
    "In the quick run 4,000 training and 1,500 test rows and k up to 512, in the full one at most "
    "20,000 and 5,000 and k up to 4,096. As in the paper, cost is "
    "k n inner products for the features and n per step of the SBP; the linear training is free.",
)


def fourier_errors(split, gamma: float, k: int, seeds: range) -> float:
    """Return the test error of the optimum on 2k random features, in percent."""
    errors = []
    for seed in seeds:
        features = FourierFeatures(gamma, n_pairs=k, random_state=seed).fit(split.X)
        model = PegasosClassifier(lam=1.0 / split.n, bias="none", tol=1e-3, max_iter=10_000)
        model.fit(features.transform(split.X), split.y)
        errors.append(1.0 - model.score(features.transform(split.X_test), split.y_test))
    return 100.0 * float(np.mean(errors))


def run(scale: Scale, report: Report) -> None:
    """Draw and judge."""
    figure, axes = panels(1, len(GAMMAS))
    shares, falls, rows = {}, {}, []
    pairs = [2**e for e in range(scale.pick(10, 13))]
    for j, (name, gamma) in enumerate(GAMMAS.items()):
        split = load(name, scale)
        best = known_optimum(name, split)
        one = averaged(split, name, batch_perceptron(best), scale, epochs=1, first=1)
        sbp = (split.n * np.asarray(one.steps, dtype=float), one.test_error)
        errors = np.array([fourier_errors(split, gamma, k, scale.seeds) for k in pairs])
        fourier = (split.n * np.array(pairs, dtype=float), errors)
        report.say(f"{split.name}: {errors[-1]:.2f} % with {pairs[-1]} pairs")
        shares[split.name] = share_below(sbp, fourier)
        falls[split.name] = bool(errors[-1] < errors[len(errors) // 2] < errors[0])
        rows.append([split.name, *(f"{e:.3g}" for e in errors), f"{one.test_error[-1]:.3g}"])
        curves = {"SBP": zip(*sbp, strict=True), "Fourier features": zip(*fourier, strict=True)}
        lines(axes[0, j], {label: list(points) for label, points in curves.items()})
        axes[0, j].set_ylim(0, 4 * best.test_error)
        finish(axes[0, j], split.name, "inner products", "test error, %", logarithmic="x")
    report.figure(figure, "Test error against cost in inner products of rows")
    report.table(["set", *(f"k = {k}" for k in pairs), "SBP, 1 epoch"], rows, "Test error, %")
    words = ", ".join(f"{n} {s:.0%}" for n, s in shares.items())
    checks = {n: shares[n] > 0.5 for n in ("Reuters", "MNIST")}
    report.judge("preferable", checks, f"SBP is at or below on this share of the axis: {words}.")
    report.judge("improves", falls, f"Errors fall on {sum(falls.values())} of {len(falls)} sets.")


if __name__ == "__main__":
    alone(__spec__.name)
