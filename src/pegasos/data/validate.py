"""User input to checked arrays; the only place that inspects the types users pass.

Compiled code checks no bounds, so nothing reaches it that has not passed here. Numbers are bounded,
too: far from the limits of float64, so that no product of two of them overflows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from pegasos.data.numbers import MOST, check_targets, example, refuse_masked
from pegasos.data.rows import Rows, as_rows, is_sparse, largest_size, over_parts
from pegasos.data.structure import check_structure, check_triplets, has_repeats
from pegasos.errors import InvalidData, InvalidType
from pegasos.parallel import limited_to

ADVICE = "Turn words, categories, dates and durations into numbers first."
UNNAMED = ("setting an array", "could not convert", "dtype=")  # errors that do not say of what


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Validate X alone; see `checked_data`."""
    return _checked(estimator, X, reset=reset)


def checked_data(estimator: Any, X: Any, y: Any, *, reset: bool = True, **of_y: Any) -> Any:
    """Validate X and y together; return rows and y. `of_y` goes to scikit-learn's check of y."""
    check_targets(y, may_be_sparse=bool(of_y.get("multi_output")))
    return _checked(estimator, X, reset=reset, y=y, **of_y)


def _checked(estimator: Any, X: Any, *, reset: bool, **of_y: Any) -> Any:
    """Validate on as many threads as the estimator may have, if `n_jobs` says a number."""
    n_jobs = getattr(estimator, "n_jobs", 1)
    is_limit = isinstance(n_jobs, int | np.integer) and n_jobs > 0
    with limited_to(int(n_jobs) if is_limit else None):
        return _validated(estimator, X, reset=reset, **of_y)


def _validated(estimator: Any, X: Any, *, reset: bool, **of_y: Any) -> Any:
    """Validate X (and y) through scikit-learn; return rows (and y), of the type and layout of X.

    float32, float64, integers and booleans stay as they are; other real types become float64.
    Sparse matrices become CSR; only those whose rows name a column twice are copied. Rows with
    unsorted indices are used as they are: sums then run in another order, so that a model may
    differ in its last bits from the one of the sorted rows.
    """
    refuse_masked(X, "X")
    is_sorted = False
    if is_sparse(X) and X.format in ("csr", "csc"):
        is_sorted = check_structure(X) and X.format == "csr"
    elif is_sparse(X) and X.format == "coo":
        check_triplets(X)
    is_csr = is_sparse(X) and X.format == "csr"
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            accept_large_sparse=True,
            ensure_all_finite=False,  # left to `_checked_size`, which reads the values once
            **of_y,
        )
    except TypeError as error:
        raise InvalidType(f"X must hold numbers: {error}. {ADVICE}") from error
    except ValueError as error:
        if str(error).startswith(UNNAMED):
            raise InvalidData(f"X must hold numbers: {error} {ADVICE}") from error
        raise
    X, *y = checked if of_y else (checked,)
    if is_sparse(X):
        X = _without_repeats(X, is_sorted if is_csr else check_structure(X))
        largest = _checked_size(X.data[: int(X.indptr[-1])], estimator)
    else:
        X = _native(X)
        largest = _checked_size(X, estimator)
    rows = as_rows(X, largest)
    return (rows, *y) if y else rows


def _checked_size(X: Any, estimator: Any) -> float:
    """Refuse NaN, infinity, and numbers whose squares would overflow; return the largest size.

    That is one pass over X. The squares of other types are far from the limits of float64.
    """
    largest = largest_size(X)
    if not np.isfinite(largest):
        assert_all_finite(X, input_name="X", estimator_name=type(estimator).__name__)
    is_large = X.dtype == np.float64 and largest > MOST / max(1.0, math.sqrt(X.size))
    if not is_large or _sum_of_squares(X) <= MOST * MOST:
        return largest
    raise InvalidData(
        f"X is too large: it holds values up to {max(float(X.max()), -float(X.min())):.3g}, whose "
        f"squares sum to more than {MOST * MOST:g}. Rescale X, for instance by StandardScaler."
    )


def _sum_of_squares(X: Any) -> float:
    """Return the sum of the squares of X; infinite if it is too large."""
    terms = "ij,ij->" if X.ndim == 2 else "i,i->"
    with np.errstate(over="ignore"):
        return float(over_parts(X, lambda part: np.einsum(terms, part, part)).sum())


def _native(X: Any) -> Any:
    """Return X in a type kernels know, copying only the types they do not."""
    X = np.asarray(X)
    if X.dtype == np.float16:
        return X.astype(np.float32)
    if X.dtype.kind not in "fiub":
        raise InvalidData(f"X must hold numbers; got {example(X)!r} of type {X.dtype}. {ADVICE}")
    if X.dtype.itemsize > 8 or not X.dtype.isnative:
        with np.errstate(over="ignore"):  # refused as an infinity
            return X.astype(np.float64)
    return X if X.flags.aligned else X.copy()


def _without_repeats(X: Any, is_sorted: bool) -> Any:
    """Return CSR whose rows name no column twice, with indices of one kernel-ready type."""
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        kind = np.int32 if max(X.shape[1], X.nnz) < 2**31 else np.int64
        X = sparse.csr_array((X.data, X.indices.astype(kind), X.indptr.astype(kind)), shape=X.shape)
    fresh = sparse.csr_array((_native(X.data), X.indices, X.indptr), shape=X.shape, copy=False)
    if not is_sorted and has_repeats(fresh):
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return fresh
