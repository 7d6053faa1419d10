"""LASVM on a stream: rows come in blocks, once each, and only those that support a model are kept.

Every new row is PROCESSed and followed by one REPROCESS (see `process`), in the order of arrival.
The bound on a row's coefficient, C times its weight, does not depend on the rows to come: a stream
has no end, so it is C that stays fixed, not lam. Memory is that of the support rows and of their
mutual kernel values. Two blocks are the same as one after the other, but for rounding.

[BEWB05]  Bordes, Ertekin, Weston, Bottou. Fast kernel classifiers with online and active learning.
          JMLR 6, 2005. Sec. 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pegasos.data.rows import FloatArray, Rows, as_rows, float_type, is_sparse, shape
from pegasos.kernel_matrix.blocks import Filled, fill
from pegasos.kernel_matrix.kernelized import diagonal
from pegasos.kernel_matrix.side import Side, matrix, side
from pegasos.parallel import one_blas_thread
from pegasos.problem.kernels import Kernel, Precomputed
from pegasos.solvers.lasvm.process import Square, bias, process, reprocess
from pegasos.solvers.lasvm.support_set import new_support_set
from pegasos.solvers.refusals import check_stream_and_kernel

TAU = 1e-3  # violation that PROCESS and REPROCESS leave alone
STEPS_PER_ROW = 1000  # of `finish`, at most


class OnlineModel:
    """K kernel classifiers over one set of support rows, trained on a stream.

    Parameters
    ----------
    kernel : Kernel
        Any but a precomputed one.
    C : float
        Bound on the coefficient of a row of weight 1.
    models : int
        Number of models, K.
    is_free : bool
        Whether the models have a bias.
    tau : float
        Violation, in units of the margin, that is left alone.

    Attributes
    ----------
    support_rows : ndarray of shape (m, d) or CSR matrix, None before the first row
        The rows kept.
    coefficients : ndarray of shape (m, K)
        Their coefficients; a row that supports one model may have 0 in another.
    b : ndarray of shape (K,)
        The biases.

    Examples
    --------
    >>> from pegasos.problem.kernels import Linear
    >>> model = OnlineModel(Linear(), C=1.0, models=1, is_free=False)
    >>> model.process(as_rows(np.array([[2.0], [-4.0]])), np.array([[1.0], [-1.0]]))
    >>> model.support_rows, model.coefficients
    (array([[2.]]), array([[0.25]]))
    """

    def __init__(
        self, kernel: Kernel, C: float, models: int, is_free: bool, tau: float = TAU
    ) -> None:
        if isinstance(kernel, Precomputed):
            check_stream_and_kernel("precomputed")
        self.kernel, self.C, self.is_free, self.tau = kernel, float(C), is_free, tau
        self.support_rows: Any = None
        self.like: Side | None = None
        self.set = new_support_set(models, np.float64)

    @property
    def coefficients(self) -> FloatArray:
        return np.ascontiguousarray(self.set.beta.T)

    @property
    def b(self) -> FloatArray:
        K = self.set.numbers.shape[1]
        return np.array([bias(self.set.ascent(k)) if self.is_free else 0.0 for k in range(K)])

    @one_blas_thread
    def process(self, rows: Rows, Y: FloatArray, weights: FloatArray | None = None) -> None:
        """Learn from new rows, in their order; labels Y (n, K) are -1 or 1, weights (n,) >= 0."""
        n, _ = shape(rows)
        if self.support_rows is None:
            self.set = new_support_set(Y.shape[1], float_type(rows))
        C = np.full(n, self.C) if weights is None else self.C * weights
        new, of_new = side(self.kernel, rows, self.like), diagonal(self.kernel, rows)
        self.like = new._replace(rows=None, exponents=None)  # the origin stays that of the first
        visits = np.flatnonzero(C > 0.0)
        done = 0
        while done < len(visits):
            some, first = visits[done : done + self.set.block_length()], self.set.m
            self.set.append(self._values(new, some), Y[some], C[some], of_new[some])
            places = np.arange(first, self.set.m)
            for k in range(self.set.numbers.shape[1]):
                process(
                    Square(self.set.square), self.set.diagonal, self.set.ascent(k), self.set.box(k),
                    self.is_free, self.tau, places, np.zeros(2, dtype=np.int64),
                )  # fmt: skip
            self._keep(self.set.pack(first), rows, some)
            done += len(some)
        self._keep(self.set.pack(), None, visits[:0])

    def finish(self, tau: float | None = None) -> None:
        """REPROCESS until no support row violates by more than tau: the models' optimum on them."""
        for k in range(self.set.numbers.shape[1]):
            reprocess(
                Square(self.set.square), self.set.diagonal, self.set.ascent(k), self.set.box(k),
                self.is_free, self.tau if tau is None else tau, STEPS_PER_ROW * self.set.m,
            )  # fmt: skip
        self.set.forget(self.is_free)
        self._keep(self.set.pack(), None, np.zeros(0, dtype=np.int64))

    def _values(self, new: Side, some: Any) -> Any:
        """Return kernel values of some new rows with the support rows and with each other."""
        m, places = self.set.m, np.arange(len(some))
        values = np.empty((len(some), m + len(some)), dtype=self.set.square.dtype)
        if m:
            old = side(self.kernel, as_rows(self.support_rows), self.like)
            fill(self.kernel, new, some, old, None, Filled(values, places))
        fill(self.kernel, new, some, new, some, Filled(values, places, m))
        return values

    def _keep(self, places: Any, rows: Rows, some: Any) -> None:
        """Drop the support rows without a place and take in the new ones that have one."""
        before = 0 if self.support_rows is None else self.support_rows.shape[0]
        old, new = places[places < before], some[places[places >= before] - before]
        if len(old) == before and len(new) == 0:
            return
        parts = [self.support_rows[old]] if before else []
        if len(new) or not parts:
            parts.append(matrix(rows, new))
        self.support_rows = joined(parts)


def joined(parts: list[Any]) -> Any:
    """Return matrices on top of each other, of the kind of the first."""
    if is_sparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.vstack([part.toarray() if is_sparse(part) else part for part in parts])
