"""Random Fourier features: a Gaussian kernel approximated by a linear one.

    <P(x), P(x')>  ~  exp(-gamma ||x - x'||^2) = exp(-||x - x'||^2 / (2 sigma^2)),    P(x) in R^2k

A Gaussian is the average of cos(<v, x - x'> / sigma) over normal directions v; k random directions
estimate it, with an error of the order 1/sqrt(k). A linear model on P(x) is then a kernel model.

[CSS12]  Cotter, Shalev-Shwartz, Srebro. The Kernelized Stochastic Batch Perceptron. ICML 2012.
         Appendix A.
[RR07]   Rahimi, Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007. Claim 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from pegasos.data.rows import CsrRows, Rows, float_type, shape
from pegasos.errors import InvalidData

VALUES = 1 << 20  # of a block of rows or of its angles: bounds the memory used beside the result


def drawn_directions(random: Any, d: int, k: int, precision: Any) -> Any:
    """Draw a matrix of shape (d, k); the numbers are those of one draw in float64."""
    V = np.empty((d, k), dtype=precision)
    length = max(1, VALUES // k)
    for start in range(0, d, length):
        V[start : start + length] = random.standard_normal((min(length, d - start), k))
    return V


def fourier_features(rows: Rows, directions: Any, gamma: float) -> Any:
    """Return P (n, 2 k) of rows, given directions (d, k): float32 for float32 rows, else float64.

    Cosines are in the even columns, sines in the odd ones.
    """
    (n, d), k = shape(rows), directions.shape[1]
    P = np.empty((n, 2 * k), dtype=float_type(rows))
    # Copied only for float64 rows after a fit to float32 ones.
    V = directions.astype(np.promote_types(directions.dtype, P.dtype), copy=False)
    length = max(1, VALUES // (k if isinstance(rows, CsrRows) else max(d, k)))
    for start in range(0, n, length):
        stop = min(n, start + length)
        _write(_block(rows, start, stop, V.dtype), V, gamma, P[start:stop])
    return P


def _write(X: Any, V: Any, gamma: float, P: Any) -> None:
    """Write the features of a block of rows into P, in place."""
    with np.errstate(over="ignore", invalid="ignore"):
        angles = X @ V
        angles *= math.sqrt(2.0) * math.sqrt(gamma)  # 1 / sigma
    if not np.all(np.isfinite(angles)):
        raise InvalidData(
            f"X is too large for gamma={gamma:g}: sqrt(2 gamma) <v, x> overflows. "
            "Rescale X, for instance by StandardScaler, or lower gamma."
        )
    np.cos(angles, out=P[:, 0::2])  # [CSS12] App. A: P(x)_2i
    np.sin(angles, out=P[:, 1::2])  #                 P(x)_2i+1
    P /= math.sqrt(V.shape[1])


def _block(rows: Rows, start: int, stop: int, precision: Any) -> Any:
    """Return some of the rows as a matrix to multiply; dense ones in that type and in C order."""
    if not isinstance(rows, CsrRows):
        return np.ascontiguousarray(rows.X[start:stop], dtype=precision)
    first, last = int(rows.indptr[start]), int(rows.indptr[stop])
    return sparse.csr_array(
        (
            rows.data[first:last],
            rows.indices[first:last].view(f"i{rows.indices.itemsize}"),
            (rows.indptr[start : stop + 1] - rows.indptr[start]).view(f"i{rows.indptr.itemsize}"),
        ),
        shape=(stop - start, rows.width),
    )
