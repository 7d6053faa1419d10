"""Several classes one-vs-one as what they are: a case and a model for every pair of classes."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tests.hostile.case import weights


def is_of_pairs(case):
    """Whether a fit of this case trains pairs of classes."""
    is_kernel_classifier = case.has_kernel and not case.is_regression and np.ndim(case.y) == 1
    several = is_kernel_classifier and len(set(np.asarray(case.y).tolist())) > 2
    return several and case.option("multiclass", "ovo") == "ovo"


@dataclass
class PairCertificate:
    """What a certificate says of one pair."""

    models: dict
    is_proven: bool
    is_within_tol: bool

    def __getattr__(self, name):
        return float(self.models[name][0])


@dataclass
class PairModel:
    """One pair of a fitted model, as a model of two classes that is positive for the first."""

    whole: Any
    number: int
    support_: Any
    dual_coef_: Any
    intercept_: Any
    lam_: Any
    certificate_: PairCertificate

    def decision_function(self, X):
        return self.whole.decision_function(X)[:, self.number]

    def decision_bounds(self, X):
        low, high = self.whole.decision_bounds(X)
        return low[:, self.number], high[:, self.number]

    def certain(self, X):
        low, high = self.decision_bounds(X)
        return (low > 0.0) | (high < 0.0)


def views(case, model):
    """Return a case and a model for every pair that has rows of positive weight."""
    model.set_params(decision_function_shape="ovo")
    y, s, certificate = np.asarray(case.y), weights(case), model.certificate_
    classes = sorted(set(y.tolist()))
    labels = np.array([classes.index(label) for label in y.tolist()])
    coefficients = np.zeros((len(y), len(classes) - 1))
    coefficients[model.support_] = model.dual_coef_.T
    found = []
    for p, (a, b) in enumerate(combinations(range(len(classes)), 2)):
        rows = np.flatnonzero((labels == a) | (labels == b))
        if not s[rows].any():
            continue
        beta = np.where(labels[rows] == a, coefficients[rows, b - 1], coefficients[rows, a])
        support = np.flatnonzero(beta)
        C = np.broadcast_to(model.C_, len(model.intercept_))[p]
        pair = PairCertificate(
            {name: numbers[p : p + 1] for name, numbers in certificate.models.items()},
            certificate.is_proven,
            certificate.is_within_tol,
        )
        view = PairModel(
            model, p, support, beta[None, support], model.intercept_[p : p + 1],
            1.0 / (C * float(s[rows].sum())), pair,
        )  # fmt: skip
        found.append((of_rows(case, rows, labels[rows] == a, s[rows], C), view))
    return found


def of_rows(case, rows, y, s, C):
    """Return the case of one pair: some rows, class weights among the weights."""
    parameters = {k: v for k, v in case.parameters.items() if k not in ("class_weight", "lam")}
    is_matrix = isinstance(case.option("kernel", "rbf"), str) and (
        case.option("kernel", "rbf") == "precomputed"
    )
    X = case.X[np.ix_(rows, rows)] if is_matrix else case.X[rows]
    parameters["C"] = C
    return replace(case, X=X, y=y.astype(int), sample_weight=s, parameters=parameters, path=[])
