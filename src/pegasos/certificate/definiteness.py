"""Whether a kernel is positive semi-definite: without it, no dual value bounds anything.

Built-in kernels are, or are known not to be. Of a matrix or a function that a user brings, blocks
K[R, R] are tested, which must have no negative eigenvalue either: all rows if they are few, else
several random sets of rows. Noise of kernel values makes eigenvalues just below 0, which pass and
are allowed for in every certificate (`Gram.noise`). A fit adds what it meets on its way
(`Kernelized.is_indefinite`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.kernel_matrix.gram import Gram
from pegasos.parallel import one_blas_thread
from pegasos.problem.geometry import geometry

FEW_ROWS = 2000  # are tested all together
BLOCKS, BLOCK_ROWS = 8, 512
NOISE = 16.0  # roundings of the largest value, times the root of the rows: eigenvalues of noise


class Definiteness(NamedTuple):
    """Whether anything can be proven, and how that is known; nothing said of built-in kernels."""

    is_psd: bool
    tested: str = ""


def definiteness(rows: Any, seed: int) -> Definiteness:
    """Find out, as far as can be, whether the kernel of these rows is positive semi-definite."""
    known = geometry(rows).is_psd
    if known is not None:
        return Definiteness(known)
    if rows.is_indefinite:
        return Definiteness(False, "a negative value on the diagonal of the kernel matrix")
    if rows.n <= FEW_ROWS:
        return Definiteness(
            has_no_negative_eigenvalue(rows, np.arange(rows.n)), f"all {rows.n:,} rows together"
        )
    random = np.random.default_rng(seed)
    tested = f"{BLOCKS} random sets of {BLOCK_ROWS} rows"
    for _ in range(BLOCKS):
        if not has_no_negative_eigenvalue(rows, random.choice(rows.n, BLOCK_ROWS, replace=False)):
            return Definiteness(False, tested)
    return Definiteness(True, tested)


def has_no_negative_eigenvalue(gram: Gram, some: Any) -> bool:
    """Whether K[some, some] has a Cholesky factor, but for the noise of its values."""
    K = gram.values(some, some).astype(np.float64)
    K = 0.5 * (K + K.T)
    unit = float(np.finfo(gram.precision).eps)
    noise = NOISE * unit * float(np.sqrt(len(some)) * np.abs(K).max(initial=0.0))
    gram.noise = max(gram.noise, noise)
    K[np.diag_indices(len(some))] += max(noise, float(np.finfo(np.float64).tiny))
    try:
        with one_blas_thread:
            np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return False
    return True
