"""The judge: primal and dual values in float64, from the data and the expansion alone.

    f(x)    = sum_j coef_j K(x_j, x),        j over the support
    ||f||^2 = sum_j coef_j f(x_j)
    P(f, b) = lam/2 ||f||^2 + 1/n sum_i max(0, 1 - y_i (f(x_i) + b))

For weights 0 <= beta_i <= 1, with sum_i y_i beta_i = 0 if there is a bias, and the function f that
has coef_i = y_i beta_i / (lam n), weak duality says that no P is below

    D(beta) = 1/n sum_i beta_i - lam/2 ||f||^2

`dual_bound` reads beta off an expansion, moves it into that set, and so proves a lower bound of P*
whoever the expansion came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bench.harness.problem import Floats, Matrix
from bench.kernel.datasets.base import KernelDataset
from bench.objective import LOSSES

CENTRES = 2048  # support vectors widened at a time
BLOCK = 2**23  # kernel values held at a time, 64 MB


class Expansion(NamedTuple):
    """A model: rows of the training data, their coefficients, the bias; and what it cost."""

    support: NDArray[np.integer]  # shape (n_sv,)
    coef: NDArray[np.floating]  # shape (n_sv,); positive pulls towards label +1
    b: float = 0.0
    evaluations: int | None = None  # kernel values computed; None where a solver does not tell


class Verdict(NamedTuple):
    """What a model is worth."""

    primal: float
    n_support: int
    test_error: float  # in percent


def judge(dataset: KernelDataset, model: Expansion) -> Verdict:
    """Return objective, number of support vectors and test error of a model."""
    coef = coefficients(dataset, model)
    f = scores(dataset, coef, dataset.X)
    hinge = LOSSES["hinge"](dataset.y * (f + model.b)).mean()
    primal = dataset.lam / 2 * float(coef @ f) + float(hinge)
    return Verdict(primal, np.count_nonzero(coef), percent_wrong(dataset, coef, model.b))


def percent_wrong(dataset: KernelDataset, coef: Floats, b: float) -> float:
    """Return the percentage of test rows on the wrong side; 0 counts as label +1."""
    predicted = np.where(scores(dataset, coef, dataset.X_test) + b >= 0.0, 1, -1)
    return 100.0 * float(np.mean(predicted != dataset.y_test))


def dual_bound(dataset: KernelDataset, model: Expansion) -> float:
    """Return D at the feasible point nearest to hand: a lower bound of P*."""
    beta = feasible(dataset, coefficients(dataset, model))
    coef = dataset.y * beta * dataset.C
    norm = float(coef @ scores(dataset, coef, dataset.X, only_where_needed=True))
    return float(beta.mean()) - dataset.lam / 2 * norm


def feasible(dataset: KernelDataset, coef: Floats) -> Floats:
    """Return weights in [0, 1], balanced if there is a bias: the heavier class is scaled down."""
    beta = np.clip(dataset.y * coef / dataset.C, 0.0, 1.0)
    if dataset.has_bias:
        masses = {label: float(beta[dataset.y == label].sum()) for label in (-1, 1)}
        heavier = max(masses, key=masses.__getitem__)
        if masses[heavier] > 0.0:
            beta[dataset.y == heavier] *= masses[-heavier] / masses[heavier]
    return beta


def coefficients(dataset: KernelDataset, model: Expansion) -> Floats:
    """Spread a model's coefficients over all rows; a row named twice gets the sum."""
    if len(model.support) != len(model.coef):
        raise ValueError(
            f"{len(model.support)} support vectors have {len(model.coef)} coefficients."
        )
    return np.bincount(model.support, model.coef, minlength=dataset.X.shape[0])


def scores(
    dataset: KernelDataset, coef: Floats, X: Matrix, *, only_where_needed: bool = False
) -> Floats:
    """Return f at rows of X, without bias; `only_where_needed` leaves 0 where coef is 0."""
    centres = np.flatnonzero(coef)
    chosen = centres if only_where_needed else np.arange(X.shape[0])
    f = np.zeros(X.shape[0])
    for few in pieces(centres, CENTRES):
        Z = dense(dataset.X[few])
        for rows in pieces(chosen, max(1, BLOCK // len(few))):
            f[rows] += gaussian(X[rows], Z, dataset.gamma) @ coef[few]
    return f


def gaussian(X: Matrix, Z: Floats, gamma: float) -> Floats:
    """Return exp(-gamma ||x - z||^2) for all pairs of rows; X in any container, Z dense float64."""
    X = X.astype(np.float64)
    squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X)
    K = np.asarray(X @ Z.T)
    K *= -2.0
    K += np.asarray(squares).reshape(-1, 1)
    K += np.einsum("ij,ij->i", Z, Z)
    np.maximum(K, 0.0, out=K)  # rounding
    K *= -gamma
    return np.exp(K, out=K)


def dense(X: Matrix) -> Floats:
    """Return rows as a dense float64 array."""
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


def pieces(indices: NDArray[np.integer], size: int) -> Iterator[NDArray[np.integer]]:
    """Cut indices into pieces of at most `size`."""
    for start in range(0, len(indices), size):
        yield indices[start : start + size]
