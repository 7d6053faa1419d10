"""What pegasos does, in under a minute: train, prove how good the answer is, draw it.

Run it with `make demo`. Pictures go to the folder demo-output.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import train_test_split

from pegasos import ConvergenceDisplay, KernelPegasosClassifier, PegasosClassifier
from pegasos.data.textlike import textlike

OUTPUT = Path("demo-output")
Classifier = PegasosClassifier | KernelPegasosClassifier


def main() -> None:
    started = time.perf_counter()
    OUTPUT.mkdir(exist_ok=True)
    digits()
    text()
    moons()
    what_next(time.perf_counter() - started)


def digits() -> None:
    """The task of the Pegasos paper in miniature: digit 8 against the rest."""
    title("1. Handwritten digits: is it an 8?  (1,797 images of 8 x 8 pixels)")
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X / 16.0, y == 8, test_size=0.3, random_state=0, stratify=y
    )
    model = PegasosClassifier(C=0.1, random_state=0, verbose=1).fit(train, y_train)
    report(model, test, y_test)
    draw_digits(model, test, y_test, OUTPUT / "digits.png")


def text() -> None:
    """A problem of the size that the library is made for."""
    title("2. Text: 200,000 documents, 47,236 words, 75 different words per document")
    say("generating the documents (they resemble Reuters news: a few words are very common)...")
    X, y = textlike()
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.1, random_state=0)
    model = PegasosClassifier(lam=1e-4, random_state=0, verbose=1).fit(train, y_train)
    report(model, test, y_test)
    say("")
    say("the same to a relative gap of 1e-6, which settles nearly all labels:")
    model.set_params(tol=1e-6).fit(train, y_train)
    say(f"certain: {model.certain(test).mean():.1%} of the test labels")
    say("")
    say("and the method of 2007 that gave the library its name, to 1e-4, with the same proof:")
    paper = PegasosClassifier(lam=1e-4, solver="pegasos", tol=1e-4, random_state=0, verbose=1)
    paper.fit(train, y_train)
    draw_convergence({"Pegasos": paper, "SDCA, the default": model}, OUTPUT / "convergence.png")


def moons() -> None:
    """A problem that no line separates, and which parts of the plane the proof settles."""
    title("3. Kernels: two half moons, 2,000 points, a Gaussian kernel")
    X, y = make_moons(2000, noise=0.2, random_state=0)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = KernelPegasosClassifier(C=1.0, gamma=2.0, tol=1e-5, random_state=0, verbose=1)
    model.fit(train, y_train)
    report(model, test, y_test)
    say(
        f"support vectors: {len(model.support_)} of {len(train)} rows; "
        f"{model.n_kernel_evaluations_:,} kernel values computed"
    )
    draw_moons(model, train, y_train, OUTPUT / "moons.png")


def draw_moons(model: KernelPegasosClassifier, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    """Draw the decision values over the plane, and where the label is not settled yet."""
    import matplotlib.pyplot as plt

    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(np.linspace(low[0], high[0], 220), np.linspace(low[1], high[1], 160))
    plane = np.column_stack([across.ravel(), up.ravel()])
    values = model.decision_function(plane).reshape(across.shape)
    is_open = ~model.certain(plane).reshape(across.shape)
    figure, axes = plt.subplots(figsize=(7.5, 5.0), layout="constrained")
    image = axes.pcolormesh(across, up, values, cmap="RdBu_r", vmin=-2, vmax=2, shading="auto")
    axes.contour(across, up, values, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"])
    axes.contourf(across, up, is_open, levels=[0.5, 1.5], colors=["gold"], alpha=0.9)
    axes.scatter(*X.T, c=y, cmap="RdBu_r", s=6, linewidths=0)
    axes.scatter(*model.support_vectors_.T, s=22, facecolors="none", edgecolors="k", linewidths=0.5)
    axes.set_title(
        "Gaussian kernel: boundary and margins, support vectors circled\n"
        f"yellow: labels not settled at a proven gap of {model.certificate_.relative_gap:.0e}"
    )
    axes.set_xticks([])
    axes.set_yticks([])
    figure.colorbar(image, ax=axes, label="decision value")
    save(figure, path)


def report(model: Classifier, test: object, y_test: object) -> None:
    """Say what was proven and what it is worth on rows not seen in training."""
    proof = model.certificate_
    say(
        f"proven: the objective, {proof.primal:.6f}, is at most {proof.relative_gap:.2g} (relative)"
        f" above the best possible; no model can go below {proof.dual:.6f}."
    )
    say(f"test error: {1.0 - model.score(test, y_test):.2%}")
    say(
        f"certain: {model.certain(test).mean():.1%} of the test labels would be the same at the "
        "exact optimum, however long one trained."
    )


def draw_digits(model: PegasosClassifier, test: np.ndarray, y_test: object, path: Path) -> None:
    """Draw the weights as an image, and the eights the model is most and least sure of."""
    import matplotlib.pyplot as plt

    values = model.decision_function(test)
    order = np.argsort(values)
    eights, others = order[y_test[order]], order[~y_test[order]]
    rows = [
        ("clearest eights", eights[::-1][:6]),
        ("least clear eights", eights[:6]),
        ("most like an eight, but none", others[::-1][:6]),
    ]
    figure = plt.figure(figsize=(9.0, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.0, 1.75])
    axes = left.subplots()
    weights = model.coef_[0].reshape(8, 8)
    reach = np.abs(weights).max()
    image = axes.imshow(weights, cmap="RdBu_r", vmin=-reach, vmax=reach)
    axes.set_title("weights: ink here speaks\nfor (red) or against (blue) an 8", fontsize=10)
    axes.axis("off")
    left.colorbar(image, ax=axes, orientation="horizontal", shrink=0.8)
    grid = right.subplots(len(rows), 6)
    for line, (name, chosen) in zip(grid, rows, strict=True):
        for axes, i in zip(line, chosen, strict=True):
            axes.imshow(test[i].reshape(8, 8), cmap="gray_r")
            axes.set_title(f"{values[i]:+.1f}", fontsize=8, pad=2)
            axes.set_xticks([])
            axes.set_yticks([])
        line[0].set_ylabel(name.replace(", ", ",\n").replace(" eights", "\neights"), fontsize=8)
    right.suptitle("test images and their decision values", fontsize=10)
    save(figure, path)


def draw_convergence(models: dict[str, PegasosClassifier], path: Path) -> None:
    """Draw how the objective and its lower bound closed in on the optimum, solver by solver."""
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, len(models), figsize=(10.0, 4.8), layout="constrained")
    figure.suptitle("200,000 text-like rows, lam = 1e-4: the optimum lies between the two lines")
    for place, (name, model) in zip(places, models.items(), strict=True):
        display = ConvergenceDisplay.from_estimator(model, ax=place)
        display.ax_.set_title(name)
    save(figure, path)


def save(figure: object, path: Path) -> None:
    figure.savefig(path, dpi=150)
    say(f"picture: {path}")


def what_next(seconds: float) -> None:
    title(f"Done in {seconds:.0f} s. What to try next:")
    print(
        """  from pegasos import PegasosClassifier
  model = PegasosClassifier(C=1.0, verbose=1).fit(X, y)   # your arrays, sparse matrices, frames
  print(model.certificate_)                               # how good it is, proven
  model.certain(X_new)                                    # labels that more training cannot change
  model.set_params(max_time=10)                           # or Ctrl-C: the model is kept
  PegasosClassifier(loss="logistic").fit(X, y).predict_proba(X_new)
  KernelPegasosClassifier(kernel="rbf").fit(X, y)         # what no hyperplane separates

  PegasosRegressor and KernelPegasosRegressor work alike. The README says what is there;
  `make test` checks all of it."""
    )


def title(text: str) -> None:
    sys.stderr.flush()
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def say(text: str) -> None:
    sys.stderr.flush()
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    main()
