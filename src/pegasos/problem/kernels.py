"""Kernels: inner products of rows in a feature space that is never built.

    linear       <x, z>
    Gaussian     exp(-gamma ||x - z||^2)                 "rbf"
    polynomial   (gamma <x, z> + coef0)^degree           "poly"
    sigmoid      tanh(gamma <x, z> + coef0)              not positive semi-definite
    Laplacian    exp(-gamma sum_j abs(x_j - z_j))
    precomputed  the matrix itself
    callable     any Python function of two matrices

All but the last two are a function of one number per pair of rows, the inner product or the city-
block distance, which `kernel_matrix.blocks` computes. `finish` turns a block of them into kernel
values, in place and with vectorised functions only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import distinct
from pegasos.problem.gaussian import to_gaussian


@distinct
class Linear(NamedTuple):
    """<x, z>."""


@distinct
class Gaussian(NamedTuple):
    """exp(-gamma ||x - z||^2)."""

    gamma: float


@distinct
class Polynomial(NamedTuple):
    """(gamma <x, z> + coef0)^degree."""

    gamma: float
    coef0: float
    degree: float


@distinct
class Sigmoid(NamedTuple):
    """tanh(gamma <x, z> + coef0)."""

    gamma: float
    coef0: float


@distinct
class Laplacian(NamedTuple):
    """exp(-gamma sum_j abs(x_j - z_j))."""

    gamma: float


@distinct
class Precomputed(NamedTuple):
    """The rows hold the kernel values themselves."""


@distinct
class Custom(NamedTuple):
    """A Python function that takes two matrices and returns the matrix of kernel values."""

    function: Callable[[Any, Any], Any]


Kernel = Linear | Gaussian | Polynomial | Sigmoid | Laplacian | Precomputed | Custom

KERNELS = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")  # by name


def kernel_of(kernel: Any, gamma: float, coef0: float, degree: float) -> Kernel:
    """Return the kernel that a name or a function stands for, with those numbers that it has."""
    if callable(kernel):
        return Custom(kernel)
    kernels: dict[str, Kernel] = {
        "linear": Linear(),
        "rbf": Gaussian(gamma),
        "poly": Polynomial(gamma, float(coef0), float(degree)),
        "sigmoid": Sigmoid(gamma, float(coef0)),
        "laplacian": Laplacian(gamma),
        "precomputed": Precomputed(),
    }
    return kernels[kernel]


def is_psd(kernel: Kernel) -> bool | None:
    """Whether a kernel is positive semi-definite; None for those only their maker can know."""
    if isinstance(kernel, Precomputed | Custom):
        return None
    if isinstance(kernel, Polynomial):
        return kernel.coef0 >= 0.0 and float(kernel.degree).is_integer()
    return not isinstance(kernel, Sigmoid)


def is_of_distance(kernel: Kernel) -> bool:
    """Whether the kernel is a function of the city-block distance, not of the inner product."""
    return isinstance(kernel, Laplacian)


def left_factor(kernel: Kernel) -> float:
    """Return what the left rows of an inner product are multiplied by, to save a pass."""
    if isinstance(kernel, Gaussian):
        return 2.0 * kernel.gamma
    return kernel.gamma if isinstance(kernel, Polynomial | Sigmoid) else 1.0


def finish(kernel: Kernel, block: Any, left: Any, right: Any) -> None:
    """Turn a block of `left_factor` <x, z>, or of distances, into kernel values in place.

    `left` (q,) and `right` (m,) hold -gamma ||x||^2 of the rows for a Gaussian.
    """
    if isinstance(kernel, Gaussian):
        to_gaussian(block, left, right)
    elif isinstance(kernel, Laplacian):
        block *= -kernel.gamma
        np.minimum(block, 0.0, out=block)
        np.exp(block, out=block)
    elif isinstance(kernel, Sigmoid):
        block += kernel.coef0
        np.tanh(block, out=block)
    elif isinstance(kernel, Polynomial):
        block += kernel.coef0
        with np.errstate(over="ignore", invalid="ignore"):  # checked afterwards
            _raise(block, kernel.degree)


def is_bounded(kernel: Kernel) -> bool:
    """Whether kernel values are finite whatever the (finite) rows.

    Not the sigmoid: the product of two long rows may be inf - inf.
    """
    return isinstance(kernel, Gaussian | Laplacian)


def _raise(block: Any, degree: float) -> None:
    """Raise to a power in place; small whole ones by products, far quicker than `np.power`."""
    if degree not in (1, 2, 3, 4):
        np.power(block, degree, out=block)
        return
    base = block.copy() if degree == 3 else block
    if degree > 1:
        np.multiply(block, block, out=block)
    if degree > 2:
        np.multiply(block, base, out=block)


def exponents(kernel: Kernel, squares: FloatArray, precision: Any) -> Any:
    """Return what `finish` adds per row: -gamma ||x||^2 for a Gaussian, nothing else."""
    if isinstance(kernel, Gaussian):
        return (-kernel.gamma * squares).astype(precision)
    return np.zeros(0, dtype=precision)
