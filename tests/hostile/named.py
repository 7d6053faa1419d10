"""Cases that were once certified falsely, by name, and the family of float32 kernels."""

from functools import partial

import numpy as np

from tests.hostile.case import Case
from tests.hostile.generator import largest_difference


def random_labels(n, d, seed=0):
    """Rows without structure: every row is a support vector, and half of them at the margin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    return X, rng.choice([-1, 1], n), rng


def float32_classifier(n, d, gamma, seed=0, **parameters):
    X, y, _ = random_labels(n, d, seed)
    name = f"float32 kernel classifier, n={n}, seed {seed}"
    parameters = {"C": 1e3, "gamma": gamma, "random_state": 0, **parameters}
    return Case(name, "KernelPegasosClassifier", X, y, parameters)


def float32_regressor(n, d, gamma, seed=0, **parameters):
    X, _, rng = random_labels(n, d, seed)
    name = f"float32 kernel regressor, n={n}, seed {seed}"
    parameters = {"C": 1e3, "gamma": gamma, "epsilon": 0.01, "random_state": 0, **parameters}
    return Case(name, "KernelPegasosRegressor", X, rng.standard_normal(n), parameters)


def separable_times(factor, seed=0, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5))
    y = np.where(X @ rng.standard_normal(5) > 0, 1, -1)
    parameters = {"C": 1e8, "random_state": 0, "max_iter": 500, **parameters}
    name = f"separable rows times {factor:g}, seed {seed}"
    return Case(name, "PegasosClassifier", X * factor, y, parameters)


def offset_targets(offset, noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = offset + 0.3 * X[:, 0] + noise * rng.standard_normal(60)
    parameters = {"random_state": 0, "max_iter": 300}
    return Case(f"targets {offset:g} + {noise:g} noise", "PegasosRegressor", X, y, parameters)


def weak_penalty(seed=0, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 4))
    y = np.where(X @ rng.standard_normal(4) > 0, 1, -1)
    parameters = {"lam": 1e-14, "random_state": 0, "max_iter": 300, **parameters}
    return Case("separable rows, lam=1e-14", "PegasosClassifier", X, y, parameters)


def wide_weights(seed, estimator="PegasosClassifier", **parameters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    line = X @ rng.standard_normal(4) + 0.5 * rng.standard_normal(60)
    y = line if estimator.endswith("Regressor") else np.where(line > 0, 1, -1)
    s = 10.0 ** rng.uniform(-12, 12, 60)
    parameters = {"random_state": 0, "max_iter": 300, **parameters}
    name = f"weights over 24 decades, {estimator}, seed {seed}"
    return Case(name, estimator, X, y, parameters, s)


def indefinite_callable(n=60):
    rng = np.random.default_rng(3)
    X = rng.uniform(-5, 5, (n, 4))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, -1)
    parameters = {"kernel": largest_difference, "random_state": 0}
    return Case(f"indefinite callable, n={n}", "KernelPegasosClassifier", X, y, parameters)


def offset_columns(offset, estimator="PegasosClassifier"):
    rng = np.random.default_rng(4)
    X = offset + rng.standard_normal((100, 5))
    line = (X - offset)[:, 0] + 0.3 * rng.standard_normal(100)
    y = line if estimator.endswith("Regressor") else np.where(line > 0, 1, -1)
    parameters = {"random_state": 0, "max_iter": 300}
    return Case(f"columns {offset:g} + noise, {estimator}", estimator, X, y, parameters)


def offset_line():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    y = 2000 + 8 * X[:, 0]
    return Case(
        "targets 2000 + 8 x", "PegasosRegressor", X, y, {"random_state": 0, "max_iter": 300}
    )


def far_from_optimum(seed):
    """A fit that hardly began: nothing useful is known, so bounds must be infinite outwards."""
    rng = np.random.default_rng(seed)
    X, y = 1e3 * rng.standard_normal((20, 3)), np.where(rng.random(20) < 0.5, 1, -1)
    y[:2] = -1, 1
    parameters = {"lam": 1e-11, "solver": "pegasos", "max_iter": 20, "random_state": 0}
    s = 10.0 ** rng.uniform(-12, 12, 20)
    return Case(f"far from the optimum, seed {seed}", "PegasosClassifier", X, y, parameters, s)


def one_of_forty(seed, top):
    """Large C, random labels and float32: what an estimate that averages errors missed."""
    rng = np.random.default_rng([40, seed])
    n, d = int(rng.integers(80, top)), int(rng.integers(5, 60))
    C, bias = float(10.0 ** rng.uniform(2, 6)), str(rng.choice(["free", "none"]))
    tol = float(rng.choice([1e-3, 1e-2, 0.1]))
    options = {"C": C, "bias": bias, "tol": tol, "max_iter": 300}
    kind = float32_regressor if seed % 2 else float32_classifier
    return kind(n, d, float(rng.uniform(0.05, 0.5) / d), seed, **options)


def forty(count=40, top=400):
    """Makers of the cases of this family."""
    return [partial(one_of_forty, seed, top) for seed in range(count)]


def epsilon_near_targets():
    """|z - y| - epsilon cancels: what is left has few digits."""
    parameters = {"epsilon": 1e12 - 4.0, "bias": "none", "C": 0.7, "tol": 1e-9}
    return Case(
        "epsilon near targets", "PegasosRegressor", np.ones((2, 1)), np.full(2, 1e12), parameters
    )


def huge_targets(size):
    """A free bias far from 0 has to be found."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    parameters = {"epsilon": 0.1 * size, "max_iter": 300}
    return Case("huge targets", "PegasosRegressor", X, size * (2.0 + 8.0 * X[:, 0]), parameters)


