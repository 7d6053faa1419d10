"""A case: an estimator, its parameters and data; and the problem it stands for, derived anew."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pegasos
from tests.hostile.oracle.kernels import WIDE
from tests.hostile.oracle.rows import KernelRows, LinearRows


@dataclass
class Case:
    """What one fit needs; `path` holds parameters of the warm fits before it."""

    name: str
    estimator: str
    X: Any
    y: Any
    parameters: dict
    sample_weight: Any = None
    path: list = field(default_factory=list)
    streams_first: bool = False
    loss_name: str | None = None  # what a loss of the user's own amounts to

    @property
    def has_kernel(self):
        return self.estimator.startswith("Kernel")

    @property
    def is_regression(self):
        return self.estimator.endswith("Regressor")

    @property
    def loss(self):
        default = "epsilon_insensitive" if self.is_regression else "hinge"
        return self.loss_name or self.parameters.get("loss", default)

    @property
    def one_by_one(self):
        """What has models judged one by one: classes of a linear classifier against the rest."""
        is_linear = self.estimator == "PegasosClassifier" and "multiclass" not in self.parameters
        return {"multiclass": "ovr"} if is_linear else {}

    def option(self, name, default):
        return self.parameters.get(name, default)

    def fitted(self):
        """Fit as a user would."""
        model = getattr(pegasos, self.estimator)(**self.one_by_one, **self.parameters)
        if self.streams_first:
            classes = {} if self.is_regression else {"classes": np.unique(self.y)}
            model.partial_fit(self.X, self.y, **classes)
            if hasattr(model, "certificate_"):
                raise AssertionError("a stream has a certificate")
        for parameters in self.path:
            model.set_params(warm_start=True, **parameters)
            model.fit(self.X, self.y, sample_weight=self.sample_weight)
        if self.path:
            model.set_params(**{name: self.parameters.get(name) for name in self.path[0]})
        return model.fit(self.X, self.y, sample_weight=self.sample_weight)


@dataclass
class Problem:
    """min lam/2 ||w||^2 + 1/S sum_i s_i loss for each column of Y; rows of no weight left out."""

    loss: str
    epsilon: float
    Y: Any
    s: Any
    S: Any
    lam: Any
    rows: Any
    kept: Any

    @property
    def u(self):
        return self.s / (self.lam * self.S)


def targets(case):
    """-1 and +1 per model (n, K), or the numbers themselves."""
    if case.is_regression:
        return np.asarray(case.y, dtype=np.float64)[:, None]
    y = np.asarray(case.y)
    if y.ndim == 2:
        return np.where(y > 0, 1.0, -1.0)
    classes = sorted(set(y.tolist()))
    wanted = classes[1:] if len(classes) == 2 else classes
    return np.array([[1.0 if label == one else -1.0 for one in wanted] for label in y.tolist()])


def weights(case):
    """Sample weights times class weights."""
    n = case.X.shape[0]
    s = np.ones(n) if case.sample_weight is None else np.asarray(case.sample_weight)
    s = s.astype(WIDE)
    by_class = case.option("class_weight", None)
    if by_class is None:
        return s
    y = np.asarray(case.y).tolist()
    if by_class == "balanced":
        mass = {label: sum((s[i] for i in range(n) if y[i] == label), WIDE(0)) for label in set(y)}
        present = [label for label in mass if mass[label] > 0]
        by_class = {label: s.sum() / (len(present) * mass[label]) for label in present}
    return s * np.array([by_class.get(label, 1) for label in y], dtype=WIDE)


def problem(case, lam):
    """Return what is minimised, at the lam that the fitted model shows."""
    s, bias = weights(case), case.option("bias", "free")
    kept = np.flatnonzero(s > 0)
    X = case.X[kept]
    is_free = bias.startswith("free")
    if case.has_kernel:
        kernel = case.option("kernel", "rbf")
        X = X[:, kept] if isinstance(kernel, str) and kernel == "precomputed" else X
        rows = KernelRows(X, kernel, is_free, **kernel_options(case))
    else:
        scale = case.option("bias_scale", 1.0) if bias == "regularized" else 0.0
        rows = LinearRows(X, is_free, scale)
    epsilon = float(case.option("epsilon", 0.1)) if case.loss == "epsilon_insensitive" else 0.0
    Y = targets(case)[kept].astype(WIDE)
    return Problem(case.loss, epsilon, Y, s[kept], s.sum(), WIDE(lam), rows, kept)


def kernel_options(case):
    """Width, constant and power, as numbers."""
    return {
        "gamma": float(case.option("gamma", 1.0)),
        "coef0": float(case.option("coef0", 0.0)),
        "degree": float(case.option("degree", 3)),
    }
