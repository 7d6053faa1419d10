"""Kernel machines by linear means: three classifiers of handwritten digits, each certified.

A Gaussian kernel is approximated by explicit features, on which a linear model is trained: random
Fourier features (`FourierFeatures`), or the kernel values between each image and some images of the
training set (scikit-learn's `Nystroem`).

Run it with `python examples/approximate_kernels.py`.
"""

from __future__ import annotations

import time

from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from pegasos import FourierFeatures, PegasosClassifier

GAMMA = 0.05  # of exp(-gamma ||x - x'||^2); pixels lie between 0 and 1
FEATURES = 400  # of each approximation


def main() -> None:
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X / 16.0, y, test_size=0.3, random_state=0, stratify=y
    )
    print(f"{len(train)} images of 8 x 8 pixels to learn from, {len(test)} to test, 10 digits")
    print("compiling, if this is the first run on this machine...", flush=True)
    classifier().fit(train[:100], y_train[:100])

    print(f"\n{'':28}{'test error':>12}{'seconds':>10}{'proven gap':>13}")
    for name, model in contestants().items():
        begin = time.perf_counter()
        model.fit(train, y_train)
        seconds = time.perf_counter() - begin
        error = 1.0 - model.score(test, y_test)
        gap = model[-1].certificate_.relative_gap
        print(f"{name:28}{error:>12.1%}{seconds:>10.2f}{gap:>13.1e}", flush=True)
    print(
        "\nproven gap: each of the ten models is proven to be within this fraction of the optimum, "
        "on\nthe features it was given. What the features lose against the kernel is not in it.\n"
        f"test error: one image is {1.0 / len(test):.1%}, so a few of them are chance."
    )


def contestants() -> dict[str, object]:
    """Return the pipelines to compare; all end in the same linear classifier."""
    fourier = FourierFeatures(gamma=GAMMA, n_pairs=FEATURES // 2, random_state=0)
    nystroem = Nystroem(gamma=GAMMA, n_components=FEATURES, random_state=0)
    return {
        "linear, 64 pixels": make_pipeline(classifier()),
        f"Fourier, {FEATURES} features": make_pipeline(fourier, classifier()),
        f"Nystroem, {FEATURES} features": make_pipeline(nystroem, classifier()),
    }


def classifier() -> PegasosClassifier:
    return PegasosClassifier(C=10.0, multiclass="ovr", random_state=0)


if __name__ == "__main__":
    main()
