"""User input to checked arrays; the only place that inspects the types users pass.

Compiled code checks no bounds, so nothing reaches it that has not passed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from pegasos.data.rows import FloatArray, Rows, as_rows, is_sparse, read_only
from pegasos.dispatch import compiled
from pegasos.errors import InvalidData


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Validate X alone; see `checked_data`."""
    return as_rows(_checked(estimator, X, reset=reset))


def checked_data(estimator: Any, X: Any, y: Any, *, reset: bool = True, **of_y: Any) -> Any:
    """Validate X and y together; return rows and y. `of_y` goes to scikit-learn's check of y."""
    X, y = _checked(estimator, X, reset=reset, y=y, **of_y)
    return as_rows(X), y


def _checked(estimator: Any, X: Any, *, reset: bool, **of_y: Any) -> Any:
    """Validate X (and y) through scikit-learn; keep its type and layout.

    float32, float64, integers and booleans stay as they are; other real types become float64.
    Sparse matrices become CSR; only those with unsorted or duplicate indices are copied.
    """
    is_canonical = False
    if is_sparse(X) and X.format in ("csr", "csc"):
        is_canonical = check_structure(X) and X.format == "csr"
    elif is_sparse(X) and X.format == "coo":
        check_triplets(X)
    is_csr = is_sparse(X) and X.format == "csr"
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype="numeric",
        accept_large_sparse=True,
        **of_y,
    )
    X, *y = checked if of_y else (checked,)
    if is_sparse(X):
        X = _canonical(X, is_canonical if is_csr else check_structure(X))
    else:
        X = _native(X)
    return (X, *y) if y else X


def _native(X: Any) -> Any:
    """Return X in a type kernels know, copying only the types they do not."""
    X = np.asarray(X)
    if X.dtype == np.float16:
        return X.astype(np.float32)
    if X.dtype.kind not in "fiub" or X.dtype.itemsize > 8 or not X.dtype.isnative:
        return X.astype(np.float64)
    return X if X.flags.aligned else X.copy()


def _canonical(X: Any, is_known_to_be: bool) -> Any:
    """Return CSR with sorted, unique indices, all of one kernel-ready index type."""
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        kind = np.int32 if max(X.shape[1], X.nnz) < 2**31 else np.int64
        X = sparse.csr_array((X.data, X.indices.astype(kind), X.indptr.astype(kind)), shape=X.shape)
    fresh = sparse.csr_array((_native(X.data), X.indices, X.indptr), shape=X.shape, copy=False)
    if not is_known_to_be and not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return fresh


def check_triplets(X: Any) -> None:
    """Refuse a COO matrix whose rows or columns lie outside its shape."""
    for name, places, size in (("row", X.row, X.shape[0]), ("col", X.col, X.shape[1])):
        if len(places) and (int(places.min()) < 0 or int(places.max()) >= size):
            raise InvalidData(
                f"Malformed COO matrix: {name} must lie in [0, {size}); found "
                f"{int(places.min())} to {int(places.max())}."
            )


def check_structure(X: Any) -> bool:
    """Refuse a CSR or CSC matrix whose arrays do not describe one; tell if it is canonical."""
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    name = X.format.upper()
    indptr, indices = X.indptr, X.indices
    if all(a.ndim == 1 and a.dtype in (np.int32, np.int64) for a in (indptr, indices)):
        order = _order_of_indices(read_only(indptr), read_only(indices), len(X.data), lines, width)
        if order != _MALFORMED:
            return order == _CANONICAL
    if indptr.ndim != 1 or len(indptr) != lines + 1 or indptr[0] != 0:
        raise InvalidData(
            f"Malformed {name} matrix: indptr must have {lines + 1} entries and start at 0; got "
            f"{len(indptr)} entries. Rebuild the matrix from its triplets."
        )
    if np.any(indptr[1:] < indptr[:-1]):
        raise InvalidData(
            f"Malformed {name} matrix: indptr decreases. Rebuild the matrix from its triplets."
        )
    stored = int(indptr[-1])
    if stored > len(indices) or stored > len(X.data):
        raise InvalidData(
            f"Malformed {name} matrix: indptr announces {stored} values, but there are "
            f"{len(indices)} indices and {len(X.data)} values."
        )
    if stored and (int(indices[:stored].min()) < 0 or int(indices[:stored].max()) >= width):
        raise InvalidData(
            f"Malformed {name} matrix: indices must lie in [0, {width}); found "
            f"{int(indices[:stored].min())} to {int(indices[:stored].max())}."
        )
    return False


_MALFORMED, _UNSORTED, _CANONICAL = 0, 1, 2


@compiled
def _order_of_indices(indptr, indices, values, lines, width):  # type: ignore[no-untyped-def]
    """Tell in one pass whether compressed rows are malformed, unsorted or canonical."""
    if len(indptr) != lines + 1 or indptr[0] != 0:
        return _MALFORMED
    is_canonical, start = True, np.int64(0)
    for i in range(lines):
        stop = np.int64(indptr[i + 1])
        if stop < start or stop > len(indices) or stop > values:
            return _MALFORMED
        previous = np.int64(-1)
        for p in range(start, stop):
            j = np.int64(indices[p])
            if j < 0 or j >= width:
                return _MALFORMED
            if j <= previous:
                is_canonical = False
            previous = j
        start = stop
    return _CANONICAL if is_canonical else _UNSORTED


def checked_weights(sample_weight: Any, n: int) -> FloatArray | None:
    """Return sample weights as float64 of shape (n,), or None where all are 1."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"sample_weight must hold numbers: {error}") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InvalidData(
            f"sample_weight.shape == {weights.shape}, expected ({n},): one weight per row of X."
        )
    if not np.all(np.isfinite(weights)):
        raise InvalidData("sample_weight contains NaN or infinity.")
    if np.any(weights < 0):
        raise InvalidData(
            f"Negative values in data passed to sample_weight: weights must not be negative; the "
            f"least is {weights.min():g}. A weight of 0 removes a row."
        )
    if not np.any(weights > 0):
        raise InvalidData("sample_weight is zero for every row: there is nothing to fit.")
    return weights