NAMED = {
    **{f"float32 classifier {k}": partial(float32_classifier, 150, 60, 0.004, k) for k in (0, 1)},
    **{f"float32 regressor {k}": partial(float32_regressor, 150, 60, 0.004, k) for k in (0, 1)},
    "float32, C=1e5, no bias": partial(
        float32_classifier, 150, 60, 0.004, C=1e5, tol=0.1, bias="none"
    ),
    "separable times 1e4, no bias": partial(separable_times, 1e4, bias="none"),
    "separable times 1e4": partial(separable_times, 1e4, 3),
    "targets 1e13 + line": partial(offset_targets, 1e13, 0.0),
    "targets 1e13 + noise": partial(offset_targets, 1e13, 1.0),
    "targets 1e10 + noise": partial(offset_targets, 1e10, 1.0),
    **{f"lam 1e-14, separable {k}": partial(weak_penalty, k) for k in range(3)},
    "lam 1e-14, no bias": partial(weak_penalty, 2, bias="none"),
    **{f"weights, classifier {k}": partial(wide_weights, k) for k in (1, 2, 4, 6, 10)},
    **{f"weights, regressor {k}": partial(wide_weights, k, "PegasosRegressor") for k in (0, 1)},
    "weights, no bias": partial(wide_weights, 7, bias="none", C=1e4),
    **{f"far from the optimum {k}": partial(far_from_optimum, k) for k in (2, 8)},
    "indefinite callable": indefinite_callable,
    "offset 1e3": partial(offset_columns, 1e3),
    "offset 1e6": partial(offset_columns, 1e6),
    "offset 1e6, regressor": partial(offset_columns, 1e6, "PegasosRegressor"),
    "offset line": offset_line,
    "epsilon near targets": epsilon_near_targets,
    **{f"targets of 1e{k}": partial(huge_targets, 10.0**k) for k in (14, 30)},
}

LARGE = {
    "float32 classifier, n=6000": partial(float32_classifier, 6000, 100, 0.002),
    "float32 regressor, n=4000": partial(float32_regressor, 4000, 60, 0.004),
    "float32 classifier, n=3000": partial(float32_classifier, 3000, 60, 0.004),
    "float32 classifier, n=1500": partial(
        float32_classifier, 1500, 60, 0.004, C=1e5, tol=0.1, bias="none"
    ),
    "float32 classifier, n=400": partial(float32_classifier, 400, 60, 0.004),
    "float32 regressor, n=400": partial(float32_regressor, 400, 60, 0.004),
    "indefinite callable, n=1000": partial(indefinite_callable, 1000),
    **{
        f"lam 1e-14, separable {k}, to the end": partial(weak_penalty, k, max_iter=3000)
        for k in range(3)
    },
}
